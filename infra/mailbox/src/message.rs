//! One mail in full, with Mailpit's field names; its `List-Unsubscribe` headers (RFC 2369, RFC 8058)
//! are validated as in Mailpit.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use data_encoding::HEXLOWER;
use jiff::fmt::rfc2822::DateTimeParser;
use md5::{Digest as _, Md5};
use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use crate::mail::{self, Leaf, Role};
use crate::store::StoredMail;
use crate::{ApiAddress, Summary};

/// `GET /api/v1/message/{id}`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Full {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(rename = "MessageID")]
    pub message_id: String,
    pub from: ApiAddress,
    pub to: Vec<ApiAddress>,
    pub cc: Vec<ApiAddress>,
    pub bcc: Vec<ApiAddress>,
    pub reply_to: Vec<ApiAddress>,
    /// The sender of the envelope.
    pub return_path: String,
    pub subject: String,
    pub list_unsubscribe: ListUnsubscribe,
    /// The `Date` header, else the time of receipt by the relay. RFC 3339.
    pub date: String,
    pub tags: Vec<String>,
    pub username: String,
    /// The text, made from the HTML where the mail has none.
    pub text: String,
    #[serde(rename = "HTML")]
    pub html: String,
    pub size: usize,
    /// Pictures of the HTML, and further forms of the body.
    pub inline: Vec<File>,
    pub attachments: Vec<File>,
}

/// A part that can be fetched.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct File {
    #[serde(rename = "PartID")]
    pub part_id: String,
    pub file_name: String,
    pub content_type: String,
    #[serde(rename = "ContentID")]
    pub content_id: String,
    pub size: usize,
    pub checksums: Checksums,
    /// Not one of Mailpit's fields: only the page uses it.
    #[serde(skip)]
    pub alternative: bool,
}

/// Digests of a part's bytes, in hexadecimal.
#[derive(Debug, Serialize)]
pub(crate) struct Checksums {
    #[serde(rename = "MD5")]
    md5: String,
    #[serde(rename = "SHA1")]
    sha1: String,
    #[serde(rename = "SHA256")]
    sha256: String,
}

impl Checksums {
    fn of(bytes: &[u8]) -> Self {
        let by = |algorithm| HEXLOWER.encode(digest(algorithm, bytes).as_ref());
        Self {
            md5: HEXLOWER.encode(&Md5::digest(bytes)),
            sha1: by(&SHA1_FOR_LEGACY_USE_ONLY),
            sha256: by(&SHA256),
        }
    }
}

impl Full {
    /// Reads the mail.
    pub(crate) fn of(stored: &StoredMail) -> Self {
        let mail = ParsedMail::read(&stored.raw);
        let (attachments, inline): (Vec<_>, Vec<_>) = mail::files(&mail)
            .into_iter()
            .partition(|leaf| leaf.role == Role::Attachment);
        let files = |leaves: Vec<Leaf<'_, '_>>| leaves.iter().map(file).collect();
        let summary = stored.summary.clone();
        Self {
            return_path: stored.envelope.from.clone(),
            list_unsubscribe: ListUnsubscribe::of(&mail),
            date: date(&mail).unwrap_or_else(|| summary.created.clone()),
            text: mail::text(&mail),
            html: mail::html(&mail),
            inline: files(inline),
            attachments: files(attachments),
            ..Self::from(summary)
        }
    }
}

impl From<Summary> for Full {
    fn from(summary: Summary) -> Self {
        Self {
            id: summary.id,
            message_id: summary.message_id,
            from: summary.from,
            to: summary.to,
            cc: summary.cc,
            bcc: summary.bcc,
            reply_to: summary.reply_to,
            subject: summary.subject,
            tags: summary.tags,
            username: summary.username,
            size: summary.size,
            ..Self::default()
        }
    }
}

/// The `Date` header in its own zone.
fn date(mail: &ParsedMail<'_>) -> Option<String> {
    /// Longer than any date with its comments.
    const LONGEST: usize = 200;
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    let value = mail.text("Date").filter(|value| value.len() <= LONGEST)?;
    let date = PARSER.parse_zoned(&value).ok()?;
    let form = if date.offset().is_zero() {
        "%Y-%m-%dT%H:%M:%SZ"
    } else {
        "%Y-%m-%dT%H:%M:%S%:z"
    };
    Some(date.strftime(form).to_string())
}

fn file(leaf: &Leaf<'_, '_>) -> File {
    let bytes = leaf.part.bytes();
    File {
        part_id: leaf.id.clone(),
        file_name: leaf.name().to_owned(),
        content_type: leaf.part.media_type.clone(),
        content_id: leaf.content_id().to_owned(),
        size: bytes.len(),
        checksums: Checksums::of(&bytes),
        alternative: leaf.role == Role::Alternative,
    }
}

/// One part ready to be sent: type, charset, name, bytes.
pub(crate) struct Fetched {
    pub kind: String,
    pub charset: Option<String>,
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The part of this number.
pub(crate) fn fetch(raw: &[u8], id: &str) -> Option<Fetched> {
    let mail = ParsedMail::read(raw);
    let leaf = mail::leaf(&mail, id)?;
    Some(Fetched {
        kind: leaf.part.media_type.clone(),
        charset: leaf.part.charset.clone(),
        name: leaf.name().to_owned(),
        bytes: leaf.part.bytes().into_owned(),
    })
}

/// Links, or texts in their place, that are validated: each may be repeated in the errors.
const MOST_LINKS: usize = 100;

/// The content of the headers, and the errors in it.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListUnsubscribe {
    pub header: String,
    /// At most one `mailto:` and one `http(s):` link.
    pub links: Vec<String>,
    /// Empty when the headers are valid.
    pub errors: String,
    pub header_post: String,
}

impl ListUnsubscribe {
    /// Reads the headers of a mail.
    pub(crate) fn of(mail: &ParsedMail<'_>) -> Self {
        let value = |name: &str| mail::first_field(mail, name);
        Self::validate(value("List-Unsubscribe"), value("List-Unsubscribe-Post"))
    }

    fn validate(header: String, header_post: String) -> Self {
        let mut links = Vec::new();
        let mut errors = Vec::new();
        // A link may hold commas itself, so they separate only outside the brackets.
        let mut rest = header.as_str();
        for item in std::iter::from_fn(|| next(&mut rest)).take(MOST_LINKS) {
            let Some(link) = item.strip_prefix('<') else {
                errors.push(format!("\"{item}\" should be enclosed in <>"));
                continue;
            };
            let kind = kind_of(link);
            if link.contains(char::is_whitespace) {
                errors.push(format!("\"{link}\" should not contain spaces"));
            } else if kind.is_none() {
                let want = "should start with either http(s):// or mailto:";
                errors.push(format!("\"{link}\" {want}"));
            } else if links.iter().any(|other: &String| kind_of(other) == kind) {
                errors.push(format!("\"{link}\" is one link of its kind too many"));
            } else {
                links.push(link.to_owned());
            }
        }
        Self {
            errors: errors.join(", "),
            header,
            links,
            header_post,
        }
    }
}

/// The next `<link` without its closing bracket, or a text that is not enclosed.
fn next<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    let end = if text.starts_with('<') { '>' } else { ',' };
    let (item, after) = text.split_once(end).unwrap_or((text, ""));
    *rest = after;
    let item = item.trim();
    (!item.is_empty()).then_some(item)
}

fn kind_of(link: &str) -> Option<&'static str> {
    let lower = link.to_ascii_lowercase();
    let after = |scheme: &str| {
        let rest = lower.strip_prefix(scheme)?;
        rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            .then_some(())
    };
    match () {
        () if after("mailto:").is_some() => Some("mailto"),
        () if after("http://").or(after("https://")).is_some() => Some("http"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_links_are_listed_and_bad_ones_named() {
        for (header, links, errors) in [
            ("", &[][..], 0),
            (
                "<mailto:a@b.co?subject=x>, <https://b.co/u?x=1,2>",
                &["mailto:a@b.co?subject=x", "https://b.co/u?x=1,2"],
                0,
            ),
            ("https://b.co/u", &[], 1),
            ("<javascript:alert(1)>, <http://b.co>", &["http://b.co"], 1),
            ("<http://a.co>, <http://b.co>", &["http://a.co"], 1),
            ("<http://a.co/x y>", &[], 1),
        ] {
            let validated = ListUnsubscribe::validate(header.to_owned(), String::new());
            assert_eq!(validated.links, links, "{header}");
            let found = validated.errors.matches('"').count() / 2;
            assert_eq!(found, errors, "{header}: {}", validated.errors);
        }
    }
}
