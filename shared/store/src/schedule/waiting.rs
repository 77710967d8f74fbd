//! Scheduled mail in look-ups: what is shown of its copies before they leave. One row for each piece,
//! or for each part of it that a row can hold, written only where an owner enabled the search.
//!
//! The piece's own row stays the authority on whether the mail still waits: a listing without such a
//! piece is skipped, and expires.

mod listed;

use std::collections::{BTreeMap, BTreeSet};

use posthaste_model::{AccountId, EmailAddress, KeyId, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::scheduled_mail::ScheduledPart;
use crate::key::Key;
use crate::table::{
    Put, Store, StoreError, TableItem, UpdateBuilder, from_item, number, put_request,
};

pub use listed::WaitingPage;

/// Bytes of addresses, senders, subjects and custom arguments of envelopes in one row.
const ROOM: usize = 32_000;

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
    /// The address of the client that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ip: Option<String>,
    /// Custom arguments of the message. Those of an envelope override them.
    #[serde(default, skip_serializing_if = "StoredArgs::is_empty")]
    pub args: StoredArgs,
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
    /// Custom arguments of its envelope; `None` when they are those of the copy before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<StoredArgs>,
}

/// Custom arguments by name. A row has them as the text of a JSON object: a name may be empty, and a
/// map of the table takes no such name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StoredArgs(pub BTreeMap<String, String>);

impl StoredArgs {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<String> for StoredArgs {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, serde_json::Error> {
        serde_json::from_str(&text).map(Self)
    }
}

impl From<StoredArgs> for String {
    fn from(args: StoredArgs) -> Self {
        serde_json::json!(args.0).to_string()
    }
}

/// One copy that waits, with what it shares with the copy before.
#[derive(Clone, Copy, Debug)]
pub struct WaitingDetails<'w> {
    pub copy: &'w WaitingCopy,
    pub from: &'w str,
    pub subject: &'w str,
    /// Custom arguments of its envelope. Copies that share them have the same reference.
    pub args: &'w StoredArgs,
}

impl WaitingDetails<'_> {
    /// As a row has it that begins with this copy.
    fn to_first(self) -> WaitingCopy {
        WaitingCopy {
            recipient: self.copy.recipient,
            to: self.copy.to.clone(),
            from: self.from.to_owned(),
            subject: Some(self.subject.to_owned()),
            args: (!self.args.is_empty()).then(|| self.args.clone()),
        }
    }
}

impl WaitingCopies {
    /// Each copy with its sender, subject and custom arguments.
    pub fn each(&self) -> impl Iterator<Item = WaitingDetails<'_>> {
        static NO_ARGS: StoredArgs = StoredArgs(BTreeMap::new());
        let (mut from, mut subject, mut args) = ("", "", &NO_ARGS);
        self.copies.iter().map(move |copy| {
            if !copy.from.is_empty() {
                from = &copy.from;
            }
            if let Some(own) = &copy.subject {
                subject = own;
            }
            if let Some(own) = &copy.args {
                args = own;
            }
            WaitingDetails {
                copy,
                from,
                subject,
                args,
            }
        })
    }

    /// The copies that go to other addresses than these (as they compare), each with the sender,
    /// subject and custom arguments that it has here.
    fn without(&self, addresses: &BTreeSet<String>) -> Vec<WaitingCopy> {
        let mut last: Option<WaitingDetails<'_>> = None;
        let mut rest = Vec::new();
        for own in self.each() {
            if own.copy.is_to_any(addresses) {
                continue;
            }
            let mut copy = own.to_first();
            if let Some(last) = last {
                if last.from == own.from {
                    copy.from.clear();
                }
                copy.subject.take_if(|subject| *subject == last.subject);
                copy.args = (own.args != last.args).then(|| own.args.clone());
            }
            rest.push(copy);
            last = Some(own);
        }
        rest
    }

    /// In rows that a table takes.
    fn rows(&self) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        let mut room = 0;
        for own in self.each() {
            let size = own.copy.size();
            match rows.last_mut().filter(|_| size <= room) {
                Some(row) => {
                    room -= size;
                    row.copies.push(own.copy.clone());
                }
                None => {
                    let first = own.to_first();
                    room = ROOM.saturating_sub(first.size());
                    let copies = vec![first];
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
    /// Bytes of its texts.
    fn size(&self) -> usize {
        let args = self.args.iter().flat_map(|args| &args.0);
        let args: usize = args.map(|(name, value)| name.len() + value.len()).sum();
        self.to.len() + self.from.len() + self.subject.as_ref().map_or(0, String::len) + args
    }

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
}

#[cfg(test)]
mod tests;
