//! What a mail holds, as the rooms above show it: header fields, addresses, bodies, parts.

use std::collections::BTreeMap;

use posthaste_mime::read::{BodyKind, Disposition, MailPart, ParsedMail};
use posthaste_render::plain_from_html;

use crate::ApiAddress;

/// Bytes of HTML that are converted to text, ten times what mail programs show of it.
const CONVERTED: usize = 1 << 20;
/// Bytes of a body that are read for the search and the snippet.
const READ: usize = 256 * 1024;

/// Most fields that are shown of one header.
const MOST_FIELDS: usize = 10_000;

/// Name and value of every header field, in their order; folded lines are joined (RFC 5322, 2.2.3).
pub(crate) fn header_fields(mail: &ParsedMail<'_>) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    mail.fields()
        .take(MOST_FIELDS)
        .map(|(name, value)| (text(name), unfold(&text(value))))
        .collect()
}

/// The value of the first field of this name; empty without one.
pub(crate) fn first_field(mail: &ParsedMail<'_>, name: &str) -> String {
    let same = |(other, _): &(&[u8], _)| other.eq_ignore_ascii_case(name.as_bytes());
    let found = mail.fields().find(same);
    found.map_or_else(String::new, |(_, value)| {
        unfold(&String::from_utf8_lossy(value))
    })
}

/// In the form of Go's `net/mail` and thus Mailpit: names in canonical case, sorted, each with all
/// its values.
pub(crate) fn fields_by_name(mail: &ParsedMail<'_>) -> BTreeMap<String, Vec<String>> {
    let mut sorted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in header_fields(mail) {
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

/// RFC 2045 `token`: what is allowed in a type, a subtype or an unquoted parameter.
fn token(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b);
    (1..=127).contains(&text.len()) && text.bytes().all(legal)
}

/// The addresses in every header field of this name.
pub(crate) fn addresses(mail: &ParsedMail<'_>, header: &str) -> Vec<ApiAddress> {
    let found = mail.addresses(header).into_iter();
    found
        .map(|found| ApiAddress {
            name: found.name,
            address: found.address,
        })
        .collect()
}

/// The HTML body, all HTML parts of it; empty when the mail has none.
pub(crate) fn html(mail: &ParsedMail<'_>) -> String {
    bodies(mail, BodyKind::Html, usize::MAX)
}

/// The text body; empty when the mail has none of its own.
pub(crate) fn plain(mail: &ParsedMail<'_>) -> String {
    bodies(mail, BodyKind::Text, usize::MAX)
}

/// The text body, made from the HTML where a mail has no text of its own (as Mailpit does).
pub(crate) fn text(mail: &ParsedMail<'_>) -> String {
    let plain = plain(mail);
    if plain.trim().is_empty() {
        plain_from_html(head(&bodies(mail, BodyKind::Html, CONVERTED), CONVERTED))
    } else {
        plain
    }
}

/// The text and the HTML as text, the beginnings of both.
pub(crate) fn both_texts(mail: &ParsedMail<'_>) -> [String; 2] {
    let html = bodies(mail, BodyKind::Html, CONVERTED);
    [
        bodies(mail, BodyKind::Text, CONVERTED),
        plain_from_html(head(&html, CONVERTED)),
    ]
}

/// The parts of this kind, joined; no further one once there are `enough` bytes.
fn bodies(mail: &ParsedMail<'_>, kind: BodyKind, enough: usize) -> String {
    let mut out = String::new();
    let mut first = true;
    for part in mail.parts().iter().filter(|p| p.body_kind == Some(kind)) {
        if out.len() >= enough {
            break;
        }
        if !first {
            out.push('\n');
        }
        first = false;
        out.push_str(&part.text());
    }
    out
}

/// The beginning of the text, for the search and the snippet.
pub(crate) fn preview(mail: &ParsedMail<'_>) -> String {
    let plain = bodies(mail, BodyKind::Text, READ);
    if plain.trim().is_empty() {
        plain_from_html(head(&bodies(mail, BodyKind::Html, READ), READ))
    } else {
        plain
    }
}

/// At most `most` letters of `text`, every run of white space being one space.
pub(crate) fn collapse(text: &str, most: usize) -> String {
    let mut tidy = String::new();
    let mut letters = 0;
    for word in text.split_whitespace() {
        let gap = usize::from(!tidy.is_empty());
        if letters + gap >= most {
            break;
        }
        tidy.extend(std::iter::repeat_n(' ', gap));
        tidy.extend(word.chars().take(most - letters - gap));
        letters += gap + word.chars().count();
    }
    tidy
}

/// At most `most` bytes of `text`, cut between two letters.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The role of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A file attachment.
    Attachment,
    /// A picture or the like that the HTML shows.
    Inline,
    /// A further form of the body (AMP, calendar).
    Alternative,
}

/// A part that has no parts of its own.
pub(crate) struct Leaf<'m, 'a> {
    /// `0` for a mail of one part, else `1`, `2`, `2.1` …
    pub id: String,
    pub role: Role,
    pub part: &'m MailPart<'a>,
}

impl Leaf<'_, '_> {
    /// The file name in the mail, else the content id; may be empty, and may hold anything.
    pub(crate) fn name(&self) -> &str {
        let name = self.part.filename.as_deref();
        name.unwrap_or_else(|| self.content_id())
    }

    /// The content id without angle brackets; empty when there is none.
    pub(crate) fn content_id(&self) -> &str {
        self.part.content_id.as_deref().unwrap_or_default()
    }
}

/// Every leaf except the body, in the order of the mail.
pub(crate) fn files<'m, 'a>(mail: &'m ParsedMail<'a>) -> Vec<Leaf<'m, 'a>> {
    let mut leaves = leaves(mail);
    leaves.retain(|leaf| leaf.part.body_kind.is_none());
    leaves
}

/// The leaf of this number, whatever its role.
pub(crate) fn leaf<'m, 'a>(mail: &'m ParsedMail<'a>, id: &str) -> Option<Leaf<'m, 'a>> {
    leaves(mail).into_iter().find(|leaf| leaf.id == id)
}

fn leaves<'m, 'a>(mail: &'m ParsedMail<'a>) -> Vec<Leaf<'m, 'a>> {
    let parts = mail.parts();
    // A parent comes before its children, so its number is known when theirs is made.
    let mut ids: Vec<String> = Vec::with_capacity(parts.len());
    let mut leaves = Vec::new();
    for part in parts {
        let above = part.parent.and_then(|at| ids.get(at));
        let id = match above.map(String::as_str) {
            None => "0".to_owned(),
            Some("0") => part.number.to_string(),
            Some(above) => format!("{above}.{}", part.number),
        };
        if !part.is_multipart {
            let parent = part.parent.and_then(|at| parts.get(at));
            leaves.push(Leaf {
                id: id.clone(),
                role: role(part, parent),
                part,
            });
        }
        ids.push(id);
    }
    leaves
}

fn role(part: &MailPart<'_>, parent: Option<&MailPart<'_>>) -> Role {
    match (part.disposition, parent.map(|p| p.media_type.as_str())) {
        (Disposition::Attachment, _) => Role::Attachment,
        (Disposition::Inline, _) => Role::Inline,
        (Disposition::Unset, Some("multipart/alternative")) if part.filename.is_none() => {
            Role::Alternative
        }
        (Disposition::Unset, Some("multipart/related")) => Role::Inline,
        (Disposition::Unset, _) if part.content_id.is_some() => Role::Inline,
        (Disposition::Unset, _) => Role::Attachment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical_and_values_unfolded() {
        let raw = b"message-ID: <a@b>\r\nX-LONG:  one\r\n\ttwo\r\nx-long: three\r\n\
            Subject: =?utf-8?q?=E2=9C=93?=\r\n\r\nbody: no header";
        let names = fields_by_name(&ParsedMail::read(raw));
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

    #[test]
    fn text_is_cut_between_letters() {
        for (text, most, want) in [
            ("", 4, ""),
            ("  a \r\n b\t", 9, "a b"),
            ("äöü ß", 3, "äöü"),
            ("äöü ß", 4, "äöü"),
            ("äöü ß", 5, "äöü ß"),
            ("abc", 0, ""),
        ] {
            assert_eq!(collapse(text, most), want, "{text:?} {most}");
        }
        assert_eq!(head("aä", 2), "a");
        assert_eq!(head("aä", 3), "aä");
    }
}
