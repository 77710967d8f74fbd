//! One line of the list, with Mailpit's field names.

use posthaste_model::Millis;
use serde::{Deserialize, Serialize};

use crate::{ApiAddress, StoredEnvelope};

/// The list's data about a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Summary {
    /// Name of the mail in this mailbox: 22 unguessable letters and digits.
    #[serde(rename = "ID")]
    pub id: String,
    /// The `Message-ID` header without angle brackets.
    #[serde(rename = "MessageID")]
    pub message_id: String,
    pub read: bool,
    pub from: ApiAddress,
    pub to: Vec<ApiAddress>,
    pub cc: Vec<ApiAddress>,
    /// Those of the header, and every recipient of the envelope that no header names.
    pub bcc: Vec<ApiAddress>,
    pub reply_to: Vec<ApiAddress>,
    pub subject: String,
    /// The time of receipt by the relay: RFC 3339, UTC, up to three decimals.
    pub created: String,
    /// Always empty: the relay requires no login.
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

/// An RFC 3339 time in this form, for pages whose script does not run; any other text as it is.
pub(crate) fn utc(at: &str, form: &str) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(at) => at
            .to_zoned(jiff::tz::TimeZone::UTC)
            .strftime(form)
            .to_string(),
        Err(_) => at.to_owned(),
    }
}

/// The usage of the mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub total: usize,
    pub unread: usize,
}

/// One page of the list, with its totals.
#[derive(Debug, Default)]
pub(crate) struct ListSlice {
    pub totals: Totals,
    /// How many mails match the search, and how many of them are unread.
    pub matching: Totals,
    pub rows: Vec<ListRow>,
}

/// A line of the list with the fields that Mailpit lacks.
#[derive(Clone, Debug)]
pub(crate) struct ListRow {
    pub summary: Summary,
    pub envelope: StoredEnvelope,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_for_programs_and_for_people() {
        assert_eq!(rfc3339(Millis(1_795_780_800_500)), "2026-11-27T12:00:00.5Z");
        let form = "%-d %b %Y, %H:%M:%S UTC";
        for (at, want) in [
            ("2026-11-07T01:02:03.5Z", "7 Nov 2026, 01:02:03 UTC"),
            ("2026-11-07T01:02:03+02:00", "6 Nov 2026, 23:02:03 UTC"),
            ("some day", "some day"),
            ("", ""),
        ] {
            assert_eq!(utc(at, form), want);
        }
    }
}
