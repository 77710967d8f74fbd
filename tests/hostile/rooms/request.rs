//! The body of mail/send, and of every other route.

use std::collections::BTreeMap;

use mail_send::{SendLimits, decode_and_check};
use posthaste_model::Timestamp;

use crate::guard::survive;
use crate::shapes::{fill, json};

/// An unpacked body is below 48 MiB.
const BODY: usize = (48 << 20) - 1;

const KEYS: [&str; 14] = [
    "personalizations",
    "from",
    "reply_to_list",
    "content",
    "attachments",
    "headers",
    "categories",
    "custom_args",
    "sections",
    "asm",
    "mail_settings",
    "subject",
    "unknown",
    "send_at",
];

fn refuse(body: &[u8]) {
    let found = decode_and_check(body, Timestamp(1_800_000_000), &SendLimits::default());
    let found = found.unwrap_err();
    assert!((1..=5_000).contains(&found.len()));
}

#[test]
fn any_json_is_read() {
    for (name, make) in json() {
        survive(name, move || {
            // One key of the largest size, and each of the others of a smaller one.
            refuse(make(BODY).replace("KEY", "personalizations").as_bytes());
            for key in KEYS {
                refuse(make(BODY / 64).replace("KEY", key).as_bytes());
            }
        });
    }
}

#[test]
fn json_in_json_is_read() {
    for (name, make) in json() {
        survive(name, move || {
            let inner = make(BODY / 8).replace("KEY", "a");
            let data = format!("{{\"personalizations\":[{{\"dynamic_template_data\":{inner}}}]}}");
            refuse(data.as_bytes());
            let args = serde_json::json!({ "custom_args": inner }).to_string();
            refuse(args.as_bytes());
        });
    }
    survive("envelopes of mistakes", || {
        let envelopes = fill("{\"to\":[{\"email\":\"x\"}],\"send_at\":9e9},", BODY - 64);
        refuse(format!("{{\"personalizations\":[{envelopes}{{}}]}}").as_bytes());
    });
}

#[test]
fn any_json_of_another_route_is_read() {
    // Other routes take less; this is past the limit of each.
    const MOST: usize = 8 << 20;
    for (name, make) in json() {
        survive(name, move || {
            let body = make(MOST).replace("KEY", "a");
            let _ = posthaste_http::parse::<Vec<String>>(body.as_bytes());
            let _ = posthaste_http::parse::<BTreeMap<String, String>>(body.as_bytes());
        });
    }
}
