//! Mails that are composed: texts, names, files and headers of every shape.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use posthaste_mime::{Outgoing, Stamp, build, exceeds};
use posthaste_model::{Attachment, Content, Disposition, EmailAddress, Mailbox, Timestamp};

use crate::guard::survive;
use crate::shapes::{MAIL, Shape, bodies, count, mails, text};

/// Headers of a request together (`mail/send`), in bytes.
const HEADERS: usize = 100_000;

fn texts() -> impl Iterator<Item = Shape> {
    text().into_iter().chain(bodies())
}

fn mailbox(name: Option<String>) -> Mailbox {
    Mailbox {
        email: EmailAddress::parse("ann@example.com").unwrap(),
        name,
    }
}

/// What a test changes of a mail.
struct Mail {
    from: Mailbox,
    to: Vec<Mailbox>,
    subject: String,
    contents: Vec<Content>,
    attachments: Vec<Attachment>,
    headers: std::collections::BTreeMap<String, String>,
}

impl Mail {
    fn new() -> Self {
        Self {
            from: mailbox(None),
            to: Vec::new(),
            subject: String::new(),
            contents: Vec::new(),
            attachments: Vec::new(),
            headers: [].into(),
        }
    }

    fn build(&self) -> usize {
        let outgoing = Outgoing {
            from: &self.from,
            to: &self.to,
            cc: &self.to,
            reply_to: &self.to,
            subject: &self.subject,
            contents: &self.contents,
            attachments: &self.attachments,
            headers: &self.headers,
            extra: &[],
        };
        let stamp = Stamp {
            message_id: "1@example.com",
            date: Timestamp(1_800_000_000),
            boundary: "seed",
        };
        exceeds(MAIL, &self.contents, &self.attachments);
        build(&outgoing, &stamp).map_or(0, |mail| mail.len())
    }
}

fn content(mime_type: &str, value: String) -> Content {
    Content {
        mime_type: mime_type.to_owned(),
        value,
    }
}

#[test]
fn any_text_is_a_body() {
    for (name, make) in texts() {
        survive(name, move || {
            let mut mail = Mail::new();
            mail.contents = vec![content("text/plain", make(MAIL))];
            assert!(mail.build() > 0);
            mail.contents = vec![
                content("application/json", make(MAIL / 4)),
                content("text/html", make(MAIL / 4)),
            ];
            assert!(mail.build() > 0);
        });
    }
}

#[test]
fn any_text_is_a_subject_a_name_and_a_header() {
    for (name, make) in texts() {
        survive(name, move || {
            let mut mail = Mail::new();
            mail.subject = make(MAIL);
            mail.from = mailbox(Some(make(MAIL / 8)));
            mail.to = (0..1_000).map(|_| mailbox(Some(make(2_000)))).collect();
            mail.headers = [("X-A".to_owned(), make(HEADERS))].into();
            assert!(mail.build() > 0);
        });
    }
}

#[test]
fn any_file_is_attached() {
    for (name, make) in texts().chain(mails().into_iter().take(8)) {
        survive(name, move || {
            let mut mail = Mail::new();
            for kind in ["text/plain", "message/rfc822"] {
                mail.attachments = vec![Attachment {
                    content: BASE64_STANDARD.encode(make(MAIL / 4)),
                    mime_type: Some(kind.to_owned()),
                    filename: make(MAIL / 8),
                    disposition: Disposition::Inline,
                    content_id: Some(make(MAIL / 8)),
                }];
                assert!(mail.build() > 0);
            }
            mail.attachments = vec![Attachment {
                content: make(MAIL / 4),
                mime_type: Some(make(MAIL / 8)),
                filename: "a.txt".to_owned(),
                disposition: Disposition::Attachment,
                content_id: None,
            }];
            mail.build();
        });
    }
}

#[test]
fn headers_and_types_of_every_number_are_written() {
    survive("headers", || {
        let mut mail = Mail::new();
        let names = count(HEADERS, |n| format!("X{n}\n"));
        mail.headers = names
            .lines()
            .map(|name| (name.to_owned(), "x".to_owned()))
            .collect();
        assert!(mail.build() > HEADERS);
    });
    survive("a type of many parameters", || {
        let mut mail = Mail::new();
        let parameters = count(MAIL, |n| format!("; a{n}=b"));
        mail.contents = vec![content(&format!("text/plain{parameters}"), "x".to_owned())];
        mail.build();
    });
}
