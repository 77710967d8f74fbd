//! One copy in the search, and what each of its events changes.

use std::collections::BTreeSet;

use posthaste_model::{Category, Event, EventKind, KeyId, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::messages::Recipient;
use crate::key::{Key, hash};
use crate::schedule::{WaitingCopies, WaitingDetails};

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
    pub(super) fn of(row: &Recipient, message: &MessageId, recipient: u32) -> Self {
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
    pub fn waiting(mail: &WaitingCopies, own: &WaitingDetails<'_>) -> Self {
        Self {
            message: mail.message.clone(),
            recipient: own.copy.recipient,
            to: own.copy.to.clone(),
            from: own.from.to_owned(),
            subject: own.subject.to_owned(),
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

    /// Its place in the order of time, after which a search can continue.
    pub fn place(&self) -> String {
        Key::seek_place(self.accepted_at, &self.message, self.recipient)
    }

    /// Whether a text is such a place.
    pub fn is_place(text: &str) -> bool {
        let time = text.split('#').next().unwrap_or_default();
        let is_time = time.len() == 10 && time.bytes().all(|byte| byte.is_ascii_digit());
        let copy = Key::copy_of_place(text);
        is_time
            && copy.is_some_and(|(message, n)| text[time.len()..] == format!("#{message}#{n:05}"))
    }

    /// The place before all copies of the message at this one.
    pub fn before_message(place: &str) -> Option<String> {
        let (message, _) = place.rsplit_once('#')?;
        Some(format!("{message}#"))
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
    pub(super) fn add(&mut self, event: &Event) -> bool {
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

#[cfg(test)]
mod tests {
    use posthaste_model::AccountId;

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
            kept: None,
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
