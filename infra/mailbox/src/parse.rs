//! From the bytes of a mail to what the list, the search and the page need.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use mail_parser::{HeaderName, Message, MessageParser, PartType};

use crate::address::{self, Address};
use crate::parts::{self, Role};
use crate::{Envelope, Summary, prose};

/// Letters of the body that a search looks through.
const SEARCHED: usize = 64 * 1024;
/// Bytes of HTML that are turned into text for the search and the snippet.
const CONVERTED: usize = 256 * 1024;
/// Letters of a snippet before it is cut.
const SNIPPET: usize = 200;

/// What is indexed of one mail; the store adds id, time and size.
#[derive(Default)]
pub(crate) struct Digest {
    pub summary: Summary,
    pub inlines: usize,
    pub search: Words,
}

/// Lower-case text of each field that a search can name.
#[derive(Default)]
pub(crate) struct Words {
    pub from: String,
    pub to: String,
    pub cc: String,
    pub bcc: String,
    pub reply_to: String,
    pub recipients: String,
    pub subject: String,
    pub all: String,
}

/// Reads a mail and hands it to `look`. `None` when it cannot be read at all.
///
/// A parser that panics on a mail nobody foresaw must cost that mail, not the mailbox.
pub(crate) fn with<T>(raw: &[u8], look: impl FnOnce(&Message<'_>) -> T) -> Option<T> {
    static PARSER: LazyLock<MessageParser> = LazyLock::new(MessageParser::default);
    let read = AssertUnwindSafe(|| PARSER.parse(raw).map(|message| look(&message)));
    catch_unwind(read).ok().flatten()
}

/// The index entry of a mail; an unreadable one still has its envelope.
pub(crate) fn digest(envelope: &Envelope, raw: &[u8]) -> Digest {
    with(raw, |message| read(envelope, message)).unwrap_or_else(|| {
        let mut digest = Digest::default();
        digest.summary.from.address.clone_from(&envelope.from);
        digest.summary.bcc = hidden(envelope, &[]);
        digest.search = words(envelope, &digest.summary, "", "");
        digest
    })
}

fn read(envelope: &Envelope, message: &Message<'_>) -> Digest {
    let [to, cc, mut bcc, reply_to] = [
        HeaderName::To,
        HeaderName::Cc,
        HeaderName::Bcc,
        HeaderName::ReplyTo,
    ]
    .map(|header| address::all(message, header));
    bcc.extend(hidden(envelope, &[&to, &cc, &bcc]));
    let files = parts::files(message);
    let body = preview(message);
    let summary = Summary {
        message_id: message.message_id().unwrap_or_default().to_owned(),
        from: address::all(message, HeaderName::From)
            .into_iter()
            .next()
            .unwrap_or_default(),
        to,
        cc,
        bcc,
        reply_to,
        subject: subject(message),
        attachments: files.iter().filter(|f| f.role == Role::Attachment).count(),
        snippet: snippet(&body),
        ..Summary::default()
    };
    let names: Vec<_> = files.iter().map(parts::Leaf::name).collect();
    Digest {
        inlines: files.iter().filter(|f| f.role == Role::Inline).count(),
        search: words(envelope, &summary, &body, &names.join(" ")),
        summary,
    }
}

/// The subject on one line.
pub(crate) fn subject(message: &Message<'_>) -> String {
    collapse(message.subject().unwrap_or_default(), usize::MAX)
}

/// Recipients that no header names: the blind copies. Mailpit shows them as `Bcc` too.
fn hidden(envelope: &Envelope, named: &[&Vec<Address>]) -> Vec<Address> {
    let named = |to: &str| named.iter().any(|list| list.iter().any(|a| a.is(to)));
    envelope
        .to
        .iter()
        .filter(|to| !named(to))
        .map(|to| Address {
            name: String::new(),
            address: to.clone(),
        })
        .collect()
}

/// The HTML body, all HTML parts of it; empty when the mail has none.
pub(crate) fn html(message: &Message<'_>) -> String {
    bodies(message, &message.html_body, |body| match body {
        PartType::Html(html) => Some(html.as_ref().to_owned()),
        _ => None,
    })
}

/// The text body as it was sent; empty when the mail has none.
pub(crate) fn plain(message: &Message<'_>) -> String {
    bodies(message, &message.text_body, |body| match body {
        PartType::Text(text) => Some(text.as_ref().to_owned()),
        _ => None,
    })
}

/// The text body, made from the HTML where a mail has no text of its own (as Mailpit does).
pub(crate) fn text(message: &Message<'_>) -> String {
    let plain = plain(message);
    if plain.trim().is_empty() {
        prose::from(&html(message))
    } else {
        plain
    }
}

fn bodies(
    message: &Message<'_>,
    parts: &[u32],
    wanted: impl Fn(&PartType<'_>) -> Option<String>,
) -> String {
    let found: Vec<_> = parts
        .iter()
        .filter_map(|index| wanted(&message.part(*index)?.body))
        .collect();
    found.join("\n")
}

fn preview(message: &Message<'_>) -> String {
    let plain = plain(message);
    if plain.trim().is_empty() {
        prose::from(head(&html(message), CONVERTED))
    } else {
        plain
    }
}

fn snippet(body: &str) -> String {
    let snippet = collapse(body, SNIPPET);
    // Two more: a space and the letter after it.
    let more = collapse(body, SNIPPET + 2).len() > snippet.len();
    format!("{snippet}{}", if more { "..." } else { "" })
}

fn words(envelope: &Envelope, summary: &Summary, body: &str, names: &str) -> Words {
    let list = |list: &[Address]| {
        let shown: Vec<_> = list.iter().map(Address::shown).collect();
        shown.join(" ").to_lowercase()
    };
    let mut words = Words {
        from: list(std::slice::from_ref(&summary.from)),
        to: list(&summary.to),
        cc: list(&summary.cc),
        bcc: list(&summary.bcc),
        reply_to: list(&summary.reply_to),
        recipients: envelope.to.join(" ").to_lowercase(),
        subject: summary.subject.to_lowercase(),
        all: String::new(),
    };
    let body = collapse(body, SEARCHED).to_lowercase();
    words.all = [
        words.subject.as_str(),
        &words.from,
        &words.to,
        &words.cc,
        &words.bcc,
        &words.reply_to,
        &words.recipients,
        &names.to_lowercase(),
        &body,
    ]
    .join("\n");
    words
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(snippet(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(snippet(&"é".repeat(201)), format!("{}...", "é".repeat(200)));
    }

    #[test]
    fn blind_recipients_are_those_no_header_names() {
        let envelope = Envelope {
            to: vec!["ANN@x.co".into(), "eve@x.co".into()],
            ..Envelope::default()
        };
        let raw = b"From: f@x.co\r\nTo: Ann <ann@x.co>\r\nSubject: a\r\n b\r\n\r\nhello";
        let digest = digest(&envelope, raw);
        let bcc: Vec<_> = digest.summary.bcc.iter().map(|a| &a.address).collect();
        assert_eq!(bcc, ["eve@x.co"]);
        assert_eq!(digest.summary.subject, "a b");
        assert_eq!(digest.summary.snippet, "hello");
        assert!(digest.search.all.contains("eve@x.co"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(raw in proptest::collection::vec(any::<u8>(), 0..600)) {
            let digest = digest(&Envelope::default(), &raw);
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
            digest(&Envelope::default(), raw.as_bytes());
            with(raw.as_bytes(), |message| {
                for leaf in parts::files(message) {
                    parts::bytes(raw.as_bytes(), leaf.part);
                    assert!(parts::find(message, &leaf.id).is_some());
                }
            });
        }
    }
}
