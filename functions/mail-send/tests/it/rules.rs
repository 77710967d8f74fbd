//! Stage 2, case by case: what is changed in a good request, and what is answered.

mod parts;

use serde_json::{Value, json};

use crate::{check_problems, with};

/// A change of a good request, and every problem it makes.
pub(crate) type Case = (Vec<(&'static str, Value)>, Vec<String>);

const EXAMPLE: &str = r#"  e.g. {"email" : "example@example.com"}  or {"email" : "example@example.com", "name" : "Example Recipient"}."#;

fn case(field: &'static str, value: Value, want: &str) -> Case {
    (vec![(field, value)], vec![want.to_owned()])
}

fn address(letters: usize) -> Value {
    json!(format!("{}@example.com", "a".repeat(letters - 12)))
}

/// Fewer than 320 characters, but more bytes than an address in a header may have.
fn wide_address() -> Value {
    json!(format!("{}@example.com", "\u{1d54f}".repeat(223)))
}

fn people(count: usize) -> Value {
    let mailbox = |i| json!({"email": format!("a{i}@example.com")});
    (0..count).map(mailbox).collect()
}

pub(crate) fn cases() -> Vec<Case> {
    let all = [
        envelopes(),
        senders(),
        parts::contents(),
        parts::files(),
        parts::maps(),
        labels(),
        settings(),
    ];
    all.into_iter().flatten().collect()
}

fn envelopes() -> Vec<Case> {
    let required = "personalizations: The personalizations field is required and must have at least one personalization.";
    let no_to = "personalizations.0.to: The to array is required for all personalization objects, and must have at least one email object with a valid email address.";
    let to = "personalizations.0.to";
    let mut cases = vec![
        case("personalizations", json!("remove"), required),
        case("personalizations", json!([]), required),
        case(to, json!("remove"), no_to),
        case(to, json!([]), no_to),
        case(
            to,
            people(3001),
            "personalizations: There is a limit of 3000 total recipients (to + cc + bcc) per request.",
        ),
        case(
            "personalizations.0.subject",
            json!(""),
            "personalizations.0.subject: The subject of your email must be a string at least one character in length.",
        ),
        case(
            "personalizations.0.send_at",
            json!(1_800_000_000 + 72 * 3600 + 1),
            "personalizations.0.send_at: Scheduling more than 72 hours in advance is forbidden.",
        ),
        case(
            "send_at",
            json!(i64::MAX),
            "send_at: Scheduling more than 72 hours in advance is forbidden.",
        ),
        case(
            "personalizations.0.bcc",
            json!([{"email": "bob@example.org"}, {"email": "ANN@Example.org"}, {"email": "bob@example.org"}]),
            "personalizations.0: Each email address in the personalization block should be unique between to, cc, and bcc. We found the first duplicate instance of [ANN@Example.org] in the personalizations.0.bcc field.",
        ),
        case(
            "personalizations.0.cc",
            json!([{"email": "ann@example.org"}]),
            "personalizations.0: Each email address in the personalization block should be unique between to, cc, and bcc. We found the first duplicate instance of [ann@example.org] in the personalizations.0.cc field.",
        ),
        case(
            "personalizations.0.to.1",
            json!({"email": "ann@example.org"}),
            "personalizations.0: Each email address in the personalization block should be unique between to, cc, and bcc. We found the first duplicate instance of [ann@example.org] in the personalizations.0.to field.",
        ),
    ];
    let full = |list: &str| -> Value {
        let mailbox = |i| json!({"email": format!("{list}{i}@example.com")});
        (0..1000).map(mailbox).collect()
    };
    cases.push((
        vec![
            (to, full("to")),
            ("personalizations.0.cc", full("cc")),
            ("personalizations.0.bcc", full("bcc")),
            (
                "personalizations.1",
                json!({"to": [{"email": "ann@example.org"}]}),
            ),
        ],
        vec![
            "personalizations: There is a limit of 3000 total recipients (to + cc + bcc) per request.".to_owned(),
        ],
    ));
    let envelopes: Value = (0..1001)
        .map(|i| json!({"to": [{"email": format!("a{i}@example.com")}]}))
        .collect();
    cases.push((
        vec![("personalizations", envelopes)],
        vec![
            "personalizations: The personalization block is limited to 1000 personalizations per API request. You have provided 1001 personalizations. Please consider splitting this into multiple requests and resending your request.".to_owned(),
        ],
    ));
    for (list, name) in [("cc", "CC"), ("bcc", "BCC"), ("to", "To")] {
        let used = if list == "to" { "" } else { ", when used," };
        let missing = format!(
            "The {list} array{used} must at least have an email parameter with a valid email address and it may also contain a name parameter.{EXAMPLE}"
        );
        let field: &'static str = format!("personalizations.0.{list}").leak();
        for (email, want) in [
            (json!({}), missing.clone()),
            (json!({"email": "", "name": "x"}), missing.clone()),
            (
                json!({"email": "a b@x.co"}),
                format!("The {list} email does not contain a valid address."),
            ),
            (
                json!({"email": "no at"}),
                format!("The {list} email does not contain a valid address."),
            ),
            (
                json!({"email": address(65 + "@example.com".len())}),
                format!("The {list} email does not contain a valid address."),
            ),
            (
                json!({"email": address(321)}),
                format!("The {name} email exceeds the maximum total length of 320 characters"),
            ),
            (
                json!({"email": wide_address()}),
                format!("The {name} email exceeds the maximum total length of 320 characters"),
            ),
        ] {
            cases.push(case(
                field,
                json!([email]),
                &format!("{field}.0.email: {want}"),
            ));
        }
        if list != "to" {
            cases.push(case(field, json!([]), &format!("{field}: {missing}")));
            cases.push((
                vec![(field, people(1001))],
                vec![format!(
                    "{field}: There is a limit of 1000 {list} emails per personalization."
                )],
            ));
        }
    }
    cases
}

fn senders() -> Vec<Case> {
    let from = format!(
        "The from object must be provided for every email send. It is an object that requires the email parameter, but may also contain a name parameter.{EXAMPLE}"
    );
    let reply_to = format!(
        "reply_to.email: The reply_to object, when used, must at least have an email parameter with a valid email address and it may also contain a name parameter.{EXAMPLE}"
    );
    let two = json!([{"email": "a@example.com"}, {"email": "A@EXAMPLE.com"}]);
    vec![
        case("from", json!("remove"), &format!("from.email: {from}")),
        case("from", json!({}), &format!("from.email: {from}")),
        case("from.email", json!(""), &format!("from.email: {from}")),
        case(
            "from.email",
            json!("shop"),
            "from.email: The from email does not contain a valid address.",
        ),
        case(
            "from.email",
            address(321),
            "from.email: The From email exceeds the maximum total length of 320 characters",
        ),
        case(
            "personalizations.0.from",
            json!({}),
            &format!("personalizations.0.from.email: {from}"),
        ),
        case(
            "personalizations.0.from",
            json!({"email": "@"}),
            "personalizations.0.from.email: The from email does not contain a valid address.",
        ),
        case(
            "personalizations.0.from",
            json!({"email": address(321)}),
            "personalizations.0.from.email: The From email exceeds the maximum total length of 320 characters",
        ),
        case("reply_to", json!({}), &reply_to),
        case(
            "reply_to",
            json!({"email": "x"}),
            "reply_to.email: The reply_to email does not contain a valid address.",
        ),
        case(
            "reply_to",
            json!({"email": address(321)}),
            "reply_to.email: The Reply-To email exceeds the maximum total length of 320 characters",
        ),
        case(
            "reply_to_list",
            json!([]),
            "reply_to_list: The reply_to_list object, when used, must at least have an email parameter and may also contain a name parameter.",
        ),
        case(
            "reply_to_list",
            json!([{"name": "x"}]),
            "reply_to_list.0.email: The reply_to_list email parameter is required.",
        ),
        case(
            "reply_to_list",
            json!([{"email": "x"}]),
            "reply_to_list.0.email: The reply_to_list email does not contain a valid address.",
        ),
        case(
            "reply_to_list",
            json!([{"email": address(321)}]),
            "reply_to_list.0.email: The reply_to_list email exceeds the maximum total length of 320 characters.",
        ),
        case(
            "reply_to_list",
            two,
            "reply_to_list: Each email address in the reply_to_list should be unique.",
        ),
        case(
            "reply_to_list",
            people(1001),
            "reply_to_list: There is a limit of 1000 reply_to emails per mail/send request.",
        ),
        (
            vec![
                ("reply_to", json!({"email": "a@b.co"})),
                ("reply_to_list", people(1)),
            ],
            vec!["reply_to_list: reply_to is mutually exclusive with reply_to_list.".to_owned()],
        ),
    ]
}

fn labels() -> Vec<Case> {
    let long = "c".repeat(256);
    let eleven: Value = (0..11).map(|i| json!(format!("c{i}"))).collect();
    vec![
        case(
            "categories",
            eleven,
            "categories: There is a limit of 10 categories for each email that is sent. You provided 11 categories.",
        ),
        case(
            "categories",
            json!([long]),
            &format!(
                "categories.0: Each category must not be longer than 255 characters. [{long}] exceeds this limit"
            ),
        ),
        case(
            "categories",
            json!(["a", "b", "a"]),
            "categories.2: The categories must be a unique list, and you have included [a] more than once.",
        ),
        case(
            "categories",
            json!(["ok", "naïve"]),
            "categories.1: Categories can not contain non-ASCII characters.",
        ),
        case(
            "categories",
            json!(["a", ""]),
            "categories.1: Each category must be at least one character in length.",
        ),
        case(
            "batch_id",
            json!("a b"),
            "batch_id: The batch_id must be a valid batch ID.",
        ),
        case(
            "ip_pool_name",
            json!("x"),
            "ip_pool_name: The IP pool name must be 2 to 64 characters long.",
        ),
        case(
            "ip_pool_name",
            json!(""),
            "ip_pool_name: The IP pool name must be 2 to 64 characters long.",
        ),
        case(
            "ip_pool_name",
            json!("x".repeat(65)),
            "ip_pool_name: The IP pool name must be 2 to 64 characters long.",
        ),
    ]
}

fn settings() -> Vec<Case> {
    let bypass = "mail_settings.bypass_list_management: bypass_list_management cannot be combined with other bypass filters.";
    let mut cases = vec![
        case(
            "asm",
            json!({}),
            "asm.group_id: The ASM group ID must be an integer.",
        ),
        case(
            "asm",
            json!({"group_id": 1, "groups_to_display": (0..26).collect::<Vec<_>>()}),
            "asm.groups_to_display: There is a limit of 25 unsubscribe groups that can be displayed to a user at a time.",
        ),
    ];
    for other in ["spam", "bounce", "unsubscribe"] {
        let both = json!({"bypass_list_management": {"enable": true}, format!("bypass_{other}_management"): {"enable": true}});
        cases.push(case("mail_settings", both, bypass));
    }
    cases
}

#[test]
fn each_rule_has_its_message_and_field() {
    for (changes, want) in cases() {
        let want: Vec<_> = want.iter().map(String::as_str).collect();
        check_problems(&with(&changes), &want);
    }
}

#[test]
fn all_broken_rules_are_reported_together_in_the_order_of_the_api() {
    let body = with(&[
        (
            "mail_settings",
            json!({"bypass_list_management": {"enable": true}, "bypass_spam_management": {"enable": true}}),
        ),
        ("categories", json!(["é"])),
        ("content.0.value", json!("")),
        ("subject", json!("remove")),
        ("from", json!("remove")),
        ("personalizations.0.to.0.email", json!("x")),
        (
            "personalizations.1",
            json!({"subject": "", "headers": {"To": "x"}}),
        ),
        ("ip_pool_name", json!("x")),
    ]);
    let fields: Vec<_> = crate::refuse(&body)
        .into_iter()
        .filter_map(|p| p.field)
        .collect();
    let want = [
        "personalizations.0.to.0.email",
        "personalizations.1.to",
        "personalizations.1.subject",
        "personalizations.1.headers",
        "from.email",
        "subject",
        "content.0.value",
        "categories.0",
        "ip_pool_name",
        "mail_settings.bypass_list_management",
    ];
    assert_eq!(fields, want);
}

#[test]
fn a_long_value_is_not_repeated_whole() {
    let found = crate::refuse(&with(&[("categories", json!(["c".repeat(1_000_000)]))]));
    assert!(found[0].message.len() < 2_000);
    assert!(found[0].message.contains("c…]"));
}
