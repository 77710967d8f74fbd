//! Mails that each show one feature of composing. The golden files, the laws and the independent
//! parser (`tests/mime/parse_back.py`) all read this list.

mod list;

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use posthaste_mime::{Outgoing, Stamp};
use posthaste_model::{Attachment, Content, Disposition, EmailAddress, Mailbox, Timestamp};

pub(crate) use list::all;

/// The owned form of an [`Outgoing`].
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    /// The shape it must have: `mixed(alternative(text/plain text/html) image/png)`.
    pub(crate) shape: &'static str,
    pub(crate) from: Mailbox,
    pub(crate) to: Vec<Mailbox>,
    pub(crate) cc: Vec<Mailbox>,
    pub(crate) reply_to: Vec<Mailbox>,
    pub(crate) subject: String,
    pub(crate) contents: Vec<Content>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) extra: Vec<(&'static str, String)>,
}

impl Sample {
    pub(crate) fn new(name: &'static str, shape: &'static str) -> Self {
        Self {
            name,
            shape,
            from: mailbox("news@example.com", "Example"),
            to: vec![mailbox("ann@example.org", "Ann")],
            cc: vec![],
            reply_to: vec![],
            subject: "Hello".to_owned(),
            contents: vec![],
            attachments: vec![],
            headers: BTreeMap::new(),
            extra: vec![],
        }
    }

    pub(crate) fn outgoing(&self) -> Outgoing<'_> {
        Outgoing {
            from: &self.from,
            to: &self.to,
            cc: &self.cc,
            reply_to: &self.reply_to,
            subject: &self.subject,
            contents: &self.contents,
            attachments: &self.attachments,
            headers: &self.headers,
            extra: &self.extra,
        }
    }

    pub(crate) fn body(mut self, mime_type: &str, value: &str) -> Self {
        self.contents.push(Content {
            mime_type: mime_type.to_owned(),
            value: value.to_owned(),
        });
        self
    }

    pub(crate) fn file(mut self, mime_type: &str, filename: &str, bytes: &[u8]) -> Self {
        self.attachments.push(Attachment {
            content: BASE64_STANDARD.encode(bytes),
            mime_type: (!mime_type.is_empty()).then(|| mime_type.to_owned()),
            filename: filename.to_owned(),
            disposition: Disposition::Attachment,
            content_id: None,
        });
        self
    }

    pub(crate) fn inline(
        mut self,
        mime_type: &str,
        filename: &str,
        content_id: Option<&str>,
    ) -> Self {
        self = self.file(mime_type, filename, DOT);
        let file = self.attachments.last_mut().expect("one was just added");
        file.disposition = Disposition::Inline;
        file.content_id = content_id.map(str::to_owned);
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn subject(mut self, subject: &str) -> Self {
        self.subject = subject.to_owned();
        self
    }
}

pub(crate) const STAMP: Stamp<'_> = Stamp {
    message_id: "0123456789abcdef@mail.example.com",
    date: Timestamp(1_795_820_482),
    boundary: "0123456789abcdef",
};

/// One transparent pixel.
pub(crate) const DOT: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

pub(crate) fn mailbox(email: &str, name: &str) -> Mailbox {
    Mailbox {
        email: EmailAddress::parse(email).expect("a valid address"),
        name: (!name.is_empty()).then(|| name.to_owned()),
    }
}
