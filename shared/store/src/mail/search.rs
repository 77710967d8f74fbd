//! Search rows: one per copy under its recipient, and a pointer to it in the order of time. Written
//! only where an owner enabled the search, because each costs a write.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::{
    AccountId, Category, EmailAddress, Event, EventKind, KeyId, MessageId, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::messages::Recipient;
use crate::key::{Key, hash};
use crate::schedule::{WaitingCopies, WaitingCopy};
use crate::table::{Put, Range, Store, StoreError, from_item, to_item};

/// How many copies are written concurrently.
const AT_ONCE: usize = 16;

/// Marks of events that a row remembers, so that an event that comes twice counts once. Repeats
/// come within minutes.
const REMEMBERED: usize = 64;

/// The status of a mail, in the terms of the search API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchStatus {
    #[default]
    Processed,
    Delivered,
    NotDelivered,
}

impl SearchStatus {
    /// The status as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Processed => "processed",
            Self::Delivered => "delivered",
            Self::NotDelivered => "not_delivered",
        }
    }
}

/// One copy in the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seek {
    pub message: MessageId,
    pub recipient: u32,
    pub to: String,
    pub from: String,
    pub subject: String,
    #[serde(default)]
    pub status: SearchStatus,
    #[serde(default)]
    pub opens: u32,
    #[serde(default)]
    pub clicks: u32,
    pub accepted_at: Timestamp,
    pub last_event_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asm_group_id: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The key that the mail was sent with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// The kinds of its events. Rows of before have none: see [`Seek::kinds`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    events: BTreeSet<EventKind>,
    /// When the row expires.
    #[serde(default, rename = "exp")]
    pub expires: Timestamp,
    /// Marks of the latest events, oldest first.
    #[serde(default)]
    seen: Vec<u32>,
}

impl Seek {
    fn of(row: &Recipient, message: &MessageId, recipient: u32) -> Self {
        Self {
            message: message.clone(),
            recipient,
            to: row.email.clone(),
            from: row.from.clone(),
            subject: row.subject.clone(),
            status: SearchStatus::default(),
            opens: 0,
            clicks: 0,
            accepted_at: row.accepted_at,
            last_event_at: row.accepted_at,
            template_id: None,
            asm_group_id: None,
            categories: Vec::new(),
            key: None,
            events: BTreeSet::new(),
            expires: Timestamp(0),
            seen: Vec::new(),
        }
    }

    /// A scheduled copy that has yet to leave.
    pub fn waiting(mail: &WaitingCopies, copy: &WaitingCopy, from: &str, subject: &str) -> Self {
        Self {
            message: mail.message.clone(),
            recipient: copy.recipient,
            to: copy.to.clone(),
            from: from.to_owned(),
            subject: subject.to_owned(),
            status: SearchStatus::Processed,
            opens: 0,
            clicks: 0,
            accepted_at: mail.accepted_at,
            last_event_at: mail.accepted_at,
            template_id: mail.template_id.clone(),
            asm_group_id: mail.asm_group_id,
            categories: mail.categories.clone(),
            key: mail.key.clone(),
            events: BTreeSet::new(),
            expires: Timestamp(0),
            seen: Vec::new(),
        }
    }

    /// The kinds of events that the mail had. Of a row written before kinds were stored, those that
    /// its status and counters imply.
    pub fn kinds(&self) -> BTreeSet<EventKind> {
        if !self.events.is_empty() {
            return self.events.clone();
        }
        let implied = [
            (self.status == SearchStatus::Delivered, EventKind::Delivered),
            (self.opens > 0, EventKind::Open),
            (self.clicks > 0, EventKind::Click),
        ];
        implied
            .into_iter()
            .filter_map(|(is, kind)| is.then_some(kind))
            .collect()
    }

    /// Adds an event; returns whether it was new.
    fn add(&mut self, event: &Event) -> bool {
        let mark = mark(&event.id);
        if self.seen.contains(&mark) {
            return false;
        }
        self.seen.push(mark);
        let past = self.seen.len().saturating_sub(REMEMBERED);
        self.seen.drain(..past);
        let known = self.kinds();
        let status = match event.kind {
            EventKind::Delivered => SearchStatus::Delivered,
            EventKind::Bounce | EventKind::Dropped => SearchStatus::NotDelivered,
            EventKind::Open => {
                self.opens = self.opens.saturating_add(1);
                SearchStatus::Processed
            }
            EventKind::Click => {
                self.clicks = self.clicks.saturating_add(1);
                SearchStatus::Processed
            }
            EventKind::Processed
            | EventKind::Deferred
            | EventKind::SpamReport
            | EventKind::Unsubscribe
            | EventKind::GroupUnsubscribe
            | EventKind::GroupResubscribe
            | EventKind::AccountStatusChange => SearchStatus::Processed,
        };
        self.status = self.status.max(status);
        if self.events.is_empty() {
            // Of a row of before: none of its kinds is lost.
            self.events = known;
        }
        self.events.insert(event.kind);
        self.last_event_at = self.last_event_at.max(event.at);
        if self.template_id.is_none() {
            self.template_id.clone_from(&event.template_id);
        }
        self.asm_group_id = self.asm_group_id.or(event.asm_group_id);
        if self.key.is_none() {
            self.key.clone_from(&event.key);
        }
        if self.categories.is_empty() {
            self.categories = match &event.category {
                None => Vec::new(),
                Some(Category::One(one)) => vec![one.clone()],
                Some(Category::Many(many)) => many.clone(),
            };
        }
        true
    }
}

/// Thirty-two bits of a stable hash.
fn mark(id: &str) -> u32 {
    u32::try_from(hash(&[id]) >> 32).unwrap_or_default()
}

/// A row in the order of time.
#[derive(Debug, Serialize, Deserialize)]
struct Pointer {
    /// The recipient as it compares.
    to: String,
}

/// Rows of the search that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    pub rows: Vec<Seek>,
    /// Where to continue; `None` at the end.
    pub next: Option<String>,
}

/// The comparable form of an address; text that is not an address is unchanged.
fn folded(text: &str) -> String {
    EmailAddress::parse_stored(text)
        .map_or_else(|_| text.to_lowercase(), |address| address.folded())
}

impl Store {
    /// Writes what these events mean for the search, and stores it for `retention` seconds after
    /// each mail was accepted. Returns how many rows were written. A repeat of the same events is a
    /// no-op. Events of copies that have no row any more are skipped.
    ///
    /// # Errors
    /// When the table fails or a row keeps changing; some may be written then.
    pub async fn index(
        &self,
        account: &AccountId,
        events: &[Event],
        retention: i64,
    ) -> Result<usize, StoreError> {
        let mut copies: BTreeMap<(&str, u32), Vec<&Event>> = BTreeMap::new();
        for event in events {
            if let Some(message) = &event.message {
                let copy = (message.as_str(), event.recipient);
                copies.entry(copy).or_default().push(event);
            }
        }
        let writes: Vec<_> = copies
            .into_iter()
            .map(|((_, recipient), events)| self.index_copy(account, recipient, events, retention))
            .collect();
        futures_util::stream::iter(writes)
            .buffer_unordered(AT_ONCE)
            .try_fold(0, |sum, written| async move { Ok(sum + written) })
            .await
    }

    async fn index_copy(
        &self,
        account: &AccountId,
        recipient: u32,
        events: Vec<&Event>,
        retention: i64,
    ) -> Result<usize, StoreError> {
        let Some(message) = events.first().and_then(|event| event.message.as_ref()) else {
            return Ok(0);
        };
        let Some(row) = self.recipient(account, message, recipient).await? else {
            return Ok(0);
        };
        let to = folded(&row.email);
        let place = Key::seek_place(row.accepted_at, message, recipient);
        let key = Key::new(Key::seek_pk(account, &to), &place);
        let expires = Some(row.accepted_at.plus(retention));
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let old = self.get::<Seek>(&key).await?;
            let rev = old.as_ref().map(|old| old.rev);
            let mut seek = old.map_or_else(|| Seek::of(&row, message, recipient), |old| old.value);
            let mut new = 0;
            for event in &events {
                new += usize::from(seek.add(event));
            }
            if new == 0 {
                return Ok(0);
            }
            let mut written = 1;
            if rev.is_none() {
                // The pointer is written first: one without a target yet is skipped.
                let pointer = Key::new(Key::seeks_pk_of(account, message), &place);
                self.put(&pointer, &Pointer { to: to.clone() }, expires)
                    .await?;
                written += 1;
            }
            let item = to_item(&key, &seek, rev.unwrap_or(0) + 1, expires)?;
            if self.put_if(item, rev).await? == Put::Stored {
                return Ok(written);
            }
        }
        Err(StoreError::Contended(format!(
            "the search row of copy {recipient} of message {message} of account {account}"
        )))
    }

    /// The mails to an address, latest first: at most `limit`, accepted at or before `until`,
    /// after the place `after`.
    pub async fn seek_to(
        &self,
        (account, to): (&AccountId, &str),
        until: Option<Timestamp>,
        after: Option<String>,
        limit: usize,
    ) -> Result<Sought, StoreError> {
        let pk = Key::seek_pk(account, &folded(to));
        let range = range(until).after(after);
        let slice = self.slice::<Seek>(&pk, &range, limit).await?;
        let last = slice.rows.last().map(|row| row.key.sk.clone());
        Ok(Sought {
            next: last.filter(|_| slice.more),
            rows: slice.rows.into_iter().map(|row| row.value).collect(),
        })
    }

    /// The mails of an account in the same way.
    pub async fn seek(
        &self,
        account: &AccountId,
        until: Option<Timestamp>,
        after: Option<String>,
        limit: usize,
    ) -> Result<Sought, StoreError> {
        let range = range(until).after(after);
        let pk = |part| Key::seeks_pk(account, part);
        let slice = self.gather::<Pointer>(pk, &range, limit).await?;
        let last = slice.rows.last().map(|row| row.key.sk.clone());
        let keys: Vec<Key> = slice
            .rows
            .iter()
            .map(|row| Key::new(Key::seek_pk(account, &row.value.to), &row.key.sk))
            .collect();
        // They are returned in no order.
        let mut found = self.get_many::<Seek>(&keys).await?;
        found.sort_by(|a, b| a.key.sk.cmp(&b.key.sk));
        Ok(Sought {
            next: last.filter(|_| slice.more),
            rows: found.into_iter().map(|row| row.value).collect(),
        })
    }

    /// Deletes the search rows of an address, and returns which copies they were of.
    ///
    /// # Errors
    /// When the table fails; a repeated call resumes.
    pub async fn unindex(
        &self,
        account: &AccountId,
        to: &str,
    ) -> Result<Vec<(MessageId, u32)>, StoreError> {
        const LOT: usize = 500;
        let pk = Key::seek_pk(account, &folded(to));
        let mut copies = Vec::new();
        loop {
            // Also rows whose time is over and that DynamoDB has yet to delete.
            let (items, more) = self.items(&pk, &range(None), LOT).await?;
            let mut keys = Vec::with_capacity(items.len() * 2);
            for item in items {
                let row = from_item::<Seek>(item)?;
                let pointer = Key::seeks_pk_of(account, &row.value.message);
                keys.push(Key::new(pointer, &row.key.sk));
                keys.push(row.key);
                copies.push((row.value.message, row.value.recipient));
            }
            self.delete_many(&keys).await?;
            if !more {
                return Ok(copies);
            }
        }
    }
}

/// From `until` back to the beginning.
fn range(until: Option<Timestamp>) -> Range {
    let all = Range::all();
    match until {
        None => all,
        Some(until) => Range {
            from: Key::backwards(until),
            ..all
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::CopyState;
    use super::*;

    fn seek() -> Seek {
        let row = Recipient {
            email: "ann@example.com".to_owned(),
            from: String::new(),
            subject: String::new(),
            state: CopyState::Claimed,
            attempt: 0,
            lease: Timestamp(0),
            accepted_at: Timestamp(100),
            updated_at: Timestamp(100),
            events: Vec::new(),
            listed: 0,
            last_deferred: None,
            more_deferrals: 0,
            opens: BTreeSet::new(),
            clicks: BTreeSet::new(),
        };
        Seek::of(&row, &MessageId::from_bytes([1; 16]), 0)
    }

    fn event(id: &str, kind: EventKind, at: i64) -> Event {
        let account = AccountId::from_bytes([1; 10]);
        Event::new(
            id.into(),
            account,
            kind,
            Timestamp(at),
            "ann@example.com".into(),
        )
    }

    #[test]
    fn the_order_of_events_does_not_matter() {
        let mut seek = seek();
        assert!(seek.add(&event("b", EventKind::Bounce, 300)));
        assert!(seek.add(&event("d", EventKind::Delivered, 200)));
        assert!(!seek.add(&event("d", EventKind::Delivered, 200)));
        assert_eq!(seek.status, SearchStatus::NotDelivered);
        assert_eq!(seek.last_event_at, Timestamp(300));
    }

    #[test]
    fn a_row_of_before_keeps_the_kinds_that_it_tells() {
        let mut seek = seek();
        assert!(seek.kinds().is_empty());
        (seek.status, seek.opens) = (SearchStatus::Delivered, 2);
        let old = BTreeSet::from([EventKind::Delivered, EventKind::Open]);
        assert_eq!(seek.kinds(), old);
        assert!(seek.add(&event("s", EventKind::SpamReport, 400)));
        let text = serde_json::to_string(&seek).unwrap();
        let read: Seek = serde_json::from_str(&text).unwrap();
        let new = BTreeSet::from([EventKind::Delivered, EventKind::Open, EventKind::SpamReport]);
        assert_eq!(read.kinds(), new);
    }

    #[test]
    fn opens_count_once_each_and_the_memory_of_them_is_short() {
        let mut seek = seek();
        for n in 0..200 {
            let open = event(&format!("open-{n}"), EventKind::Open, 200 + n);
            assert!(seek.add(&open) && !seek.add(&open));
        }
        assert_eq!((seek.opens, seek.seen.len()), (200, REMEMBERED));
        assert_eq!(seek.status, SearchStatus::Processed);
    }
}
