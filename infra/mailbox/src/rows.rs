//! One line of the list, with Mailpit's field names.

use posthaste_model::Millis;
use serde::{Deserialize, Serialize};

use crate::Address;

/// What the list says about a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Summary {
    /// Name of the mail in this mailbox: 22 letters and digits nobody can guess.
    #[serde(rename = "ID")]
    pub id: String,
    /// The `Message-ID` header without angle brackets.
    #[serde(rename = "MessageID")]
    pub message_id: String,
    pub read: bool,
    pub from: Address,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    /// Those of the header, and every recipient of the envelope whom no header names.
    pub bcc: Vec<Address>,
    pub reply_to: Vec<Address>,
    pub subject: String,
    /// When the relay took it: RFC 3339, UTC, up to three decimals.
    pub created: String,
    /// Always empty: the relay asks nobody to log in.
    pub username: String,
    /// Always empty: this mailbox has no tags.
    pub tags: Vec<String>,
    /// Bytes of the whole mail.
    pub size: usize,
    /// How many files are attached, inline ones not counted.
    pub attachments: usize,
    /// The first 200 letters of the text.
    pub snippet: String,
}

/// `2026-11-27T23:01:22.5Z`.
pub(crate) fn rfc3339(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .unwrap_or_default()
        .to_string()
}

/// How full the mailbox is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub total: usize,
    pub unread: usize,
}

/// Some lines of the list and what they are a part of.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    pub totals: Totals,
    /// How many mails match the search, and how many of them are unread.
    pub matching: Totals,
    pub rows: Vec<Row>,
}

/// A line of the list with what Mailpit has no field for.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub summary: Summary,
    pub recipients: Vec<String>,
}
