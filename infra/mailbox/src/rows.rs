//! What the mailbox stores about a mail beside its bytes: one line of the list, with Mailpit's field
//! names, and the envelope.

use posthaste_model::{Millis, Timestamp, Verp};
use serde::{Deserialize, Serialize};

use crate::copies::DeliveryStatus;

/// The envelope of the SMTP dialogue that a mail arrived in, as opposed to its headers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct StoredEnvelope {
    /// The address of `MAIL FROM`, without angle brackets; empty for the null sender.
    pub from: String,
    /// The addresses of `RCPT TO`, in their order.
    pub to: Vec<String>,
    /// The client, as `address:port`; empty when unknown.
    pub peer: String,
}

/// A name and an address, either of which may be empty in a bad mail. Field names as in Mailpit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ApiAddress {
    /// The display name, decoded.
    pub name: String,
    /// The address itself, unchecked.
    pub address: String,
}

impl ApiAddress {
    /// `Ann <ann@example.com>`, or only the half that is present.
    pub fn shown(&self) -> String {
        match (self.name.as_str(), self.address.as_str()) {
            ("", address) => address.to_owned(),
            (name, "") => name.to_owned(),
            (name, address) => format!("{name} <{address}>"),
        }
    }

    /// The shortest label for a person: the name, else the address.
    pub fn short(&self) -> &str {
        if self.name.is_empty() {
            &self.address
        } else {
            &self.name
        }
    }
}

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
    /// The name of the API key that the mail was sent with; empty for a mail that another program sent.
    pub username: String,
    /// In the order of the alphabet. Stored apart, so that a tag is renamed in one place.
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

/// An RFC 3339 time for a list, as `7 Nov, 01:02`; any other text as it is. The page's script, where
/// it runs, replaces it by local time.
pub(crate) fn brief(at: &str) -> String {
    utc(at, "%-d %b, %H:%M")
}

/// The same with year and seconds, as `7 Nov 2026, 01:02:03 UTC`.
pub(crate) fn full(at: &str) -> String {
    utc(at, "%-d %b %Y, %H:%M:%S UTC")
}

fn utc(at: &str, form: &str) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(at) => at
            .to_zoned(jiff::tz::TimeZone::UTC)
            .strftime(form)
            .to_string(),
        Err(_) => at.to_owned(),
    }
}

/// `1.5 KB`: a size for people.
pub(crate) fn size(bytes: usize) -> String {
    const KB: usize = 1024;
    let tenths = |unit: usize| {
        let tenths = bytes.saturating_mul(10) / unit;
        match tenths {
            100.. => (tenths / 10).to_string(),
            _ => format!("{}.{}", tenths / 10, tenths % 10),
        }
    };
    match bytes {
        0..KB => format!("{bytes} B"),
        KB..1_048_576 => format!("{} KB", tenths(KB)),
        _ => format!("{} MB", tenths(KB * KB)),
    }
}

/// The usage of the mailbox, or what a search found of it.
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
    /// Of a copy that was not recorded, only the recipient is known.
    pub envelope: StoredEnvelope,
    /// Whether the bytes of the mail are here.
    pub is_recorded: bool,
    /// The copy, where the service made the mail.
    pub copy: Option<Verp>,
    /// The name of its request.
    pub request: Option<String>,
    pub status: DeliveryStatus,
    /// Why it was deferred, bounced or dropped, or what a relay answered.
    pub reason: String,
    /// When it leaves, if it is scheduled.
    pub leaves: Option<Timestamp>,
}

/// Some copies of one request, newest first, and how many it has in each state.
#[derive(Clone, Debug)]
pub(crate) struct RequestRow {
    pub first: ListRow,
    pub states: Vec<(DeliveryStatus, usize)>,
}

/// Which rows a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Those of recorded mails: all that Mailpit's calls know.
    Recorded,
    /// Those of copies without a mail too.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_for_programs_and_for_people() {
        assert_eq!(rfc3339(Millis(1_795_780_800_500)), "2026-11-27T12:00:00.5Z");
        for (at, short, long) in [
            (
                "2026-11-07T01:02:03.5Z",
                "7 Nov, 01:02",
                "7 Nov 2026, 01:02:03 UTC",
            ),
            (
                "2026-11-07T01:02:03+02:00",
                "6 Nov, 23:02",
                "6 Nov 2026, 23:02:03 UTC",
            ),
            ("some day", "some day", "some day"),
            ("", "", ""),
        ] {
            assert_eq!((brief(at), full(at)), (short.to_owned(), long.to_owned()));
        }
    }

    #[test]
    fn sizes_are_short() {
        for (size, want) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (10_239, "9.9 KB"),
            (10_240, "10 KB"),
            (1_048_575, "1023 KB"),
            (31_457_280, "30 MB"),
        ] {
            assert_eq!(super::size(size), want);
        }
    }
}
