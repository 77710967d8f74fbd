//! Any bytes as a received mail: no panic, and a form that says of itself what it is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posthaste_mime::inbound::{Facts, Mode, Spf, form};
use posthaste_mime::report;

fuzz_target!(|raw: &[u8]| {
    let facts = Facts {
        envelope_from: "",
        envelope_to: "inbox@parse.example",
        sender_ip: None,
        received: None,
        spf: Spf::None,
        dkim: &[],
        spam: None,
    };
    report::read(raw);
    report::is_auto_reply(raw, "ann@example.com");
    let form = form(raw, &facts, Mode::Parsed);
    let files = form.entries.iter().filter(|entry| entry.file.is_some());
    let count = files.count().to_string();
    assert_eq!(form.get("attachments"), Some(count.as_bytes()));
    for name in ["to", "from", "subject"] {
        let text = std::str::from_utf8(form.get(name).unwrap_or_default());
        assert!(text.is_ok_and(|text| !text.contains(char::is_control)));
    }
    let (content_type, body) = form.encode();
    let boundary = content_type.split('=').next_back().unwrap_or_default();
    let delimiter = format!("\r\n--{boundary}");
    let found = memchr::memmem::find_iter(&body, delimiter.as_bytes());
    assert_eq!(found.count(), form.entries.len());
});
