//! The head of a mail, line by line, as it was sent.

use std::collections::BTreeMap;

use mail_parser::Message;

/// Name and value of every header, in their order; folded lines are joined (RFC 5322, 2.2.3).
pub(crate) fn all(message: &Message<'_>) -> Vec<(String, String)> {
    let raw = message.raw_message();
    let part = message.root_part();
    let text = |from: u32, to: u32| {
        let bytes = raw.get(place(from)..place(to)).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    part.headers
        .iter()
        .map(|header| {
            let name = text(header.offset_field, header.offset_start);
            let value = text(header.offset_start, header.offset_end);
            let name = name.trim_end_matches(':').trim().to_owned();
            (name, unfold(&value))
        })
        .collect()
}

/// As Go's `net/mail` and thus Mailpit give them: names in canonical case, sorted, each with all
/// its values.
pub(crate) fn by_name(message: &Message<'_>) -> BTreeMap<String, Vec<String>> {
    let mut sorted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in all(message) {
        sorted.entry(canonical(&name)).or_default().push(value);
    }
    sorted
}

fn place(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn unfold(value: &str) -> String {
    let lines: Vec<_> = value.lines().map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

/// `message-ID` becomes `Message-Id`; a name with characters that no name may have stays.
fn canonical(name: &str) -> String {
    if !crate::parts::token(name) {
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
        let names = crate::parse::with(raw, by_name).unwrap();
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
