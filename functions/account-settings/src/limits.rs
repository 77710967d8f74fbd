//! Maximum text lengths: all texts share one row, which DynamoDB limits to 400 KB. The v3 API does
//! not state limits, so these are ours.

use posthaste_model::Problems;

/// Bytes of the HTML around every mail.
pub(crate) const WRAPPER: usize = 100_000;

/// Bytes of the landing page after an unsubscribe.
pub(crate) const LANDING: usize = 50_000;

/// Bytes of any other text that goes into mails.
pub(crate) const TEXT: usize = 20_000;

/// Bytes of the text of a link, and of the link itself.
pub(crate) const LINK: usize = 1_000;

/// Entries of the address whitelist.
pub(crate) const ENTRIES: usize = 500;

/// Bytes of all entries together.
pub(crate) const ENTRIES_TOGETHER: usize = 50_000;

/// Stores a given text, unless it is too long.
pub(crate) fn put(
    slot: &mut String,
    text: Option<String>,
    (field, most): (&str, usize),
    found: &mut Problems,
) {
    let Some(text) = text else { return };
    let message = format!("{field} exceeds {most} bytes");
    found.unless(text.len() <= most, field, &message);
    *slot = text;
}

/// The same for a text that may be absent.
pub(crate) fn put_some(
    slot: &mut Option<String>,
    text: Option<String>,
    limit: (&str, usize),
    found: &mut Problems,
) {
    let mut own = slot.take().unwrap_or_default();
    put(&mut own, text, limit, found);
    *slot = Some(own).filter(|own| !own.is_empty());
}

/// A text as a setting shows it: empty where there is none.
pub(crate) fn shown(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}
