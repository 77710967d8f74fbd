//! One mail in full, with Mailpit's field names.

use mail_parser::{Message, MimeHeaders as _};
use serde::Serialize;

use crate::parse;
use crate::parts::{self, Leaf, Role};
use crate::store::Kept;
use crate::unsubscribe::ListUnsubscribe;
use crate::{Address, Summary};

/// `GET /api/v1/message/{id}`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Full {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(rename = "MessageID")]
    pub message_id: String,
    pub from: Address,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub bcc: Vec<Address>,
    pub reply_to: Vec<Address>,
    /// The sender of the envelope.
    pub return_path: String,
    pub subject: String,
    pub list_unsubscribe: ListUnsubscribe,
    /// The `Date` header, else when the relay took the mail. RFC 3339.
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
    /// Not one of Mailpit's fields: only the page asks.
    #[serde(skip)]
    pub alternative: bool,
}

impl Full {
    /// Reads the mail; of one that cannot be read there is what the list knows.
    pub(crate) fn of(kept: &Kept) -> Self {
        let summary = kept.summary.clone();
        let known = Self {
            return_path: kept.envelope.from.clone(),
            date: summary.created.clone(),
            ..Self::from(summary)
        };
        parse::with(&kept.raw, |message| Self {
            list_unsubscribe: ListUnsubscribe::of(message),
            date: date(message).unwrap_or_else(|| known.date.clone()),
            text: parse::text(message),
            html: parse::html(message),
            inline: files(&kept.raw, message, |role| role != Role::Attachment),
            attachments: files(&kept.raw, message, |role| role == Role::Attachment),
            ..Self::from(kept.summary.clone())
        })
        .map(|full| Self {
            return_path: known.return_path.clone(),
            ..full
        })
        .unwrap_or(known)
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

fn date(message: &Message<'_>) -> Option<String> {
    let date = message.date().filter(|date| date.is_valid())?;
    Some(date.to_rfc3339())
}

fn files(raw: &[u8], message: &Message<'_>, wanted: impl Fn(Role) -> bool) -> Vec<File> {
    let found = parts::files(message);
    let found = found.iter().filter(|leaf| wanted(leaf.role));
    found.map(|leaf| file(raw, leaf)).collect()
}

fn file(raw: &[u8], leaf: &Leaf<'_>) -> File {
    File {
        part_id: leaf.id.clone(),
        file_name: leaf.name().to_owned(),
        content_type: leaf.media_type(),
        content_id: leaf.content_id().to_owned(),
        size: parts::bytes(raw, leaf.part).len(),
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
    parse::with(raw, |message| {
        let leaf = parts::find(message, id)?;
        let charset = leaf
            .part
            .content_type()
            .and_then(|ct| ct.attribute("charset"));
        Some(Fetched {
            kind: leaf.media_type(),
            charset: charset
                .filter(|charset| parts::token(charset))
                .map(str::to_owned),
            name: leaf.name().to_owned(),
            bytes: parts::bytes(raw, leaf.part).into_owned(),
        })
    })
    .flatten()
}
