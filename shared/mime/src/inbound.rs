//! Converts a received mail to the fields of an inbound POST (API facts, section 4).

mod content;
mod form;
mod named;
mod part;
mod people;
mod sort;

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::parse::charset::UTF8;
use crate::parse::{Entity, unfolded};
use content::Sorted;
use people::People;

pub use form::{FileFacts, FormEntry, ParseForm};

/// The fields of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Texts and attachments as separate fields.
    Parsed,
    /// The whole mail in the field `email` (`send_raw`).
    Raw,
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
    form.owned("headers", headers(mail, facts.received));
    form.text("dkim", dkim(facts.dkim));
    if !ids.is_empty() {
        form.text("content-ids", Value::Object(ids).to_string());
    }
    form.text("to", people.to);
    form.maybe("cc", people.cc);
    form.body("html", html, &mut charsets);
    form.text("from", people.from);
    form.body("text", text, &mut charsets);
    put_facts(&mut form, facts);
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
    put_facts(&mut form, facts);
    form.text("subject", people.subject);
    form.text("charsets", Value::Object(charsets).to_string());
    form.text("SPF", facts.spf.as_str().to_owned());
    form
}

/// The data about a mail besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The return path; empty for the null sender of bounces.
    pub envelope_from: &'a str,
    /// The one recipient this POST is for.
    pub envelope_to: &'a str,
    /// The client's address; absent for mails stored without it.
    pub sender_ip: Option<IpAddr>,
    /// The `Received` field of the service that took the mail, on one line; absent where the mail
    /// has it already. It comes first in `headers`; `email` stays as received.
    pub received: Option<&'a str>,
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
    /// Absent when no filter scored the mail: a score of 0 would call it ham.
    pub score: Option<f64>,
    /// Several lines, verbatim from the filter; or why there is no score.
    pub report: String,
}

/// The fields of the header, one a line: `Name: value` and LF. Folds are undone, and lines that are
/// no field are left out, because receivers split at each line end and at the first `: `.
fn headers(mail: Entity<'_>, received: Option<&str>) -> Vec<u8> {
    let mut text = Vec::with_capacity(mail.header.len());
    let mut put = |name: &[u8], value: &[u8]| {
        for piece in [name, b": ", value, b"\n"] {
            text.extend_from_slice(piece);
        }
    };
    if let Some(received) = received {
        put(b"Received", received.as_bytes());
    }
    let fields = mail.fields();
    for (name, value) in fields.iter().filter(|(name, _)| !name.is_empty()) {
        put(name, &unfolded(value));
    }
    text
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

fn put_facts(form: &mut ParseForm<'_>, facts: &Facts<'_>) {
    if let Some(ip) = facts.sender_ip {
        form.text("sender_ip", ip.to_string());
    }
    if let Some(spam) = facts.spam {
        form.text("spam_report", spam.report.clone());
        form.maybe("spam_score", spam.score.map(|score| score.to_string()));
    }
    let envelope = json!({ "to": [facts.envelope_to], "from": facts.envelope_from });
    form.text("envelope", envelope.to_string());
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
            received: None,
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
            score: Some(2.597),
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

    #[test]
    fn a_mail_that_was_not_scored_has_a_report_and_no_score() {
        let spam = Spam {
            score: None,
            report: "not checked".to_owned(),
        };
        for mode in [Mode::Parsed, Mode::Raw] {
            let form = form(MAIL, &facts(&[], Some(&spam)), mode);
            check(&form, "spam_score", None);
            check(&form, "spam_report", Some("not checked"));
        }
    }

    #[test]
    fn headers_are_one_unfolded_field_a_line_and_the_raw_mail_stays_as_received() {
        let mail = b"From ann Mon\r\nReceived: from a\r\n\tby b; x\r\nFrom: a@b\nReferences:\r\n <1@a>\r\n \
            <2@a>\r\nno field\r\nX-Tight:y\r\nX-Old : z\rz\r\n\r\nHi\n";
        let mut facts = facts(&[], None);
        facts.received = Some("from c by d; today");
        let want = "Received: from c by d; today\nReceived: from a\tby b; x\nFrom: a@b\nReferences: \
            <1@a> <2@a>\nX-Tight: y\nX-Old: zz\n";
        let parsed = form(mail, &facts, Mode::Parsed);
        check(&parsed, "headers", Some(want));
        let raw = form(mail, &facts, Mode::Raw);
        assert_eq!(raw.get("email"), Some(&mail[..]));
        check(&raw, "headers", None);
    }
}
