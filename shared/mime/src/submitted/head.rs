//! The header of a submitted mail, as far as it is used.

use posthaste_model::Mailbox;

use super::flaw::Flaw;
use super::mailboxes::mailboxes;
use crate::parse::{Entity, WordContext, text, unfolded};

/// Longest Message-ID that is reused, in characters.
const LONGEST_ID: usize = 250;

/// A longer `X-SMTPAPI`, in octets, counts as invalid JSON without being parsed.
const LONGEST_INSTRUCTIONS: usize = 4 * 1024 * 1024;

/// The content of the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubmittedHead {
    /// The only author; `None` when `From` is missing, unreadable, or names several: sender
    /// verification and readers must see the same author.
    pub from: Option<Mailbox>,
    pub subject: String,
    /// The reply addresses; empty when `Reply-To` is missing or not fully readable.
    pub reply_to: Vec<Mailbox>,
    /// Without angle brackets.
    pub message_id: Option<String>,
    /// Hosts that the mail passed through.
    pub hops: usize,
    /// The value of `X-SMTPAPI` on one line; `None` without the header or when it is empty.
    pub instructions: Option<String>,
    /// Why receivers may interpret the header differently.
    pub flaw: Option<Flaw>,
}

impl SubmittedHead {
    /// Reads the header of a message.
    pub fn read(raw: &[u8]) -> Self {
        let mut head = Self {
            flaw: Flaw::find(raw),
            ..Self::default()
        };
        let (mut authors, mut answers) = (Vec::new(), Vec::new());
        let (mut subject, mut id, mut api) = (None, None, None);
        for (name, value) in Entity::read(raw).fields().iter() {
            let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
            if is("received") {
                head.hops += 1;
            } else if is("from") {
                authors.push(value);
            } else if is("reply-to") {
                answers.push(value);
            } else if is("subject") {
                subject = subject.or(Some(value));
            } else if is("message-id") {
                // One that names no mail is not passed on.
                id = id.or(Some(value).filter(|id| id.iter().any(u8::is_ascii_alphanumeric)));
            } else if is("x-smtpapi") {
                api = api.or(Some(value));
            }
        }
        if let [author] = authors.as_slice() {
            head.from = only(author);
        }
        if let [answer] = answers.as_slice() {
            head.reply_to = mailboxes(answer).unwrap_or_default();
        }
        head.subject = text(subject.unwrap_or_default(), WordContext::Text, "");
        head.message_id = id.and_then(message_id);
        head.instructions = api.map(one_line).filter(|value| !value.is_empty());
        head
    }
}

/// The one mailbox of an address field.
fn only(value: &[u8]) -> Option<Mailbox> {
    let mut all = mailboxes(value).ok()?;
    let one = all.pop();
    one.filter(|_| all.is_empty())
}

/// `left@right` in angle brackets and nothing else (RFC 5322, section 3.6.4).
fn message_id(value: &[u8]) -> Option<String> {
    let value = unfolded(value);
    let text = std::str::from_utf8(&value).ok()?.trim();
    let id = text.strip_prefix('<')?.strip_suffix('>')?;
    let plain = |b: u8| b.is_ascii_graphic() && b != b'<' && b != b'>';
    let fits = (3..=LONGEST_ID).contains(&id.len()) && id.bytes().all(plain);
    fits.then(|| id.to_owned())
}

/// Folds are undone; a tab in one would make the JSON invalid. Mail programs may encode some of the
/// value's words: they are decoded only where the value is not JSON otherwise, because its texts
/// may contain encoded words of their own.
fn one_line(value: &[u8]) -> String {
    let line = unfolded(value);
    let line = String::from_utf8_lossy(&line);
    let line = line.trim().replace(|c: char| c.is_control(), " ");
    let is_json = || serde_json::from_str::<serde_json::Value>(&line).is_ok();
    if !line.contains("=?") || line.len() > LONGEST_INSTRUCTIONS || is_json() {
        return line;
    }
    text(value, WordContext::Text, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn author(header: &str, want: Option<(&str, Option<&str>)>) {
        let head = SubmittedHead::read(format!("{header}\r\n\r\n").as_bytes());
        let got = head.from.as_ref();
        let got = got.map(|m| (m.email.as_str(), m.name.as_deref()));
        assert_eq!(got, want, "{header}");
    }

    #[test]
    fn there_is_one_author_or_none() {
        author("From: a@example.com", Some(("a@example.com", None)));
        author(
            "from: =?utf-8?Q?J=C3=B6rg?= <a@example.com>",
            Some(("a@example.com", Some("Jörg"))),
        );
        author(
            "From: \"Smith, Ann\"\r\n\t<a@example.com>",
            Some(("a@example.com", Some("Smith, Ann"))),
        );
        author("From: a@example.com, b@example.com", None);
        author("From: a@example.com\r\nFrom: b@example.com", None);
        author("From: friends: a@example.com, b@example.com;", None);
        author("From: nobody", None);
        author("From:", None);
        author("Sender: a@example.com", None);
    }

    #[test]
    fn the_rest_is_read_too() {
        let raw = b"Received: from a\r\n by b\r\nReceived: x\r\nMessage-ID:\r\n <a.b@example.com>\r\n\
            Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nX-SmtpApi: {\"to\":\r\n\t[\"a\"],\r\n \"sub\": {}}\r\n\r\nx";
        let head = SubmittedHead::read(raw);
        assert_eq!(head.hops, 2);
        assert_eq!(head.message_id.as_deref(), Some("a.b@example.com"));
        assert_eq!(head.subject, "Grüße");
        let want = "{\"to\": [\"a\"], \"sub\": {}}";
        assert_eq!(head.instructions.as_deref(), Some(want));
    }

    #[test]
    fn lines_that_are_no_field_hide_nothing() {
        for broken in [
            "P8Fxcut",
            "un indented: x",
            "and on it goes",
            "From a@b Mon 10:11:12",
        ] {
            let raw = format!("From: a@example.com\r\n{broken}\r\n folded\r\nSubject: x\r\n\r\ny");
            for raw in [
                raw.clone(),
                format!("\u{feff}{raw}"),
                format!("{broken}\r\n{raw}"),
            ] {
                let head = SubmittedHead::read(raw.as_bytes());
                let from = head.from.map(|from| from.email.as_str().to_owned());
                assert_eq!(from.as_deref(), Some("a@example.com"), "{raw:?}");
                assert_eq!((head.subject.as_str(), head.flaw), ("x", None), "{raw:?}");
            }
        }
    }

    #[test]
    fn answers_go_to_one_list_that_can_be_read() {
        for (header, want) in [
            (
                "Reply-To: A <a@example.com>,\r\n b@example.com",
                &["a@example.com", "b@example.com"][..],
            ),
            ("Reply-To: -n- <a+-n-@example.com>", &["a+-n-@example.com"]),
            ("Reply-To: a@example.com, nobody", &[]),
            ("Reply-To: a@example.com\r\nReply-To: b@example.com", &[]),
            ("Reply-To:", &[]),
            ("X-Reply-To: a@example.com", &[]),
        ] {
            let head = SubmittedHead::read(format!("{header}\r\n\r\n").as_bytes());
            let got: Vec<_> = head.reply_to.iter().map(|m| m.email.as_str()).collect();
            assert_eq!(got, want, "{header}");
        }
    }

    #[test]
    fn instructions_may_be_encoded_words_or_nothing() {
        let read = |value: &str| {
            let raw = format!("X-SMTPAPI: {value}\r\n\r\n");
            SubmittedHead::read(raw.as_bytes()).instructions
        };
        let encoded = "=?utf-8?q?=7B=22category=22=3A?=\r\n =?utf-8?q?_=22caf=C3=A9=22=7D?=";
        assert_eq!(read(encoded).as_deref(), Some("{\"category\": \"café\"}"));
        assert_eq!(read("{\"a\":\"ü\"}").as_deref(), Some("{\"a\":\"ü\"}"));
        let partly = "{\"a\": =?utf-8?q?=5B=22J=C3=B6rg?= x\", =?utf-8?b?WyJKw7ZyZyIs?=\r\n =?utf-8?b?ICJab8OrIl19?=";
        let want = "{\"a\": [\"Jörg x\", [\"Jörg\", \"Zoë\"]}";
        assert_eq!(read(partly).as_deref(), Some(want));
        let own = "{\"a\": \"=?utf-8?q?=22?=\"}";
        assert_eq!(read(own).as_deref(), Some(own));
        assert_eq!(read(""), None);
        assert_eq!(read(" \r\n "), None);
    }

    #[test]
    fn ids_that_are_none_are_not_taken_over() {
        let raw = b"Message-ID: <>\r\nMessage-ID: <a@b>\r\n\r\n";
        let second = SubmittedHead::read(raw).message_id;
        assert_eq!(second.as_deref(), Some("a@b"));
        for id in ["a@b", "<a b@c>", "<>", "<a@b> (c)", "<a<b@c>", "<ä@b>"] {
            let raw = format!("Message-ID: {id}\r\n\r\n");
            assert_eq!(SubmittedHead::read(raw.as_bytes()).message_id, None, "{id}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(raw: Vec<u8>, from in "[ -~\r\n\t<>@,\":;()=?]{0,60}") {
            SubmittedHead::read(&raw);
            SubmittedHead::read(format!("From: {from}\r\nX-SMTPAPI: {from}\r\n\r\n").as_bytes());
        }
    }
}
