//! The rows of SPEC's "Limits" and API facts 2.5 that a request alone decides: what lies on the
//! limit passes (`rules.rs` has what lies one past it).

use mail_send::{SendLimits, decode_and_check};
use posthaste_model::{HORIZON, Timestamp};
use serde_json::{Value, json};

use crate::{NOW, accept, check_problems, with};

fn people(list: &str, count: usize) -> Value {
    let mailbox = |i| json!({"email": format!("{list}{i}@example.com")});
    (0..count).map(mailbox).collect()
}

#[test]
fn at_each_limit_a_request_passes() {
    let envelopes: Value = (0..1000)
        .map(|i| json!({"to": [{"email": format!("a{i}@example.com")}]}))
        .collect();
    let longest = format!("{}@example.com", "a".repeat(64));
    for changes in [
        // "personalizations | 1000 items"
        vec![("personalizations", envelopes)],
        // 3,000 recipients in all, in one list or in three: "cc, bcc | 1000 items each"
        vec![("personalizations.0.to", people("t", 3000))],
        vec![
            ("personalizations.0.to", people("t", 1)),
            ("personalizations.0.cc", people("c", 1000)),
            ("personalizations.0.bcc", people("b", 1000)),
        ],
        vec![
            ("personalizations.0.to", people("t", 1000)),
            ("personalizations.0.cc", people("c", 1000)),
            ("personalizations.0.bcc", people("b", 1000)),
        ],
        vec![("from.email", json!(longest))],
        // Octets, not letters (RFC 5321, section 4.5.3.1.1)
        vec![(
            "from.email",
            json!(format!("{}@example.com", "\u{1d54f}".repeat(16))),
        )],
        // "reply_to_list | 1000 items"
        vec![("reply_to_list", people("r", 1000))],
        // "substitutions | 10,000 bytes per personalization"
        vec![(
            "personalizations.0.substitutions",
            json!({"a": "x".repeat(9_999)}),
        )],
        // "custom_args | 10,000 bytes", merged: what is overridden does not count
        vec![("custom_args", json!({"a": "x".repeat(9_999)}))],
        vec![
            ("custom_args", json!({"a": "x".repeat(9_000)})),
            (
                "personalizations.0.custom_args",
                json!({"a": "y".repeat(9_998), "b": ""}),
            ),
        ],
        // "send_at | at most 72 hours ahead"; a past time means now
        vec![("send_at", json!(NOW.0 + HORIZON))],
        vec![("send_at", json!(0))],
        vec![("send_at", json!(-1))],
        vec![("send_at", json!(i64::MIN))],
        // "categories | 10 items, 255 characters each"
        vec![(
            "categories",
            (0..10)
                .map(|i| json!(format!("{i}{}", "c".repeat(254))))
                .collect(),
        )],
        vec![("categories", json!(["c"]))],
        vec![("categories", json!([]))],
        vec![("categories", json!(["a", "A"]))],
        // "asm.groups_to_display | 25 items"
        vec![(
            "asm",
            json!({"group_id": 1, "groups_to_display": (0..25).collect::<Vec<_>>()}),
        )],
        // "ip_pool_name | 2 to 64 characters"
        vec![("ip_pool_name", json!("xy"))],
        vec![("ip_pool_name", json!("ü".repeat(64)))],
        vec![("headers", json!({"a".repeat(76): "x".repeat(99_924)}))],
        vec![("attachments", json!([]))],
        vec![("template_id", json!("")), ("batch_id", json!(""))],
    ] {
        accept(&with(&changes));
    }
}

#[test]
fn the_horizon_is_the_operators() {
    let body = with(&[("send_at", json!(NOW.0 + 3600))]).to_string();
    let at = |horizon| decode_and_check(body.as_bytes(), NOW, &SendLimits { horizon });
    assert_eq!(
        at(3600).unwrap().mail.send_at,
        Some(Timestamp(NOW.0 + 3600))
    );
    let found = at(3599).unwrap_err();
    assert_eq!(
        found[0].message,
        "Scheduling more than 0 hours in advance is forbidden."
    );
}

#[test]
fn one_address_may_be_in_two_envelopes() {
    let envelope = json!({"to": [{"email": "ann@example.org"}]});
    let mail = accept(&with(&[("personalizations", json!([envelope, envelope]))]));
    assert_eq!(mail.count(), 2);
}

#[test]
fn the_template_makes_subject_and_content_optional() {
    let without = [("subject", json!("remove")), ("content", json!("remove"))];
    for id in ["d-1", "13b8f94f-bcae-4ec6-b752-70d6cb59f932"] {
        accept(&with(
            &[without.as_slice(), &[("template_id", json!(id))]].concat(),
        ));
    }
    assert_eq!(crate::refuse(&with(&without)).len(), 2);
}

#[test]
fn every_envelope_may_have_its_own_subject() {
    let own = json!({"to": [{"email": "a@b.co"}], "subject": "Hi"});
    let none = json!({"to": [{"email": "a@b.co"}]});
    let body = |envelopes| {
        with(&[
            ("subject", json!("remove")),
            ("personalizations", envelopes),
        ])
    };
    accept(&body(json!([own, own])));
    check_problems(
        &body(json!([own, none])),
        &[
            "subject: The subject is required. You can get around this requirement if you use a template with a subject defined or if every personalization has a subject defined.",
        ],
    );
}

#[test]
fn a_bypass_that_is_off_combines_with_the_others() {
    accept(&with(&[(
        "mail_settings",
        json!({"bypass_list_management": {"enable": false}, "bypass_spam_management": {"enable": true},
            "bypass_bounce_management": {"enable": true}, "bypass_unsubscribe_management": {}}),
    )]));
    accept(&with(&[(
        "mail_settings",
        json!({"bypass_list_management": {"enable": true}, "bypass_spam_management": {"enable": false}}),
    )]));
}
