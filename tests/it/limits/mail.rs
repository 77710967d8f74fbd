//! The limits of a request to mail/send.

use reqwest::Method;
use serde_json::{Value, json};

use super::told;
use crate::service::{Service, mail};

/// One limit: what is put into a good mail, on the limit and one past it, and what is answered then.
struct Row {
    limit: &'static str,
    path: &'static str,
    at: Value,
    past: Value,
    told: Vec<(&'static str, &'static str)>,
}

const CUSTOM_ARGS: &str = "The combined size of both global and personalization custom arguments may not exceed 10,000 bytes per personalization.";
const TOTAL: &str = "There is a limit of 3000 total recipients (to + cc + bcc) per request.";
const AHEAD: &str = "Scheduling more than 72 hours in advance is forbidden.";
const POOL: &str = "The IP pool name must be 2 to 64 characters long.";

fn people(list: &str, count: usize) -> Value {
    let mailbox = |i| json!({"email": format!("{list}{i}@example.com")});
    (0..count).map(mailbox).collect()
}

fn envelopes(count: usize) -> Value {
    let one = |i| json!({"to": [{"email": format!("e{i}@example.com")}]});
    (0..count).map(one).collect()
}

/// An object whose key and value have so many bytes together.
fn args(bytes: usize) -> Value {
    json!({"k": "x".repeat(bytes - 1)})
}

fn categories(count: usize) -> Value {
    (0..count).map(|i| json!(format!("c{i}"))).collect()
}

/// A group and so many to be shown; the account has as many.
fn groups(ids: &[i64], count: usize) -> Value {
    let mut shown = ids.to_vec();
    shown.resize(count, 1);
    json!({"group_id": ids.first(), "groups_to_display": shown})
}

/// An address with a local part of so many octets.
fn address(local: usize) -> Value {
    json!(format!("{}@example.com", "a".repeat(local)))
}

fn rows(now: i64, ids: &[i64]) -> Vec<Row> {
    let row = |limit, path, (at, past), told: &[_]| Row {
        limit,
        path,
        at,
        past,
        told: told.to_vec(),
    };
    let horizon = now + 72 * 3600;
    vec![
        row(
            "personalizations | 1000 items",
            "/personalizations",
            (envelopes(1000), envelopes(1001)),
            &[(
                "personalizations",
                "The personalization block is limited to 1000 personalizations per API request. You have provided 1001 personalizations. Please consider splitting this into multiple requests and resending your request.",
            )],
        ),
        row(
            "3,000 recipients in all",
            "/personalizations/0/to",
            (people("t", 3000), people("t", 3001)),
            &[("personalizations", TOTAL)],
        ),
        row(
            "cc per personalization | 1000 items",
            "/personalizations/0/cc",
            (people("c", 1000), people("c", 1001)),
            &[(
                "personalizations.0.cc",
                "There is a limit of 1000 cc emails per personalization.",
            )],
        ),
        row(
            "bcc per personalization | 1000 items",
            "/personalizations/0/bcc",
            (people("b", 1000), people("b", 1001)),
            &[(
                "personalizations.0.bcc",
                "There is a limit of 1000 bcc emails per personalization.",
            )],
        ),
        row(
            "reply_to_list | 1000 items",
            "/reply_to_list",
            (people("r", 1000), people("r", 1001)),
            &[(
                "reply_to_list",
                "There is a limit of 1000 reply_to emails per mail/send request.",
            )],
        ),
        row(
            "substitutions | 10,000 bytes per personalization",
            "/personalizations/0/substitutions",
            (args(10_000), args(10_001)),
            &[(
                "personalizations.0.substitutions",
                "You are limited to 10,000 bytes of substitutions per personalization.",
            )],
        ),
        row(
            "custom_args | 10,000 bytes, message level",
            "/custom_args",
            (args(10_000), args(10_001)),
            &[("custom_args", CUSTOM_ARGS)],
        ),
        row(
            "custom_args | 10,000 bytes, personalization level",
            "/personalizations/0/custom_args",
            (args(10_000), args(10_001)),
            &[("personalizations.0.custom_args", CUSTOM_ARGS)],
        ),
        row(
            "send_at | at most 72 hours ahead",
            "/send_at",
            (json!(horizon), json!(horizon + 1)),
            &[("send_at", AHEAD)],
        ),
        row(
            "send_at | at most 72 hours ahead, personalization level",
            "/personalizations/0/send_at",
            (json!(horizon), json!(horizon + 1)),
            &[("personalizations.0.send_at", AHEAD)],
        ),
        row(
            "categories | 10 items",
            "/categories",
            (categories(10), categories(11)),
            &[(
                "categories",
                "There is a limit of 10 categories for each email that is sent. You provided 11 categories.",
            )],
        ),
        row(
            "asm.groups_to_display | 25 items",
            "/asm",
            (groups(ids, 25), groups(ids, 26)),
            &[(
                "asm.groups_to_display",
                "There is a limit of 25 unsubscribe groups that can be displayed to a user at a time.",
            )],
        ),
        row(
            "ip_pool_name | 64 characters",
            "/ip_pool_name",
            (json!("p".repeat(64)), json!("p".repeat(65))),
            &[("ip_pool_name", POOL)],
        ),
        row(
            "ip_pool_name | 2 characters",
            "/ip_pool_name",
            (json!("pp"), json!("p")),
            &[("ip_pool_name", POOL)],
        ),
        row(
            "a local part | 64 octets",
            "/from/email",
            (address(64), address(65)),
            &[(
                "from.email",
                "The from email does not contain a valid address.",
            )],
        ),
    ]
}

/// A mail with one change, checked in full and sent to nobody; the status and the answer.
async fn checked(service: &Service, changes: &[(&str, &Value)]) -> (u16, Value) {
    let mut body = mail("ann@example.com");
    body["mail_settings"] = json!({"sandbox_mode": {"enable": true}});
    for (path, value) in changes {
        let (parent, last) = path.rsplit_once('/').expect("a path");
        body.pointer_mut(parent).expect("a parent")[last] = (*value).clone();
    }
    let answer = service.call(Method::POST, "/v3/mail/send", &body).await;
    let status = answer.status().as_u16();
    let text = answer.text().await.expect("a body");
    (status, serde_json::from_str(&text).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_on_a_limit_passes_and_one_past_it_does_not() {
    let service = Service::start().await;
    let mut ids = Vec::new();
    for i in 0..25 {
        let group = json!({"name": format!("Group {i}"), "description": "of a test"});
        let answer = service.call(Method::POST, "/v3/asm/groups", &group).await;
        let group: Value = answer.json().await.expect("JSON");
        ids.push(group["id"].as_i64().expect("an id"));
    }
    for name in ["pp".to_owned(), "p".repeat(64)] {
        let pool = json!({"name": name});
        let answer = service.call(Method::POST, "/v3/ips/pools", &pool).await;
        assert_eq!(answer.status(), 200, "{name}");
    }
    for row in rows(service.now(), &ids) {
        let (status, answer) = checked(&service, &[(row.path, &row.at)]).await;
        assert_eq!(status, 200, "{}: {answer:#}", row.limit);
        let (status, answer) = checked(&service, &[(row.path, &row.past)]).await;
        assert_eq!(status, 400, "{}", row.limit);
        let want: Vec<_> = row.told.iter().map(|(f, m)| (Some(*f), *m)).collect();
        assert_eq!(told(&answer), want, "{}", row.limit);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_lists_of_cc_and_bcc_pass_beside_the_required_recipient() {
    let service = Service::start().await;
    let (cc, bcc) = (people("c", 1000), people("b", 1000));
    let mut changes = vec![
        ("/personalizations/0/cc", &cc),
        ("/personalizations/0/bcc", &bcc),
    ];
    let (status, answer) = checked(&service, &changes).await;
    assert_eq!(status, 200, "{answer:#}");
    let to = people("t", 1001);
    changes.push(("/personalizations/0/to", &to));
    let (status, answer) = checked(&service, &changes).await;
    assert_eq!(status, 400);
    assert_eq!(told(&answer), [(Some("personalizations"), TOTAL)]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_args_are_measured_merged_and_an_overridden_one_counts_once() {
    let service = Service::start().await;
    let message = json!({"a": "x".repeat(4_999), "b": "x"});
    let own = |bytes: usize| json!({"b": "y".repeat(bytes - 1)});
    for (bytes, want) in [(5_000, 200), (5_001, 400)] {
        let changes = [
            ("/custom_args", &message),
            ("/personalizations/0/custom_args", &own(bytes)),
        ];
        let (status, answer) = checked(&service, &changes).await;
        assert_eq!(status, want, "{bytes}: {answer:#}");
        if want == 400 {
            let field = Some("personalizations.0.custom_args");
            assert_eq!(told(&answer), [(field, CUSTOM_ARGS)]);
        }
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_category_may_have_255_characters() {
    let service = Service::start().await;
    let name = "c".repeat(255);
    let (status, answer) = checked(&service, &[("/categories", &json!([name]))]).await;
    assert_eq!(status, 200, "{answer:#}");
    let name = format!("{name}c");
    let (status, answer) = checked(&service, &[("/categories", &json!([name]))]).await;
    let want = format!(
        "Each category must not be longer than 255 characters. [{name}] exceeds this limit"
    );
    assert_eq!(status, 400);
    assert_eq!(told(&answer), [(Some("categories.0"), want.as_str())]);
    service.stop().await;
}
