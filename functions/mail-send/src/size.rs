//! The size of the requested mail.

use std::collections::BTreeMap;

use posthaste_mime::{LARGEST_MAIL, exceeds};
use posthaste_model::{Content, Mail, Mailbox};

/// More than the two texts of a template can take in a mail: each has at most a mebibyte, and no
/// encoding makes more than three of one and a third in line ends.
const TEMPLATE: usize = 8 << 20;

/// Whether a copy, composed of the request with these texts, reaches the limit of the whole mail.
/// What rendering adds to them is measured when it is known: by `delivery`.
pub(crate) fn is_too_large(mail: &Mail, texts: &[Content]) -> bool {
    exceeds(room(mail), texts, &mail.attachments)
}

/// Whether the texts of a template could make the mail too large.
pub(crate) fn is_close(mail: &Mail) -> bool {
    let room = room(mail).saturating_sub(TEMPLATE);
    exceeds(room, &mail.content, &mail.attachments)
}

/// Octets that the headers leave for texts and files.
fn room(mail: &Mail) -> usize {
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
        let from = std::slice::from_ref(p.from.as_ref().unwrap_or(&mail.from));
        let own = people(&p.to) + people(&p.cc) + people(from) + map(&p.headers);
        own + subject.map_or(0, String::len) * 3
    });
    let head = own.max().unwrap_or(0) + people(&mail.reply_to) + map(&mail.headers) + 4096;
    LARGEST_MAIL.saturating_sub(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SendLimits, decode_and_check};
    use posthaste_model::{Attachment, Content, Disposition, Timestamp};

    const MIB: usize = 1 << 20;

    fn mail(text: String, file: usize) -> Mail {
        let body = br#"{"personalizations":[{"to":[{"email":"a@b.co"}]}],"from":{"email":"c@d.co"},
            "subject":"Hi","content":[{"type":"text/plain","value":"x"}]}"#;
        let checked = decode_and_check(body, Timestamp(0), &SendLimits::default()).unwrap();
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

    fn too_large(mail: &Mail) -> bool {
        is_too_large(mail, &mail.content)
    }

    #[test]
    fn files_count_as_folded_base64() {
        // 76 characters and a line end.
        let largest = 30 * MIB / 78 * 76;
        assert!(!too_large(&mail("Hi".into(), largest - 76 * 80)));
        assert!(too_large(&mail("Hi".into(), largest)));
    }

    #[test]
    fn text_counts_as_it_is_encoded() {
        // Four thirds, and the line ends.
        assert!(!too_large(&mail("ü".repeat(10 * MIB), 0)));
        assert!(too_large(&mail("ü".repeat(12 * MIB), 0)));
        // ASCII in short lines goes as it is.
        let line = "plain text\r\n";
        let lines = |size: usize| line.repeat(size / line.len());
        assert!(!too_large(&mail(lines(30 * MIB - 8192), 0)));
        assert!(too_large(&mail(lines(30 * MIB), 0)));
    }

    #[test]
    fn headers_count() {
        let mut mail = mail("Hi".into(), 30 * MIB / 78 * 76 - 76 * 80);
        assert!(!too_large(&mail));
        mail.subject = Some("x".repeat(10_000));
        assert!(too_large(&mail));
    }

    #[test]
    fn names_of_senders_and_of_files_count() {
        let fits = mail("Hi".into(), 30 * MIB / 78 * 76 - 76 * 80);
        let long = Some("x".repeat(10_000));
        let mut named = fits.clone();
        named.from.name.clone_from(&long);
        let mut own = fits.clone();
        own.personalizations[0].from = Some(named.from.clone());
        let mut file = fits;
        file.attachments[0].content_id = long;
        for mail in [named, own, file] {
            assert!(too_large(&mail));
        }
    }

    #[test]
    fn a_template_matters_only_close_to_the_limit() {
        let mut mail = mail("Hi".into(), 20 * MIB);
        assert!(!is_close(&mail));
        mail.attachments[0].content.push_str(&"A".repeat(2 * MIB));
        assert!(is_close(&mail) && !too_large(&mail));
        // No template says more than this, whatever it is written in.
        let most = ["\u{1}".repeat(MIB), "\u{e9}".repeat(MIB / 2)].map(|value| Content {
            mime_type: "text/html".into(),
            value,
        });
        assert!(!exceeds(TEMPLATE, &most, &[]));
    }
}
