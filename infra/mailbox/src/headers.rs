//! The head of a mail, line by line, as it was sent.

use std::collections::BTreeMap;

use posthaste_mime::read::ParsedMail;

use crate::download::token;

/// Most fields that are shown of one header.
const MOST: usize = 10_000;

/// Name and value of every header field, in their order; folded lines are joined (RFC 5322, 2.2.3).
pub(crate) fn all(mail: &ParsedMail<'_>) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    mail.fields()
        .take(MOST)
        .map(|(name, value)| (text(name), unfold(&text(value))))
        .collect()
}

/// The value of the first field of this name; empty without one.
pub(crate) fn first(mail: &ParsedMail<'_>, name: &str) -> String {
    let same = |(other, _): &(&[u8], _)| other.eq_ignore_ascii_case(name.as_bytes());
    let found = mail.fields().find(same);
    found.map_or_else(String::new, |(_, value)| {
        unfold(&String::from_utf8_lossy(value))
    })
}

/// In the form of Go's `net/mail` and thus Mailpit: names in canonical case, sorted, each with all
/// its values.
pub(crate) fn by_name(mail: &ParsedMail<'_>) -> BTreeMap<String, Vec<String>> {
    let mut sorted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in all(mail) {
        sorted.entry(canonical(&name)).or_default().push(value);
    }
    sorted
}

fn unfold(value: &str) -> String {
    let lines: Vec<_> = value.lines().map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

/// `message-ID` becomes `Message-Id`; a name with characters that no name may have stays.
fn canonical(name: &str) -> String {
    if !token(name) {
        return name.to_owned();
    }
    let mut first = true;
    name.chars()
        .map(|c| {
            let cased = if first {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            };
            first = c == '-';
            cased
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical_and_values_unfolded() {
        let raw = b"message-ID: <a@b>\r\nX-LONG:  one\r\n\ttwo\r\nx-long: three\r\n\
            Subject: =?utf-8?q?=E2=9C=93?=\r\n\r\nbody: no header";
        let names = by_name(&ParsedMail::read(raw));
        let want = [
            ("Message-Id", vec!["<a@b>"]),
            ("Subject", vec!["=?utf-8?q?=E2=9C=93?="]),
            ("X-Long", vec!["one two", "three"]),
        ];
        let got: Vec<_> = names
            .iter()
            .map(|(n, v)| (n.as_str(), v.iter().map(String::as_str).collect::<Vec<_>>()))
            .collect();
        assert_eq!(got, want);
    }
}
