//! The index entry of a mail, or of a copy without one: what its row holds for the list and the
//! search, and the space it takes.

use std::collections::HashSet;

use posthaste_mime::read::ParsedMail;
use posthaste_model::{Millis, Timestamp, Verp};

use crate::copies::{DeliveryStatus, copy_of};
use crate::mail::{Leaf, Role, addresses, collapse, files, first_field, preview};
use crate::rows::rfc3339;
use crate::{ApiAddress, Error, StoredEnvelope, Summary, tags};

/// Letters of the body, and of the names of files, that a search looks through.
const SEARCHED: usize = 64 * 1024;
/// Letters of a snippet before it is cut.
const SNIPPET: usize = 200;
/// Recipients of the envelope that are listed as blind copies.
const MOST_HIDDEN: usize = 1_000;

/// The index entry of one mail; the store adds id, time and size.
#[derive(Default)]
pub(crate) struct Digest {
    pub summary: Summary,
    pub inlines: usize,
    /// The mail's own tags.
    pub tags: Vec<String>,
    pub search: SearchWords,
}

/// Lower-case text of each searchable field.
#[derive(Default)]
pub(crate) struct SearchWords {
    pub from: String,
    pub to: String,
    pub cc: String,
    pub bcc: String,
    pub reply_to: String,
    pub recipients: String,
    pub subject: String,
    pub all: String,
}

impl SearchWords {
    /// Bytes of all of them.
    pub(crate) fn size(&self) -> usize {
        let texts = [
            &self.from,
            &self.to,
            &self.cc,
            &self.bcc,
            &self.reply_to,
            &self.recipients,
            &self.subject,
            &self.all,
        ];
        texts.iter().map(|text| text.len()).sum()
    }
}

/// The index entry of a mail. Its size is bounded, whatever the mail's is.
pub(crate) fn digest(envelope: &StoredEnvelope, raw: &[u8]) -> Digest {
    let mail = ParsedMail::read(raw);
    let [to, cc, mut bcc, reply_to] =
        ["To", "Cc", "Bcc", "Reply-To"].map(|header| addresses(&mail, header));
    bcc.extend(hidden(envelope, &[&to, &cc, &bcc]));
    let files = files(&mail);
    let body = preview(&mail);
    let summary = Summary {
        message_id: mail.message_id().unwrap_or_default(),
        from: author(envelope, &mail),
        to,
        cc,
        bcc,
        reply_to,
        subject: subject(&mail),
        attachments: files.iter().filter(|f| f.role == Role::Attachment).count(),
        snippet: snippet(&body),
        ..Summary::default()
    };
    let names: Vec<_> = files.iter().map(Leaf::name).collect();
    Digest {
        inlines: files.iter().filter(|f| f.role == Role::Inline).count(),
        tags: tags::of_header(&first_field(&mail, "X-Tags")),
        search: words(envelope, &summary, &body, &names.join(" ")),
        summary,
    }
}

/// The first author; bytes without any header have only the envelope.
fn author(envelope: &StoredEnvelope, mail: &ParsedMail<'_>) -> ApiAddress {
    let mut from = addresses(mail, "From").into_iter().next();
    if mail.fields().next().is_none() {
        from = Some(ApiAddress {
            name: String::new(),
            address: envelope.from.clone(),
        });
    }
    from.unwrap_or_default()
}

/// The subject on one line.
fn subject(mail: &ParsedMail<'_>) -> String {
    collapse(&mail.text("Subject").unwrap_or_default(), usize::MAX)
}

/// Recipients that no header names: the blind copies. Mailpit shows them as `Bcc` too.
fn hidden(envelope: &StoredEnvelope, named: &[&Vec<ApiAddress>]) -> Vec<ApiAddress> {
    let named: HashSet<_> = named
        .iter()
        .flat_map(|list| list.iter())
        .map(|one| one.address.to_ascii_lowercase())
        .collect();
    envelope
        .to
        .iter()
        .filter(|to| !named.contains(&to.to_ascii_lowercase()))
        .take(MOST_HIDDEN)
        .map(|to| ApiAddress {
            name: String::new(),
            address: to.clone(),
        })
        .collect()
}

fn snippet(body: &str) -> String {
    let snippet = collapse(body, SNIPPET);
    // Two more: a space and the letter after it.
    let more = collapse(body, SNIPPET + 2).len() > snippet.len();
    format!("{snippet}{}", if more { "..." } else { "" })
}

fn words(envelope: &StoredEnvelope, summary: &Summary, body: &str, names: &str) -> SearchWords {
    let list = |list: &[ApiAddress]| {
        let shown: Vec<_> = list.iter().map(ApiAddress::shown).collect();
        shown.join(" ").to_lowercase()
    };
    let addressed = list(&summary.to);
    let mut words = SearchWords {
        from: list(std::slice::from_ref(&summary.from)),
        to: match recipient(envelope, summary) {
            Some(recipient) => list(&[recipient]),
            None => format!("{addressed} {}", envelope.to.join(" ").to_lowercase()),
        },
        cc: list(&summary.cc),
        bcc: list(&summary.bcc),
        reply_to: list(&summary.reply_to),
        recipients: envelope.to.join(" ").to_lowercase(),
        subject: summary.subject.to_lowercase(),
        all: String::new(),
    };
    let names = collapse(names, SEARCHED).to_lowercase();
    let body = collapse(body, SEARCHED).to_lowercase();
    words.all = [
        words.subject.as_str(),
        &words.from,
        &addressed,
        &words.cc,
        &words.bcc,
        &words.reply_to,
        &words.recipients,
        &names,
        &body,
    ]
    .join("\n");
    words
}

/// The recipient of a copy that the service made, with the name that a header has for it. Every
/// recipient gets a copy, and the headers are the same in all.
fn recipient(envelope: &StoredEnvelope, summary: &Summary) -> Option<ApiAddress> {
    let [to] = envelope.to.as_slice() else {
        return None;
    };
    copy_of(&envelope.from)?;
    let mut named = summary.to.iter().chain(&summary.cc).chain(&summary.bcc);
    let found = named.find(|one| one.address.eq_ignore_ascii_case(to));
    Some(found.cloned().unwrap_or_else(|| ApiAddress {
        name: String::new(),
        address: to.clone(),
    }))
}

/// Overhead of a mail beside its bytes: partly filled pages of its tables and of the index.
const PAGES: u64 = 12 * 4096;

/// A row before it has an id.
pub(crate) struct NewRow {
    pub received: Millis,
    pub is_recorded: bool,
    /// The copy, where the service made the mail.
    pub copy: Option<Verp>,
    pub status: DeliveryStatus,
    pub reason: String,
    pub leaves: Option<Timestamp>,
    /// As JSON.
    pub envelope: String,
    pub summary: Summary,
    pub inlines: usize,
    pub tags: Vec<String>,
    pub words: SearchWords,
    /// Bytes of the row.
    size: usize,
}

impl NewRow {
    /// The row of a mail that the relay received.
    pub(crate) fn recorded(
        digest: Digest,
        envelope: &StoredEnvelope,
        received: Millis,
        raw: &[u8],
    ) -> Result<Self, Error> {
        let summary = Summary {
            created: rfc3339(received),
            size: raw.len(),
            ..digest.summary
        };
        let copy = copy_of(&envelope.from);
        let envelope = serde_json::to_string(envelope)?;
        let size = [
            envelope.len(),
            serde_json::to_string(&summary)?.len(),
            summary.message_id.len(),
            digest.search.size(),
        ];
        Ok(Self {
            received,
            is_recorded: true,
            copy,
            status: DeliveryStatus::Delivered,
            reason: String::new(),
            leaves: None,
            envelope,
            summary,
            inlines: digest.inlines,
            tags: digest.tags,
            words: digest.search,
            size: size.iter().sum(),
        })
    }

    /// The row of a copy before its mail is handed over, if it ever is.
    pub(crate) fn expected(
        copy: Verp,
        from: ApiAddress,
        to: ApiAddress,
        subject: &str,
        received: Millis,
    ) -> Result<Self, Error> {
        let envelope = StoredEnvelope {
            to: vec![to.address.clone()],
            ..StoredEnvelope::default()
        };
        let summary = Summary {
            from,
            to: vec![to],
            subject: collapse(subject, usize::MAX),
            ..Summary::default()
        };
        let digest = Digest {
            search: words(&envelope, &summary, "", ""),
            summary,
            ..Digest::default()
        };
        Ok(Self {
            is_recorded: false,
            copy: Some(copy),
            status: DeliveryStatus::Queued,
            ..Self::recorded(digest, &envelope, received, &[])?
        })
    }

    /// The most bytes that the mail takes. A page that a text overflows holds four bytes less, and
    /// one page in eight hundred holds the positions of the others.
    pub(crate) fn space(&self, raw: &[u8]) -> u64 {
        let bytes = u64::try_from(self.size + raw.len()).unwrap_or(u64::MAX);
        bytes.saturating_add(bytes / 64).saturating_add(PAGES)
    }
}

#[cfg(test)]
mod tests {
    use posthaste_mime::read::ParsedMail;
    use proptest::prelude::*;

    use super::*;
    use crate::mail::leaf;

    #[test]
    fn a_snippet_says_that_it_is_cut() {
        assert_eq!(snippet(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(snippet(&"é".repeat(201)), format!("{}...", "é".repeat(200)));
    }

    #[test]
    fn blind_recipients_are_those_no_header_names() {
        let envelope = StoredEnvelope {
            to: vec!["ANN@x.co".into(), "eve@x.co".into()],
            ..StoredEnvelope::default()
        };
        let raw = b"From: f@x.co\r\nTo: Ann <ann@x.co>\r\nSubject: a\r\n b\r\n\r\nhello";
        let digest = digest(&envelope, raw);
        let bcc: Vec<_> = digest.summary.bcc.iter().map(|a| &a.address).collect();
        assert_eq!(bcc, ["eve@x.co"]);
        assert_eq!(digest.summary.subject, "a b");
        assert_eq!(digest.summary.snippet, "hello");
        assert!(digest.search.all.contains("eve@x.co"));
    }

    #[test]
    fn the_index_entry_of_a_large_mail_is_small() {
        let long = "x".repeat(1 << 20);
        let list = format!("{long}@x.co, ").repeat(4);
        let part = format!("--b\r\nContent-Type: a/b; name=\"{long}\"\r\n\r\n\r\n").repeat(4);
        let raw = format!(
            "From: {list}\r\nTo: {list}\r\nCc: {list}\r\nBcc: {list}\r\nReply-To: {list}\r\n\
             Subject: {long}\r\nMessage-ID: <{long}>\r\n\
             Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n{long}\r\n{part}--b--"
        );
        let Digest {
            summary, search, ..
        } = digest(&StoredEnvelope::default(), raw.as_bytes());
        assert!(summary.subject.len() <= 1 << 16);
        assert!(summary.message_id.len() <= 1_000);
        for list in [&summary.to, &summary.cc, &summary.bcc, &summary.reply_to] {
            let bytes: usize = list.iter().map(|a| a.name.len() + a.address.len()).sum();
            assert!(bytes <= 1 << 16, "{bytes}");
        }
        assert!(search.all.len() < 9 << 16, "{}", search.all.len());
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(raw in proptest::collection::vec(any::<u8>(), 0..600)) {
            let digest = digest(&StoredEnvelope::default(), &raw);
            prop_assert!(digest.summary.snippet.chars().count() <= SNIPPET + 3);
        }

        #[test]
        fn no_mime_like_text_makes_the_reader_panic(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just("--b".to_owned()), Just("--b--".to_owned()), Just(String::new()),
                    Just("Content-Type: multipart/mixed; boundary=b".to_owned()),
                    Just("Content-Type: multipart/alternative; boundary=\"b\"".to_owned()),
                    Just("Content-Type: message/rfc822".to_owned()),
                    Just("Content-Type: text/html; charset=utf-16".to_owned()),
                    Just("Content-Transfer-Encoding: base64".to_owned()),
                    Just("Content-Transfer-Encoding: quoted-printable".to_owned()),
                    Just("Content-Disposition: attachment; filename*=utf-8''%ff%00".to_owned()),
                    "[ -~]{0,40}",
                ],
                0..40,
            )
        ) {
            let raw = lines.join("\r\n");
            digest(&StoredEnvelope::default(), raw.as_bytes());
            let mail = ParsedMail::read(raw.as_bytes());
            for file in files(&mail) {
                file.part.bytes();
                assert!(leaf(&mail, &file.id).is_some());
            }
        }
    }
}
