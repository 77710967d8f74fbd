//! The size of the mail that a request asks for.

use std::collections::BTreeMap;

use posthaste_mime::exceeds;
use posthaste_model::{Mail, Mailbox};

/// A mail is below 30 MiB with headers, body and attachments (SPEC, "Limits").
const LARGEST_MAIL: usize = 30 << 20;

/// Whether a copy, composed as the request has it, passes the limit of the whole mail.
pub(crate) fn is_too_large(mail: &Mail) -> bool {
    let people = |list: &[Mailbox]| -> usize {
        let one = |m: &Mailbox| m.email.as_str().len() + m.name.as_ref().map_or(0, String::len) * 3;
        list.iter().map(one).sum()
    };
    let map = |headers: &BTreeMap<String, String>| -> usize {
        let one = |(name, value): (&String, &String)| name.len() + value.len() * 3;
        headers.iter().map(one).sum()
    };
    let own = mail.personalizations.iter().map(|p| {
        let subject = p.subject.as_ref().or(mail.subject.as_ref());
        people(&p.to) + people(&p.cc) + map(&p.headers) + subject.map_or(0, String::len) * 3
    });
    let head = own.max().unwrap_or(0) + people(&mail.reply_to) + map(&mail.headers) + 4096;
    let body = LARGEST_MAIL.saturating_sub(head);
    exceeds(body, &mail.content, &mail.attachments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, decode_and_check};
    use posthaste_model::{Attachment, Content, Disposition, Timestamp};

    const MIB: usize = 1 << 20;

    fn mail(text: String, file: usize) -> Mail {
        let body = br#"{"personalizations":[{"to":[{"email":"a@b.co"}]}],"from":{"email":"c@d.co"},
            "subject":"Hi","content":[{"type":"text/plain","value":"x"}]}"#;
        let checked = decode_and_check(body, Timestamp(0), &Limits::default()).unwrap();
        let attachment = Attachment {
            content: "A".repeat(file / 4 * 4),
            mime_type: None,
            filename: "a".into(),
            disposition: Disposition::Attachment,
            content_id: None,
        };
        let content = Content {
            mime_type: "text/plain".into(),
            value: text,
        };
        Mail {
            content: vec![content],
            attachments: vec![attachment],
            ..checked.mail
        }
    }

    #[test]
    fn files_count_as_folded_base64() {
        // 76 characters and a line end.
        let largest = 30 * MIB / 78 * 76;
        assert!(!is_too_large(&mail("Hi".into(), largest - 76 * 80)));
        assert!(is_too_large(&mail("Hi".into(), largest)));
    }

    #[test]
    fn text_counts_as_it_is_encoded() {
        // Four thirds, and the line ends.
        assert!(!is_too_large(&mail("ü".repeat(10 * MIB), 0)));
        assert!(is_too_large(&mail("ü".repeat(12 * MIB), 0)));
        // ASCII in short lines goes as it is.
        let line = "plain text\r\n";
        let lines = |size: usize| line.repeat(size / line.len());
        assert!(!is_too_large(&mail(lines(30 * MIB - 8192), 0)));
        assert!(is_too_large(&mail(lines(30 * MIB), 0)));
    }

    #[test]
    fn headers_count() {
        let mut mail = mail("Hi".into(), 30 * MIB / 78 * 76 - 76 * 80);
        assert!(!is_too_large(&mail));
        mail.subject = Some("x".repeat(10_000));
        assert!(is_too_large(&mail));
    }
}
