//! Converts a received mail to the fields of an inbound POST (API facts, section 4).

mod encode;
mod facts;
mod named;
mod part;
mod people;
mod sort;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::parse::Entity;
use crate::parse::charset::UTF8;
use facts::dkim;
use people::People;
use sort::{File, Sorted, TextBody};

pub use facts::{Facts, Signature, Spam, Spf};

/// The fields of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Texts and attachments as separate fields.
    Parsed,
    /// The whole mail in the field `email` (`send_raw`).
    Raw,
}

/// The fields of one POST, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseForm<'a> {
    pub entries: Vec<FormEntry<'a>>,
}

/// One field or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormEntry<'a> {
    pub name: Cow<'static, str>,
    pub value: Cow<'a, [u8]>,
    /// Only files have one.
    pub file: Option<FileFacts>,
}

/// The headers of a file part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub filename: String,
    /// With its charset for text.
    pub content_type: String,
}

/// Converts a mail to the fields of its POST.
///
/// Never fails: unreadable parts are posted as they are. Nesting is limited to 32 levels and
/// reading to 1,000 parts; the rest becomes one attachment for each open level. The decoded headers
/// `to`, `cc`, `from` and `subject` hold at most 1 MiB each.
///
/// Several texts of one kind and charset are joined; of another charset, or as alternatives of
/// each other, the later ones become attachments. Attachments without a name get one.
pub fn form<'a>(raw: &'a [u8], facts: &Facts<'_>, mode: Mode) -> ParseForm<'a> {
    match mode {
        Mode::Parsed => parsed(raw, facts),
        Mode::Raw => whole(raw, facts),
    }
}

fn parsed<'a>(raw: &'a [u8], facts: &Facts<'_>) -> ParseForm<'a> {
    let mail = Entity::read(raw);
    let sorted = Sorted::read(mail);
    let people = People::read(mail, sorted.fallback_charset());
    let mut charsets = people.charsets();
    let ids = sorted.content_ids();
    let info = sorted.info();
    let Sorted {
        text, html, files, ..
    } = sorted;

    let mut form = ParseForm { entries: vec![] };
    form.bytes("headers", mail.header);
    form.text("dkim", dkim(facts.dkim));
    if !ids.is_empty() {
        form.text("content-ids", Value::Object(ids).to_string());
    }
    form.text("to", people.to);
    form.maybe("cc", people.cc);
    form.body("html", html, &mut charsets);
    form.text("from", people.from);
    form.body("text", text, &mut charsets);
    form.sender(facts);
    form.text("attachments", files.len().to_string());
    form.text("subject", people.subject);
    if !files.is_empty() {
        form.text("attachment-info", Value::Object(info).to_string());
        charsets.insert("filename".to_owned(), UTF8.into());
    }
    form.text("charsets", Value::Object(charsets).to_string());
    form.text("SPF", facts.spf.as_str().to_owned());
    for (n, file) in files.into_iter().enumerate() {
        form.file(n + 1, file);
    }
    form
}

fn whole<'a>(raw: &'a [u8], facts: &Facts<'_>) -> ParseForm<'a> {
    let people = People::read(Entity::read(raw), "");
    let charsets = people.charsets();
    let mut form = ParseForm { entries: vec![] };
    form.bytes("email", raw);
    form.text("dkim", dkim(facts.dkim));
    form.text("to", people.to);
    form.maybe("cc", people.cc);
    form.text("from", people.from);
    form.sender(facts);
    form.text("subject", people.subject);
    form.text("charsets", Value::Object(charsets).to_string());
    form.text("SPF", facts.spf.as_str().to_owned());
    form
}

impl<'a> ParseForm<'a> {
    /// The first entry of this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.value.as_ref())
    }

    /// The value of the `Content-Type` header, and the body.
    ///
    /// The boundary is `xYzZY`, as receivers expect, unless the content contains it.
    pub fn encode(&self) -> (String, Vec<u8>) {
        encode::form(self)
    }

    fn sender(&mut self, facts: &Facts<'_>) {
        if let Some(ip) = facts.sender_ip {
            self.text("sender_ip", ip.to_string());
        }
        if let Some(spam) = facts.spam {
            self.text("spam_report", spam.report.clone());
            self.text("spam_score", spam.score.to_string());
        }
        let envelope = json!({ "to": [facts.envelope_to], "from": facts.envelope_from });
        self.text("envelope", envelope.to_string());
    }

    fn text(&mut self, name: &'static str, value: String) {
        self.entries.push(FormEntry {
            name: name.into(),
            value: Cow::Owned(value.into_bytes()),
            file: None,
        });
    }

    fn maybe(&mut self, name: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn bytes(&mut self, name: &'static str, value: &'a [u8]) {
        self.entries.push(FormEntry {
            name: name.into(),
            value: Cow::Borrowed(value),
            file: None,
        });
    }

    fn body(
        &mut self,
        name: &'static str,
        body: Option<TextBody<'a>>,
        charsets: &mut Map<String, Value>,
    ) {
        if let Some(body) = body {
            charsets.insert(name.to_owned(), body.charset.as_str().into());
            self.entries.push(FormEntry {
                name: name.into(),
                value: body.into_bytes(),
                file: None,
            });
        }
    }

    fn file(&mut self, n: usize, file: File<'a>) {
        self.entries.push(FormEntry {
            name: format!("attachment{n}").into(),
            value: file.bytes,
            file: Some(FileFacts {
                filename: file.filename,
                content_type: file.content_type,
            }),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &[u8] = b"From: a@b\r\nTo: c@d\r\nSubject: x\r\n\r\nHi";

    fn facts<'a>(dkim: &'a [Signature], spam: Option<&'a Spam>) -> Facts<'a> {
        Facts {
            envelope_from: "",
            envelope_to: "c@d",
            sender_ip: Some([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()),
            spf: Spf::SoftFail,
            dkim,
            spam,
        }
    }

    fn signature(domain: &str, passed: bool) -> Signature {
        Signature {
            domain: domain.to_owned(),
            passed,
        }
    }

    #[track_caller]
    fn check(form: &ParseForm<'_>, name: &str, want: Option<&str>) {
        assert_eq!(form.get(name), want.map(str::as_bytes), "{name}");
    }

    #[test]
    fn facts_become_fields_in_both_modes() {
        let spam = Spam {
            score: 2.597,
            report: "Content analysis details:\n 0.0 X\n".to_owned(),
        };
        let dkim = [signature("a.example", true), signature("b.example", false)];
        for mode in [Mode::Parsed, Mode::Raw] {
            let form = form(MAIL, &facts(&dkim, Some(&spam)), mode);
            check(
                &form,
                "dkim",
                Some("{@a.example : pass, @b.example : fail}"),
            );
            check(&form, "SPF", Some("softfail"));
            check(&form, "spf", None);
            check(&form, "sender_ip", Some("2001:db8::1"));
            check(&form, "spam_score", Some("2.597"));
            check(&form, "spam_report", Some(&spam.report));
            check(&form, "envelope", Some(r#"{"from":"","to":["c@d"]}"#));
        }
    }

    #[test]
    fn what_was_not_checked_is_not_claimed() {
        let mut facts = facts(&[], None);
        facts.sender_ip = None;
        let form = form(MAIL, &facts, Mode::Parsed);
        check(&form, "dkim", Some("none"));
        for name in [
            "spam_score",
            "spam_report",
            "sender_ip",
            "cc",
            "html",
            "content-ids",
        ] {
            check(&form, name, None);
        }
        check(&form, "attachments", Some("0"));
        check(&form, "attachment-info", None);
        check(
            &form,
            "charsets",
            Some(r#"{"from":"UTF-8","subject":"UTF-8","text":"us-ascii","to":"UTF-8"}"#),
        );
    }
}
