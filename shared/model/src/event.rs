//! Message events: every field of API facts section 3, in one type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AccountId, KeyId, MessageId, Timestamp};

/// The kinds of SPEC.md, "Events".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    Processed,
    Delivered,
    Deferred,
    Bounce,
    Dropped,
    Open,
    Click,
    SpamReport,
    Unsubscribe,
    GroupUnsubscribe,
    GroupResubscribe,
    AccountStatusChange,
}

impl EventKind {
    /// Every kind, in the order of SPEC.md.
    pub const ALL: [Self; 12] = [
        Self::Processed,
        Self::Delivered,
        Self::Deferred,
        Self::Bounce,
        Self::Dropped,
        Self::Open,
        Self::Click,
        Self::SpamReport,
        Self::Unsubscribe,
        Self::GroupUnsubscribe,
        Self::GroupResubscribe,
        Self::AccountStatusChange,
    ];

    /// The value of `event` in a webhook post: note `spamreport` without the underscore.
    pub fn wire(self) -> &'static str {
        match self {
            Self::SpamReport => "spamreport",
            other @ (Self::Processed
            | Self::Delivered
            | Self::Deferred
            | Self::Bounce
            | Self::Dropped
            | Self::Open
            | Self::Click
            | Self::Unsubscribe
            | Self::GroupUnsubscribe
            | Self::GroupResubscribe
            | Self::AccountStatusChange) => other.flag(),
        }
    }

    /// The name of the webhook flag that enables this kind.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Processed => "processed",
            Self::Delivered => "delivered",
            Self::Deferred => "deferred",
            Self::Bounce => "bounce",
            Self::Dropped => "dropped",
            Self::Open => "open",
            Self::Click => "click",
            Self::SpamReport => "spam_report",
            Self::Unsubscribe => "unsubscribe",
            Self::GroupUnsubscribe => "group_unsubscribe",
            Self::GroupResubscribe => "group_resubscribe",
            Self::AccountStatusChange => "account_status_change",
        }
    }
}

/// Whether a bounce ends an address (`bounce`) or only this mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BounceType {
    /// Hard: the address is suppressed.
    Bounce,
    /// Soft: the receiving server refuses this mail, not the address.
    Blocked,
    /// Deferred for 72 hours without an answer.
    Expired,
}

/// The `bounce_classification` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Classification {
    InvalidAddress,
    Technical,
    Content,
    Reputation,
    Volume,
    MailboxUnavailable,
    Unclassified,
}

impl Classification {
    /// Every classification.
    pub const ALL: [Self; 7] = [
        Self::InvalidAddress,
        Self::Technical,
        Self::Content,
        Self::Reputation,
        Self::Volume,
        Self::MailboxUnavailable,
        Self::Unclassified,
    ];

    /// The word in an event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidAddress => "Invalid Address",
            Self::Technical => "Technical",
            Self::Content => "Content",
            Self::Reputation => "Reputation",
            Self::Volume => "Frequency or Volume Too High",
            Self::MailboxUnavailable => "Mailbox Unavailable",
            Self::Unclassified => "Unclassified",
        }
    }
    /// The name in the API's list of classifications (API facts 3.3).
    pub fn list_name(self) -> &'static str {
        match self {
            Self::Technical => "Technical Failure",
            other => other.as_str(),
        }
    }
}

/// Categories keep the shape they were sent in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Category {
    One(String),
    Many(Vec<String>),
}

/// The pool a message left through; only `processed` carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    pub name: String,
    pub id: u32,
}

/// Which link of which part was clicked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlOffset {
    pub index: u32,
    /// `html`, `text`, `amp` or `header`.
    #[serde(rename = "type")]
    pub part: String,
}

/// One thing that happened to one recipient's copy of a message (or to an account).
///
/// The fields after `custom_args` are set for the kinds that have them (API facts 3.2, 3.3) and
/// left out of every serialised form otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Form of this record; 1. Readers take older forms, never newer ones.
    #[serde(default = "first_version")]
    pub v: u8,
    /// `sg_event_id`: a function of what happened, so a replay gives the same (at most 100 characters).
    pub id: String,
    pub account: AccountId,
    pub kind: EventKind,
    pub at: Timestamp,
    /// The recipient.
    pub email: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Position of the recipient within the message.
    #[serde(default)]
    pub recipient: u32,
    /// `smtp-id`, without angle brackets: the Message-ID of the copy. Delivery events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smtp_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom_args: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asm_group_id: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    /// The key that the mail was sent with, for lookups; it is not posted to webhooks. Only the
    /// first event of a copy has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// The address that the mail was sent from by its sender; as `key`, for lookups only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ip: Option<String>,
    /// Whether the mail may not leave, because its key is marked as test; it is not posted to webhooks.
    #[serde(rename = "test", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The enhanced status code, `5.1.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The relay's last reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Number of the attempt; a string on the webhook's wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce_type: Option<BounceType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce_classification: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useragent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sg_machine_open: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sg_content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_offset: Option<UrlOffset>,
}

fn first_version() -> u8 {
    1
}

impl Event {
    /// An event of `kind` with only its identity filled in.
    pub fn new(
        id: String,
        account: AccountId,
        kind: EventKind,
        at: Timestamp,
        email: String,
    ) -> Self {
        Self {
            v: 1,
            id,
            account,
            kind,
            at,
            email,
            message: None,
            recipient: 0,
            smtp_id: None,
            category: None,
            custom_args: BTreeMap::new(),
            asm_group_id: None,
            pool: None,
            send_at: None,
            template_id: None,
            key: None,
            client_ip: None,
            is_test: false,
            reason: None,
            status: None,
            response: None,
            attempt: None,
            ip: None,
            tls: None,
            bounce_type: None,
            bounce_classification: None,
            useragent: None,
            sg_machine_open: None,
            sg_content_type: None,
            url: None,
            url_offset: None,
        }
    }

    /// The id of something that happens once per attempt: the same cause gives the same id.
    pub fn derived_id(
        message: &MessageId,
        recipient: u32,
        kind: EventKind,
        attempt: u32,
    ) -> String {
        format!("{}-{attempt}-{message}-{recipient}", kind.wire())
    }

    /// `sg_message_id`: begins with the `X-Message-Id` of the request (API facts, trap 27).
    pub fn sg_message_id(&self) -> Option<String> {
        Some(self.message.as_ref()?.of_copy(self.recipient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_written_by_the_first_release_still_reads() {
        let old = r#"{"id":"processed-0-m-0","account":"abcdefghij","kind":"processed","at":1,"email":"a@b.co"}"#;
        let event: Event = serde_json::from_str(old).unwrap();
        assert_eq!(
            (event.v, event.kind, event.at),
            (1, EventKind::Processed, Timestamp(1))
        );
    }

    #[test]
    fn only_the_spam_report_differs_between_flag_and_event() {
        for kind in EventKind::ALL {
            let same = kind.wire() == kind.flag();
            assert_eq!(same, kind != EventKind::SpamReport, "{kind:?}");
        }
    }
}
