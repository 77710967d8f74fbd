//! The inbound corpus: each mail of `tests/corpus/inbound` becomes the form beside it.

use std::fs;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use posthaste_mime::inbound::{Facts, FormEntry, Mode, Signature, Spf, form};
use posthaste_mime::report::{self, MailReport, Original, ReportAction};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

struct Case {
    name: String,
    raw: Vec<u8>,
    want: Value,
}

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/inbound");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "eml") {
            let want = fs::read(path.with_extension("json")).unwrap();
            cases.push(Case {
                name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
                raw: fs::read(&path).unwrap(),
                want: serde_json::from_slice(&want).unwrap(),
            });
        }
    }
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    cases
}

pub(crate) fn facts(dkim: &[Signature]) -> Facts<'_> {
    Facts {
        envelope_from: "bounce@example.com",
        envelope_to: "inbox@parse.example",
        sender_ip: Some([192, 0, 2, 1].into()),
        received: None,
        spf: Spf::Pass,
        dkim,
        spam: None,
    }
}

pub(crate) fn signed() -> [Signature; 1] {
    let domain = "example.com".to_owned();
    [Signature {
        domain,
        passed: true,
    }]
}

/// An entry as the corpus writes it.
fn written(entry: &FormEntry<'_>, want: &Value) -> Value {
    let bytes = entry.value.as_ref();
    let value = match want.get(1) {
        Some(blob) if blob.get("sha256").is_some() => {
            let hash: String = Sha256::digest(bytes)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            json!({ "sha256": hash, "length": bytes.len() })
        }
        Some(blob) if blob.get("base64").is_some() => {
            json!({ "base64": BASE64_STANDARD.encode(bytes) })
        }
        Some(Value::Object(_)) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
        _ => Value::String(String::from_utf8_lossy(bytes).into_owned()),
    };
    match &entry.file {
        Some(file) => {
            json!([entry.name, value, { "filename": file.filename, "type": file.content_type }])
        }
        None => json!([entry.name, value]),
    }
}

#[test]
fn every_mail_becomes_its_form() {
    let signed = signed();
    let mut wrong = Vec::new();
    for case in cases() {
        let form = form(&case.raw, &facts(&signed), Mode::Parsed);
        let want = case.want["form"].as_array().unwrap();
        let nothing = Value::Null;
        let got: Vec<_> = form
            .entries
            .iter()
            .enumerate()
            .map(|(at, entry)| written(entry, want.get(at).unwrap_or(&nothing)))
            .collect();
        for at in 0..got.len().max(want.len()) {
            if got.get(at) != want.get(at) {
                wrong.push(format!(
                    "{}\n   got  {:.300}\n   want {:.300}",
                    case.name,
                    got.get(at).unwrap_or(&nothing).to_string(),
                    want.get(at).unwrap_or(&nothing).to_string()
                ));
                break;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn raw_mode_posts_every_byte_and_no_parts() {
    let signed = signed();
    for case in cases() {
        let form = form(&case.raw, &facts(&signed), Mode::Raw);
        assert_eq!(form.get("email"), Some(&case.raw[..]), "{}", case.name);
        let names: Vec<_> = form.entries.iter().map(|e| e.name.as_ref()).collect();
        let mut want = vec![
            "email",
            "dkim",
            "to",
            "cc",
            "from",
            "sender_ip",
            "envelope",
            "subject",
            "charsets",
            "SPF",
        ];
        want.retain(|name| *name != "cc" || form.get("cc").is_some());
        assert_eq!(names, want, "{}", case.name);
        let parsed = posthaste_mime::inbound::form(&case.raw, &facts(&signed), Mode::Parsed);
        // Only the charset of stray bytes is guessed without the body.
        if case.want["form"].to_string().is_ascii() {
            assert_eq!(form.get("subject"), parsed.get("subject"), "{}", case.name);
        }
    }
}

#[test]
fn every_form_reads_back_from_its_bytes() {
    let signed = signed();
    for case in cases() {
        let form = form(&case.raw, &facts(&signed), Mode::Parsed);
        let (content_type, body) = form.encode();
        let boundary = content_type
            .strip_prefix("multipart/form-data; boundary=")
            .unwrap();
        let delimiter = format!("\r\n--{boundary}");
        let mut whole = b"\r\n".to_vec();
        whole.extend_from_slice(&body);
        let pieces: Vec<_> = split(&whole, delimiter.as_bytes());
        assert_eq!(pieces.len(), form.entries.len() + 2, "{}", case.name);
        for (piece, entry) in pieces[1..].iter().zip(&form.entries) {
            let end = piece.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
            assert_eq!(&piece[end + 4..], entry.value.as_ref(), "{}", case.name);
            let head = std::str::from_utf8(&piece[..end]).unwrap();
            let lines = head.trim_start().split("\r\n").count();
            assert_eq!(
                lines,
                if entry.file.is_some() { 2 } else { 1 },
                "{}",
                case.name
            );
        }
        assert_eq!(*pieces.last().unwrap(), b"--\r\n", "{}", case.name);
    }
}

fn split<'a>(text: &'a [u8], at: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for found in memchr::memmem::find_iter(text, at) {
        pieces.push(&text[from..found]);
        from = found + at.len();
    }
    pieces.push(&text[from..]);
    pieces
}

fn original(original: &Original) -> Value {
    json!({ "message_id": original.message_id(), "subject": original.header("subject") })
}

fn described(report: MailReport) -> Value {
    match report {
        MailReport::Delivery(delivery) => {
            let recipients: Vec<_> = delivery
                .recipients
                .iter()
                .map(|r| {
                    let action = match r.action {
                        ReportAction::Failed => "failed",
                        ReportAction::Delayed => "delayed",
                        ReportAction::Delivered => "delivered",
                        ReportAction::Relayed => "relayed",
                        ReportAction::Expanded => "expanded",
                    };
                    json!({
                        "address": r.address, "original": r.original, "action": action,
                        "status": r.status, "diagnostic": r.diagnostic, "remote_mta": r.remote_mta,
                    })
                })
                .collect();
            let original = original(&delivery.original);
            json!({ "kind": "delivery", "recipients": recipients, "original": original })
        }
        MailReport::Complaint(c) => json!({
            "kind": "complaint", "feedback_type": c.feedback_type, "recipients": c.recipients,
            "mail_from": c.mail_from, "source_ip": c.source_ip, "user_agent": c.user_agent,
            "original": original(&c.original),
        }),
    }
}

#[test]
fn reports_and_automatic_replies_are_recognised() {
    let mut reports = 0;
    for case in cases() {
        let got = report::read(&case.raw).map(described);
        reports += usize::from(got.is_some());
        assert_eq!(got.as_ref(), case.want.get("report"), "{}", case.name);
        let auto = report::is_auto_reply(&case.raw, "ann@example.com");
        assert_eq!(json!(auto), case.want["auto_reply"], "{}", case.name);
        assert!(report::is_auto_reply(&case.raw, ""), "{}", case.name);
        assert!(report::is_auto_reply(&case.raw, "<>"), "{}", case.name);
        let daemon = "MAILER-DAEMON@mx.example.com";
        assert!(report::is_auto_reply(&case.raw, daemon), "{}", case.name);
    }
    assert!(reports >= 10, "only {reports} reports");
}
