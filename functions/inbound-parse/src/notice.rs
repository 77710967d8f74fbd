//! Notices of SES about a mail it has received and stored in the bucket (SES developer guide,
//! "Contents of notifications for Amazon SES email receiving").

use std::net::IpAddr;

use posthaste_blob::BlobError;
use posthaste_queue::{Judged, Scored, SesReceipt};
use posthaste_runtime::WorkError;

use crate::accept::{ArrivedMail, MailFate, accept};
use crate::app::App;

/// SES names no domain with its DKIM verdict; the sender's domain is used.
fn judged(receipt: &SesReceipt) -> Judged {
    let spf = match receipt.spf.status.as_str() {
        "PASS" => "pass",
        "FAIL" => "fail",
        "GRAY" => "neutral",
        "PROCESSING_FAILED" => "temperror",
        _ => "none",
    };
    let domain = receipt.source.rsplit_once('@').map(|(_, domain)| domain);
    let dkim = match (domain, receipt.dkim.status.as_str()) {
        (Some(domain), status @ ("PASS" | "FAIL")) => {
            vec![(domain.to_owned(), status == "PASS")]
        }
        _ => Vec::new(),
    };
    let (spam, virus) = (&receipt.spam.status, &receipt.virus.status);
    let report = format!("SES: spam {spam}, virus {virus}");
    // SES has verdicts and no scores: 5 is SpamAssassin's default threshold. Without a verdict,
    // because the rule scans nothing or the scan failed, there is no score.
    let score = match (spam.as_str(), virus.as_str()) {
        ("FAIL", _) | (_, "FAIL") => Some(5.0),
        ("PASS", _) => Some(0.0),
        _ => None,
    };
    let (spam, unscored) = match score {
        Some(score) => (Some(Scored { score, report }), None),
        None => (None, Some(report)),
    };
    Judged {
        spf: spf.to_owned(),
        dkim,
        spam,
        unscored,
    }
}

/// Turns a mail in the bucket into jobs. A repeated notice is a no-op.
pub(crate) async fn take(app: &App, receipt: &SesReceipt) -> Result<(), WorkError> {
    let key = &receipt.object_key;
    let raw = match app.blob.get(key).await {
        Ok(raw) => raw,
        Err(BlobError::Missing(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let judged = judged(receipt);
    let arrived = ArrivedMail {
        from: &receipt.source,
        to: &receipt.recipients,
        ip: client(&raw),
        hello: "",
        // SES writes a `Received` field of its own.
        protocol: None,
        added: added(&raw),
        object: Some(key),
        judged: Some(&judged),
    };
    match accept(app, arrived, raw).await? {
        MailFate::Accepted(count) => {
            tracing::debug!("SES received a mail for {count} recipients");
        }
        MailFate::Loop => tracing::warn!("SES received a mail that is in a loop; it is dropped"),
    }
    app.blob.delete(key).await?;
    Ok(())
}

/// The maximum length of a header that is read.
const HEAD: usize = 64 * 1024;

/// The fields of a header, each with its line ends: name and value.
fn fields(raw: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = raw.get(..raw.len().min(HEAD)).unwrap_or_default();
    std::iter::from_fn(move || {
        let mut end = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            if end > 0 && !line.starts_with(b" ") && !line.starts_with(b"\t") {
                break;
            }
            end += line.len();
        }
        let (field, more) = rest.split_at_checked(end)?;
        rest = more;
        let colon = field.iter().position(|byte| *byte == b':')?;
        let (name, value) = field.split_at_checked(colon)?;
        Some((name, value.get(1..).unwrap_or_default()))
    })
}

/// The client that submitted the mail to SES: the address that ends the `from` clause of the first
/// `Received`, which SES wrote. `from HELLO (NAME [ADDRESS])` is on a line of its own; the client's
/// own name precedes the address and may contain anything.
fn client(raw: &[u8]) -> Option<IpAddr> {
    let mut all = fields(raw);
    let (_, value) = all.find(|(name, _)| name.eq_ignore_ascii_case(b"received"))?;
    let line = value.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let clause = if line.ends_with("])") {
        line
    } else {
        line.rsplit_once(" by ")?.0.trim_end()
    };
    let (_, address) = clause.strip_suffix("])")?.rsplit_once('[')?;
    address.trim_start_matches("IPv6:").parse().ok()
}

/// The length in octets of the fields that SES adds in front of a mail: `Return-Path`, one
/// `Received`, its verdicts and its receipt. They differ each time the same mail is submitted.
fn added(raw: &[u8]) -> usize {
    let (mut length, mut traced) = (0, false);
    for (name, value) in fields(raw) {
        let name = name.to_ascii_lowercase();
        let theirs = match name.as_slice() {
            b"return-path" | b"received-spf" => true,
            b"received" => !std::mem::replace(&mut traced, true),
            b"authentication-results" => value.trim_ascii().starts_with(b"amazonses.com"),
            other => other.starts_with(b"x-ses-"),
        };
        if !theirs {
            break;
        }
        length += name.len() + 1 + value.len();
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDED: &str = "Return-Path: <a@b>\r\n\
        Received: from x.example (x.example [192.0.2.7])\r\n by inbound-smtp.us-east-1.amazonaws.com \
        with SMTP id 1\r\n for x@y;\r\n Sat, 28 Nov 2026 11:00:00 +0000 (UTC)\r\n\
        X-SES-Spam-Verdict: PASS\r\n\
        Received-SPF: pass (spfCheck: domain of b) client-ip=192.0.2.7;\r\n\
        Authentication-Results: amazonses.com;\r\n spf=pass\r\n\
        X-SES-RECEIPT: AEFB\r\n";

    #[test]
    fn what_ses_puts_in_front_is_told_from_the_mail() {
        for mail in [
            "Received: from a by x.example; today\r\nFrom: a@b\r\n\r\nHi",
            "Authentication-Results: x.example; spf=pass\r\n\r\nHi",
            "From: a@b\r\nX-SES-RECEIPT: of another\r\n\r\nHi",
            "\r\nReceived: in the text",
            "no field\r\n",
            "",
        ] {
            assert_eq!(
                added(format!("{ADDED}{mail}").as_bytes()),
                ADDED.len(),
                "{mail}"
            );
        }
        assert_eq!(added(b"From: a@b\r\n\r\nHi"), 0);
        assert_eq!(added(b""), 0);
        // A header without an end is not read in full.
        let endless = format!("X-SES-A: {}", "x".repeat(2 * HEAD));
        assert_eq!(added(endless.as_bytes()), HEAD);
    }

    #[test]
    fn the_client_of_ses_is_read_from_what_ses_wrote() {
        let head = |clause: &str| {
            format!(
                "Return-Path: <a@b>\r\nReceived: from {clause}\r\n by inbound-smtp.us-east-1.amazonaws.com\r\n\r\nHi"
            )
        };
        for (clause, want) in [
            ("x.example (x.example [192.0.2.7])", Some("192.0.2.7")),
            (
                "x.example (unknown [IPv6:2001:db8::1])",
                Some("2001:db8::1"),
            ),
            // The client's own name is not trusted.
            ("[198.51.100.9] (x.example [192.0.2.7])", Some("192.0.2.7")),
            (
                "([198.51.100.9]) (x.example [192.0.2.7])",
                Some("192.0.2.7"),
            ),
            (
                "a (b [198.51.100.9]) by c (x [192.0.2.7])",
                Some("192.0.2.7"),
            ),
            ("x.example (x.example [nonsense])", None),
            ("x.example ([192.0.2.7]) via x", None),
            ("[192.0.2.7]", None),
        ] {
            let want = want.and_then(|text| text.parse::<IpAddr>().ok());
            assert_eq!(client(head(clause).as_bytes()), want, "{clause}");
        }
        let one_line = b"Received: from x (x [192.0.2.7]) by inbound-smtp; today\r\n\r\n";
        assert_eq!(client(one_line), "192.0.2.7".parse().ok());
        // Another field whose name only begins or ends like it.
        for name in ["X-Received", "Received-SPF"] {
            let mail = format!("{name}: from x (x [192.0.2.7])\r\n\r\n");
            assert_eq!(client(mail.as_bytes()), None, "{name}");
        }
        assert_eq!(client(b""), None);
    }
}
