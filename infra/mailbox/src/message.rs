//! One mail in full, with Mailpit's field names.

use jiff::fmt::rfc2822::DateTimeParser;
use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use crate::parse;
use crate::parts::{self, Leaf, Role};
use crate::store::StoredMail;
use crate::unsubscribe::ListUnsubscribe;
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
    /// Not one of Mailpit's fields: only the page uses it.
    #[serde(skip)]
    pub alternative: bool,
}

impl Full {
    /// Reads the mail.
    pub(crate) fn of(kept: &StoredMail) -> Self {
        let mail = ParsedMail::read(&kept.raw);
        let (attachments, inline): (Vec<_>, Vec<_>) = parts::files(&mail)
            .into_iter()
            .partition(|leaf| leaf.role == Role::Attachment);
        let files = |leaves: Vec<Leaf<'_, '_>>| leaves.iter().map(file).collect();
        let summary = kept.summary.clone();
        Self {
            return_path: kept.envelope.from.clone(),
            list_unsubscribe: ListUnsubscribe::of(&mail),
            date: date(&mail).unwrap_or_else(|| summary.created.clone()),
            text: parse::text(&mail),
            html: parse::html(&mail),
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
    let form = match date.offset().is_zero() {
        true => "%Y-%m-%dT%H:%M:%SZ",
        false => "%Y-%m-%dT%H:%M:%S%:z",
    };
    Some(date.strftime(form).to_string())
}

fn file(leaf: &Leaf<'_, '_>) -> File {
    File {
        part_id: leaf.id.clone(),
        file_name: leaf.name().to_owned(),
        content_type: leaf.part.media_type.clone(),
        content_id: leaf.content_id().to_owned(),
        size: leaf.part.bytes().len(),
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
    let leaf = parts::find(&mail, id)?;
    Some(Fetched {
        kind: leaf.part.media_type.clone(),
        charset: leaf.part.charset.clone(),
        name: leaf.name().to_owned(),
        bytes: leaf.part.bytes().into_owned(),
    })
}
