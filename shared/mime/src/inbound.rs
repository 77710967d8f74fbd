//! A received mail as the fields of an inbound POST (API facts, section 4).

mod encode;
mod sort;

use std::borrow::Cow;
use std::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::parse::charset::UTF8;
use crate::parse::{Entity, LONGEST, Place, text};
use sort::{Body, File, Sorted};

/// What is known about a mail besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The return path; empty for the null sender of bounces.
    pub envelope_from: &'a str,
    /// The one recipient this POST is for.
    pub envelope_to: &'a str,
    /// Who handed the mail in; unknown for mails read back from a store without it.
    pub sender_ip: Option<IpAddr>,
    pub spf: Spf,
    /// One per checked signature.
    pub dkim: &'a [Signature],
    /// Only with `spam_check`.
    pub spam: Option<&'a Spam>,
}

/// Result of the SPF check (RFC 7208, section 2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spf {
    Pass,
    Fail,
    SoftFail,
    Neutral,
    #[default]
    None,
    TempError,
    PermError,
}

impl Spf {
    /// As it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::SoftFail => "softfail",
            Self::Neutral => "neutral",
            Self::None => "none",
            Self::TempError => "temperror",
            Self::PermError => "permerror",
        }
    }
}

/// One DKIM signature after its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The signing domain, `d=`.
    pub domain: String,
    pub passed: bool,
}

/// What the spam filter found.
#[derive(Clone, Debug, PartialEq)]
pub struct Spam {
    pub score: f64,
    /// Several lines, as the filter wrote them.
    pub report: String,
}

/// Which fields a POST has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Texts and attachments taken apart.
    Parsed,
    /// The whole mail in the field `email` (`send_raw`).
    Raw,
}

/// The fields of one POST, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form<'a> {
    pub entries: Vec<Entry<'a>>,
}

/// One field or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub name: Cow<'static, str>,
    pub value: Cow<'a, [u8]>,
    /// Only files have one.
    pub file: Option<FileFacts>,
}

/// What a file part says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub filename: String,
    /// With its charset for text.
    pub content_type: String,
}

/// Takes a mail apart into the fields of its POST.
///
/// Never fails: what cannot be read is posted as it is. Nesting ends at 32 levels and reading at
/// 1,000 parts; what lies beyond becomes one attachment for each open level. The decoded headers
/// `to`, `cc`, `from` and `subject` hold at most 1 MiB each.
///
/// Several texts of one kind and charset are joined; of another charset, or as alternatives of
/// each other, the later ones become attachments. Attachments without a name get one.
pub fn form<'a>(raw: &'a [u8], facts: &Facts<'_>, mode: Mode) -> Form<'a> {
    match mode {
        Mode::Parsed => parsed(raw, facts),
        Mode::Raw => whole(raw, facts),
    }
}

fn parsed<'a>(raw: &'a [u8], facts: &Facts<'_>) -> Form<'a> {
    let mail = Entity::read(raw);
    let sorted = Sorted::read(mail);
    let people = People::read(mail, sorted.fallback_charset());
    let mut charsets = people.charsets();
    let ids = sorted.content_ids();
    let info = sorted.info();
    let Sorted { text, html, files } = sorted;

    let mut form = Form { entries: vec![] };
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

fn whole<'a>(raw: &'a [u8], facts: &Facts<'_>) -> Form<'a> {
    let people = People::read(Entity::read(raw), "");
    let charsets = people.charsets();
    let mut form = Form { entries: vec![] };
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

/// The decoded headers of a form.
struct People {
    to: String,
    cc: Option<String>,
    from: String,
    subject: String,
}

impl People {
    fn read(mail: Entity<'_>, fallback: &str) -> Self {
        let (mut to, mut cc) = (String::new(), String::new());
        let (mut from, mut subject) = (None, None);
        for (name, value) in mail.fields().iter() {
            // A second `To` is wrong (RFC 5322, section 3.6), but nobody on it should be lost.
            if name.eq_ignore_ascii_case(b"to") {
                append(&mut to, value, fallback);
            } else if name.eq_ignore_ascii_case(b"cc") {
                append(&mut cc, value, fallback);
            } else if name.eq_ignore_ascii_case(b"from") {
                from = from.or(Some(value));
            } else if name.eq_ignore_ascii_case(b"subject") {
                subject = subject.or(Some(value));
            }
        }
        Self {
            to,
            cc: (!cc.is_empty()).then_some(cc),
            from: text(from.unwrap_or_default(), Place::Addresses, fallback),
            subject: text(subject.unwrap_or_default(), Place::Text, fallback),
        }
    }

    fn charsets(&self) -> Map<String, Value> {
        let names = ["to", "from", "subject"].into_iter();
        let names = names.chain(self.cc.is_some().then_some("cc"));
        names.map(|name| (name.to_owned(), UTF8.into())).collect()
    }
}

/// Adds the addresses of one field to those of the fields before it.
fn append(list: &mut String, value: &[u8], fallback: &str) {
    if list.len() >= LONGEST {
        return;
    }
    let more = text(value, Place::Addresses, fallback);
    if !list.is_empty() && !more.is_empty() {
        list.push_str(", ");
    }
    list.push_str(&more);
}

/// `{@example.com : pass}`, or `none`.
fn dkim(signatures: &[Signature]) -> String {
    if signatures.is_empty() {
        return "none".to_owned();
    }
    let results: Vec<_> = signatures
        .iter()
        .map(|s| format!("@{} : {}", s.domain, if s.passed { "pass" } else { "fail" }))
        .collect();
    format!("{{{}}}", results.join(", "))
}

impl<'a> Form<'a> {
    /// The first entry of this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.value.as_ref())
    }

    /// The value of the `Content-Type` header, and the body.
    ///
    /// The boundary is `xYzZY`, which receivers have come to know, unless the content holds it.
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
        self.entries.push(Entry {
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
        self.entries.push(Entry {
            name: name.into(),
            value: Cow::Borrowed(value),
            file: None,
        });
    }

    fn body(
        &mut self,
        name: &'static str,
        body: Option<Body<'a>>,
        charsets: &mut Map<String, Value>,
    ) {
        if let Some(body) = body {
            charsets.insert(name.to_owned(), body.charset.as_str().into());
            self.entries.push(Entry {
                name: name.into(),
                value: body.into_bytes(),
                file: None,
            });
        }
    }

    fn file(&mut self, n: usize, file: File<'a>) {
        self.entries.push(Entry {
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
    fn check(form: &Form<'_>, name: &str, want: Option<&str>) {
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
