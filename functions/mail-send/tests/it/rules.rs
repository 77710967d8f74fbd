//! Stage 2, case by case: what is changed in a good request, and what is answered.

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
        contents(),
        files(),
        maps(),
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
            people(1001),
            "personalizations: There is a limit of 1000 total recipients (to + cc + bcc) per request.",
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
    let envelopes: Value = (0..1001)
        .map(|i| json!({"to": [{"email": format!("a{i}@example.com")}]}))
        .collect();
    cases.push((
        vec![("personalizations", envelopes)],
        vec![
            "personalizations: The personalization block is limited to 1000 personalizations per API request. You have provided 1001 personalizations. Please consider splitting this into multiple requests and resending your request.".to_owned(),
            "personalizations: There is a limit of 1000 total recipients (to + cc + bcc) per request.".to_owned(),
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
                vec![
                    "personalizations: There is a limit of 1000 total recipients (to + cc + bcc) per request.".to_owned(),
                    format!("{field}: There is a limit of 1000 {list} emails per personalization."),
                ],
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

fn contents() -> Vec<Case> {
    let content = "content: Unless a valid template_id is provided, the content parameter is required. There must be at least one defined content block. We typically suggest both text/plain and text/html blocks are included, but only one block is required.";
    let order = "content: Following RFC 1341, section 7.2, if either text/html or text/plain are to be sent in your email: text/plain needs to be first, followed by text/html, followed by any other content.";
    let part = |mime_type: &str| json!({"type": mime_type, "value": "x"});
    let no_text = "content.0.type: The content type must be a MIME type of a text, such as text/plain; multipart and message types are not.";
    let no_texts = [
        " ",
        "text plain",
        "text/",
        "text/plain, text/html",
        "multipart/mixed",
        "Message/RFC822",
    ];
    let mut cases: Vec<_> = no_texts
        .iter()
        .map(|given| case("content.0.type", json!(given), no_text))
        .collect();
    cases.extend([
        case("subject", json!("remove"), "subject: The subject is required. You can get around this requirement if you use a template with a subject defined or if every personalization has a subject defined."),
        case("subject", json!(""), "subject: The subject of your email must be a string at least one character in length."),
        case("content", json!("remove"), content),
        case("content", json!([]), content),
        (
            vec![("template_id", json!("d-1")), ("content", json!([]))],
            vec!["content: There must be at least one defined content block. We typically suggest both text/plain and text/html blocks are included, but only one block is required.".to_owned()],
        ),
        case("content", (0..101).map(|_| part("text/x")).collect(), "content: There is a limit of 100 content blocks per request."),
        case("content", json!([part("text/html"), part("text/plain")]), order),
        case("content", json!([part("text/calendar"), part("TEXT/HTML")]), order),
        case("content.0.type", json!("remove"), "content.0.type: A content type is required, this tells email clients how to display the email."),
        case("content.0.type", json!(""), "content.0.type: Your content type must be a string with length of at least one character."),
        case("content.0.type", json!("text/plain; charset=utf-8"), "content.0.type: The content type cannot contain ';', or CRLF characters."),
        case("content.0.type", json!("text/plain\r\nBcc: x@y.z"), "content.0.type: The content type cannot contain ';', or CRLF characters."),
        case("content.0.type", json!("text/calendar; method=CANCELLED"), "content.0.type: The content type cannot contain ';', or CRLF characters."),
        case("content.0.type", json!("text/plain\0"), "content.0.type: The content type can only contain printable ASCII characters."),
        case("content.0.value", json!("remove"), "content.0.value: A content value is required, this is the content of the email you are sending."),
        case("content.0.value", json!(""), "content.0.value: The content value must be a string at least one character in length."),
    ]);
    cases
}

fn files() -> Vec<Case> {
    let file = |key: &str, value: Value| {
        let mut file = json!({"content": "QQ==", "filename": "a"});
        match value == "remove" {
            true => drop(file.as_object_mut().unwrap().remove(key)),
            false => file[key] = value,
        }
        json!([file])
    };
    let files = |key: &str, value: Value, want: &str| {
        case(
            "attachments",
            file(key, value),
            &format!("attachments.0.{key}: {want}"),
        )
    };
    let short = "The attachment content must be a string at least one character in length.";
    let base64 = "The attachment content must be base64 encoded.";
    let crlf = "The filename of your attachment cannot contain CRLF characters.";
    let cid = "The content ID of your attachment cannot contain CRLF characters.";
    let mut cases = vec![
        files("content", json!("remove"), short),
        files("content", json!(""), short),
        files("content", json!(" \r\n\t"), short),
        files(
            "type",
            json!(""),
            "The attachment type must be a string and at least one character in length.",
        ),
        files(
            "type",
            json!("text/calendar;method=REQUEST;charset=\"utf-8\""),
            "The attachment type cannot contain ';', or CRLF characters.",
        ),
        files(
            "type",
            json!("a\nb"),
            "The attachment type cannot contain ';', or CRLF characters.",
        ),
        files(
            "type",
            json!("é"),
            "The attachment type can only contain printable ASCII characters.",
        ),
        files("filename", json!("remove"), "filename is required."),
        files("filename", json!("a\r\nb"), crlf),
        files("filename", json!("a\0b"), crlf),
        files(
            "disposition",
            json!("Inline"),
            r#"The disposition of your attachment can be either "inline" or "attachment". You provided [Inline]."#,
        ),
        files(
            "disposition",
            json!(""),
            r#"The disposition of your attachment can be either "inline" or "attachment". You provided []."#,
        ),
        files("content_id", json!("a\nb"), cid),
        files(
            "content_id",
            json!("a<b"),
            "The content ID of your attachment can only contain printable ASCII characters other than '<' and '>'.",
        ),
        files(
            "content_id",
            json!("ä"),
            "The content ID of your attachment can only contain printable ASCII characters other than '<' and '>'.",
        ),
        case(
            "attachments",
            (0..1001)
                .map(|_| json!({"content": "QQ==", "filename": ""}))
                .collect(),
            "attachments: There is a limit of 1000 attachments per request.",
        ),
    ];
    for wrong in [
        "QQ",
        "QQ=",
        "Q===",
        "QQ==QQ==",
        "data:image/png;base64,QQ==",
        "_-8=",
        "QR==",
        "é",
        "[x]",
    ] {
        cases.push(files("content", json!(wrong), base64));
    }
    cases
}

fn maps() -> Vec<Case> {
    let args = "The combined size of both global and personalization custom arguments may not exceed 10,000 bytes per personalization.";
    let mut cases = vec![
        case("custom_args", json!({}), "custom_args: custom_args cannot be empty."),
        case("custom_args", json!(""), "custom_args: custom_args cannot be empty."),
        case("custom_args", json!("{}"), "custom_args: custom_args cannot be empty."),
        case("custom_args", json!("[1]"), "custom_args: A custom_args string must hold a JSON object."),
        case("custom_args", json!("x"), "custom_args: A custom_args string must hold a JSON object."),
        case("custom_args", json!("{\"a\": 1}"), "custom_args: All values of custom arguments object must be strings"),
        case("personalizations.0.custom_args", json!({}), "personalizations.0.custom_args: custom_args cannot be empty."),
        case("custom_args", json!({"a": "x".repeat(10_000)}), &format!("custom_args: {args}")),
        case("personalizations.0.custom_args", json!({"é": "x".repeat(9_999)}), &format!("personalizations.0.custom_args: {args}")),
        (
            vec![("custom_args", json!({"a": "x".repeat(5_000)})), ("personalizations.0.custom_args", json!({"b": "x".repeat(5_000)}))],
            vec![format!("personalizations.0.custom_args: {args}")],
        ),
        case("sections", json!({"x".repeat(262_145): ""}), "sections: The keys of sections may not exceed 262,144 bytes."),
        case("personalizations.0.substitutions", json!({"a": "x".repeat(10_000)}), "personalizations.0.substitutions: You are limited to 10,000 bytes of substitutions per personalization."),
        (
            vec![("template_id", json!("d-1")), ("personalizations.0.substitutions", json!({"a": "b"}))],
            vec!["personalizations.0.substitutions: Substitutions may not be used with dynamic templating".to_owned()],
        ),
    ];
    for (field, and, can_not) in [
        ("headers", "and", "can not"),
        ("personalizations.0.headers", "or", "cannot"),
    ] {
        let letters =
            format!("{field}: Header keys cannot contain non-ASCII characters {and} empty spaces.");
        let values = format!("{field}: Header values cannot contain CRLF or NUL characters.");
        for name in ["", "a b", "X-Ä", "a\r\nBcc", "a\t", "\u{7f}"] {
            cases.push(case(field, json!({name: "x"}), &letters));
        }
        for name in [
            "x-sg-id",
            "X-SG-EID",
            "X-Posthaste-Id",
            "x-posthaste-eid",
            "Received",
            "DKIM-Signature",
            "content-type",
            "Content-Transfer-Encoding",
            "To",
            "FROM",
            "subject",
            "Reply-To",
            "cc",
            "Bcc",
        ] {
            cases.push(case(
                field,
                json!({name: "x"}),
                &format!("{field}: Header {can_not} be one of the reserved keys."),
            ));
        }
        for value in ["a\r\nBcc: x@y.z", "a\n b", "a\r", "a\0"] {
            cases.push(case(field, json!({"X-A": value}), &values));
        }
        cases.push(case(
            field,
            json!({"X-A": "1", "x-a": "2"}),
            &format!("{field}: The headers cannot contain duplicate keys."),
        ));
        cases.push(case(
            field,
            json!({"a:b": "1"}),
            &format!("{field}: Header keys cannot contain a colon."),
        ));
        cases.push(case(
            field,
            json!({"a".repeat(77): "1"}),
            &format!("{field}: Header keys cannot be longer than 76 characters."),
        ));
        cases.push(case(
            field,
            json!({"a": "x".repeat(100_000)}),
            &format!("{field}: The headers may not exceed 100,000 bytes."),
        ));
    }
    cases
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
fn all_broken_rules_come_together_in_the_order_of_the_contract() {
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
