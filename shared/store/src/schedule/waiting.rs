//! Scheduled mail in look-ups: what is shown of its copies before they leave. One row for each piece,
//! or for each part of it that a row can hold, written only where an owner enabled the search.
//!
//! The piece's own row stays the authority on whether the mail still waits: a listing without such a
//! piece is skipped, and expires.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_model::batch::PartStage;
use posthaste_model::{AccountId, EmailAddress, KeyId, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::scheduled_mail::ScheduledPart;
use crate::key::Key;
use crate::table::{
    Put, Range, Store, StoreError, TableItem, UpdateBuilder, from_item, number, put_request,
};

/// Bytes of addresses, senders and subjects in one row.
const ROOM: usize = 32_000;

/// Seconds by which the clock that accepted a mail may differ from the one that stored its pieces.
const SKEW: i64 = 5;

/// The copies of one piece that wait, in one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCopies {
    pub message: MessageId,
    /// Names the piece: its first recipient.
    pub piece: u32,
    /// When the mail was accepted.
    pub accepted_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asm_group_id: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The key that the mail was sent with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// In the order of their numbers.
    pub copies: Vec<WaitingCopy>,
}

/// One copy that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCopy {
    #[serde(rename = "n")]
    pub recipient: u32,
    pub to: String,
    /// Empty when it is that of the copy before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// Empty when it is that of the copy before, or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl WaitingCopies {
    /// Each copy with its sender and subject.
    pub fn each(&self) -> impl Iterator<Item = (&WaitingCopy, &str, &str)> {
        let (mut from, mut subject) = ("", "");
        self.copies.iter().map(move |copy| {
            if !copy.from.is_empty() {
                from = &copy.from;
            }
            if let Some(own) = &copy.subject {
                subject = own;
            }
            (copy, from, subject)
        })
    }

    /// The copies that go to other addresses than these (as they compare), each with the sender and
    /// subject that it has here.
    fn without(&self, addresses: &BTreeSet<String>) -> Vec<WaitingCopy> {
        let (mut last_from, mut last_subject) = ("", "");
        let mut rest = Vec::new();
        for (copy, from, subject) in self.each() {
            if copy.is_to_any(addresses) {
                continue;
            }
            let own_from = Some(from).filter(|from| *from != last_from);
            let own_subject = Some(subject).filter(|subject| *subject != last_subject);
            rest.push(WaitingCopy {
                from: own_from.unwrap_or_default().to_owned(),
                subject: own_subject.map(str::to_owned),
                ..copy.clone()
            });
            (last_from, last_subject) = (from, subject);
        }
        rest
    }

    /// In rows that a table takes.
    fn rows(&self) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        let mut room = 0;
        for (copy, from, subject) in self.each() {
            let size =
                copy.to.len() + copy.from.len() + copy.subject.as_ref().map_or(0, String::len);
            let mut copy = copy.clone();
            match rows.last_mut().filter(|_| size <= room) {
                Some(row) => {
                    room -= size;
                    row.copies.push(copy);
                }
                None => {
                    (copy.from, copy.subject) = (from.to_owned(), Some(subject.to_owned()));
                    room = ROOM.saturating_sub(size);
                    let copies = vec![copy];
                    rows.push(Self {
                        copies,
                        ..self.clone()
                    });
                }
            }
        }
        rows
    }
}

impl WaitingCopy {
    /// Whether it goes to one of these addresses (as they compare).
    fn is_to_any(&self, addresses: &BTreeSet<String>) -> bool {
        EmailAddress::parse_stored(&self.to).is_ok_and(|to| addresses.contains(&to.folded()))
    }
}

/// The copies in a row of any kind; none in rows of other kinds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListedCopies {
    copies: Vec<WaitingCopy>,
}

/// The key of an item, if it lists a copy that waits to go to one of these addresses (as they compare):
/// also one whose time is over and that DynamoDB has yet to delete.
pub(crate) fn listing_of(item: TableItem, addresses: &BTreeSet<String>) -> Option<Key> {
    let row = from_item::<ListedCopies>(item).ok()?;
    let is_listed = row
        .value
        .copies
        .iter()
        .any(|copy| copy.is_to_any(addresses));
    is_listed.then_some(row.key)
}

/// Some of the listings of an account, the latest accepted first.
#[derive(Clone, Debug, Default)]
pub struct WaitingPage {
    pub rows: Vec<WaitingCopies>,
    /// Where to continue; `None` at the end.
    pub next: Option<String>,
}

impl Store {
    /// Lists what waits, until it leaves at `at`. To be called before the piece itself is stored:
    /// one without the other is not shown.
    pub async fn list_waiting(
        &self,
        account: &AccountId,
        waiting: &[(Timestamp, WaitingCopies)],
    ) -> Result<(), StoreError> {
        let mut requests = Vec::new();
        for (at, copies) in waiting {
            let pk = Key::waiting_pk_of(account, &copies.message);
            for row in copies.rows() {
                let first = row.copies.first().map_or(0, |copy| copy.recipient);
                let sk = Key::seek_place(row.accepted_at, &row.message, first);
                let expires = Some(ScheduledPart::life(*at));
                requests.push(put_request(&Key::new(&pk, sk), &row, expires)?);
            }
        }
        self.write_many(requests).await
    }

    /// Mail of an account that waits, accepted at or before `until`, after the place `after`. At
    /// most `limit` rows are looked at.
    pub async fn waiting(
        &self,
        account: &AccountId,
        until: Option<Timestamp>,
        after: Option<String>,
        limit: usize,
    ) -> Result<WaitingPage, StoreError> {
        let range = range(until).after(after);
        let pk = |part| Key::waiting_pk(account, part);
        let page = self.gather::<WaitingCopies>(pk, &range, limit).await?;
        let last = page.rows.last().map(|row| row.key.sk.clone());
        let rows = page.rows.into_iter().map(|row| row.value).collect();
        Ok(WaitingPage {
            rows: self.still_waiting(account, rows).await?,
            next: last.filter(|_| page.more),
        })
    }

    /// What waits of one message.
    pub async fn waiting_of(
        &self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<Vec<WaitingCopies>, StoreError> {
        const LOT: usize = 100;
        let pieces = self.pieces(account, message).await?;
        let accepted = pieces.iter().find_map(|row| row.value.accepted_at);
        let Some(accepted) = accepted else {
            return Ok(Vec::new());
        };
        let pk = Key::waiting_pk_of(account, message);
        let mut range = Range {
            to: Key::backwards(accepted.plus(-SKEW - 1)),
            ..range(Some(accepted.plus(SKEW)))
        };
        let mut found = Vec::new();
        loop {
            let slice = self.slice::<WaitingCopies>(&pk, &range, LOT).await?;
            range.after = slice.rows.last().map(|row| row.key.sk.clone());
            let rows = slice.rows.into_iter().map(|row| row.value);
            found.extend(rows.filter(|row| row.message == *message));
            if !slice.more || range.after.is_none() {
                return self.still_waiting(account, found).await;
            }
        }
    }

    /// Removes the copies to addresses (as they compare) from a listing; returns how many they were.
    pub async fn unlist_waiting(
        &self,
        key: &Key,
        addresses: &BTreeSet<String>,
    ) -> Result<usize, StoreError> {
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<WaitingCopies>(key).await? else {
                return Ok(0);
            };
            let rest = row.value.without(addresses);
            let removed = row.value.copies.len() - rest.len();
            let is_done = if removed == 0 {
                true
            } else if rest.is_empty() {
                self.delete_if(key, row.rev).await? == Put::Stored
            } else {
                let rest = serde_dynamo::to_attribute_value(&rest)
                    .map_err(|e| StoreError::Unreadable(e.to_string()))?;
                // An update, because it leaves the time at which the row expires.
                let update = UpdateBuilder::default()
                    .set("copies", rest)
                    .set("rev", number(row.rev + 1))
                    .condition("#rev = :read", [("read", number(row.rev))]);
                self.update(key, &update).await?
            };
            if is_done {
                return Ok(removed);
            }
        }
        Err(StoreError::Contended(format!("{} {}", key.pk, key.sk)))
    }

    async fn still_waiting(
        &self,
        account: &AccountId,
        rows: Vec<WaitingCopies>,
    ) -> Result<Vec<WaitingCopies>, StoreError> {
        let key = |row: &WaitingCopies| Key::piece(account, &row.message, row.piece);
        let mut pieces: BTreeMap<Key, bool> = rows.iter().map(|row| (key(row), false)).collect();
        let keys: Vec<Key> = pieces.keys().cloned().collect();
        for piece in self.get_many::<ScheduledPart>(&keys).await? {
            pieces.insert(piece.key, piece.value.stage == PartStage::Waiting);
        }
        let waits = |row: &WaitingCopies| pieces.get(&key(row)).copied().unwrap_or_default();
        Ok(rows.into_iter().filter(waits).collect())
    }
}

/// From `until` back to the beginning.
fn range(until: Option<Timestamp>) -> Range {
    let all = Range::all();
    Range {
        from: until.map_or(all.from, Key::backwards),
        ..all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_listing_says_the_same_of_each_copy() {
        let copy = |(n, to, from, subject): (u32, &str, &str, Option<&str>)| WaitingCopy {
            recipient: n,
            to: to.to_owned(),
            from: from.to_owned(),
            subject: subject.map(str::to_owned),
        };
        let copies = [
            (0, "ann@example.com", "a@example.com", Some("one")),
            (1, "bob@example.com", "", None),
            (2, "Ann@Example.com", "b@example.com", Some("two")),
            (3, "cat@example.com", "", Some("")),
            (4, "ann@example.com", "", None),
            (5, "dan@example.com", "", None),
        ];
        let whole = WaitingCopies {
            message: MessageId::from_bytes([1; 16]),
            piece: 0,
            accepted_at: Timestamp(100),
            template_id: None,
            asm_group_id: None,
            categories: Vec::new(),
            key: None,
            copies: copies.map(copy).to_vec(),
        };
        let shown = |row: &WaitingCopies| -> Vec<_> {
            let each = row.each().map(|(copy, from, subject)| {
                format!("{} {} {from} {subject}", copy.recipient, copy.to)
            });
            each.filter(|line| !line.to_lowercase().contains("ann@"))
                .collect()
        };
        let rest = WaitingCopies {
            copies: whole.without(&BTreeSet::from(["ann@example.com".to_owned()])),
            ..whole.clone()
        };
        assert_eq!(rest.copies.len(), 3);
        assert_eq!(shown(&rest), shown(&whole));
        assert_eq!(
            whole
                .without(&BTreeSet::from(["eve@example.com".to_owned()]))
                .len(),
            6
        );
    }

    #[test]
    fn a_listing_is_cut_into_rows_that_say_the_same() {
        let copy = |n: u32| WaitingCopy {
            recipient: n,
            to: format!("{n:0300}@example.com"),
            from: if n == 0 {
                "me@example.com".to_owned()
            } else {
                String::new()
            },
            subject: n.is_multiple_of(150).then(|| format!("part {n}")),
        };
        let whole = WaitingCopies {
            message: MessageId::from_bytes([1; 16]),
            piece: 0,
            accepted_at: Timestamp(100),
            template_id: None,
            asm_group_id: Some(3),
            categories: vec!["news".to_owned()],
            key: None,
            copies: (0..1_000).map(copy).collect(),
        };
        let rows = whole.rows();
        assert!((10..20).contains(&rows.len()), "{}", rows.len());
        let shown = |row: &WaitingCopies| -> Vec<_> {
            let each = row.each();
            each.map(|(copy, from, subject)| {
                (
                    copy.recipient,
                    copy.to.clone(),
                    from.to_owned(),
                    subject.to_owned(),
                )
            })
            .collect()
        };
        let parts: Vec<_> = rows.iter().flat_map(shown).collect();
        assert_eq!(parts, shown(&whole));
        assert_eq!(parts[299].3, "part 150");
        assert!(rows.iter().all(|row| row.categories == whole.categories));
    }
}
