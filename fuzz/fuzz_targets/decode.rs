//! Any bytes as the body of mail/send: no panic, an answer that says something, and a mail that
//! survives the queue, holds no line end where a header will be made of it, and can be composed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posthaste_decoder::{SendLimits, decode_and_check};
use posthaste_mime::{Outgoing, Stamp, build};
use posthaste_model::{Mail, Timestamp};

fuzz_target!(|body: &[u8]| {
    match decode_and_check(body, Timestamp(1_800_000_000), &SendLimits::default()) {
        Ok(checked) => sound(&checked.mail),
        Err(problems) => assert!(!problems.is_empty() && problems.len() <= 5_000),
    }
});

fn sound(mail: &Mail) {
    let queued = serde_json::to_string(mail).expect("a mail has no key that is not a string");
    assert_eq!(serde_json::from_str(&queued).ok().as_ref(), Some(mail));
    let one_line = |text: &str| !text.contains(['\r', '\n', '\0']);
    assert!(
        mail.copies()
            .all(|copy| one_line(&copy.mailbox.email.wire()))
    );
    for envelope in &mail.personalizations {
        let headers = mail.merged_headers(envelope);
        assert!(
            headers
                .iter()
                .all(|(name, value)| one_line(name) && one_line(value))
        );
        let data = envelope.dynamic_template_data.as_deref().unwrap_or("{}");
        assert!(serde_json::from_str::<serde_json::Value>(data).is_ok_and(|v| v.is_object()));
        let subject = envelope.subject.as_ref().or(mail.subject.as_ref());
        let outgoing = Outgoing {
            from: mail.from_of(envelope),
            to: &envelope.to,
            cc: &envelope.cc,
            reply_to: &mail.reply_to,
            subject: subject.map_or("", String::as_str),
            contents: &mail.content,
            attachments: &mail.attachments,
            headers: &headers,
            extra: &[],
        };
        let stamp = Stamp {
            message_id: "1@example.com",
            date: Timestamp(1_800_000_000),
            boundary: "b",
        };
        build(&outgoing, &stamp).expect("what was taken can be composed");
    }
    assert!((1..=1_000).contains(&mail.count()));
    assert!(mail.content.iter().all(|part| one_line(&part.mime_type)));
    for file in &mail.attachments {
        assert!(one_line(&file.filename));
        assert!(file.content_id.as_deref().is_none_or(one_line));
        assert!(file.mime_type.as_deref().is_none_or(one_line));
    }
}
