//! Stages 0 and 1: what is no JSON, and what has a wrong type.

use mail_send::{SendLimits, decode_and_check};
use posthaste_model::Problem;
use serde_json::{Value, json};

use crate::{NOW, check_problems, good, read, refuse, with};

#[track_caller]
fn check_bad_request(body: &[u8]) {
    let shown = String::from_utf8_lossy(body);
    let found = read(body).expect_err(&format!("{shown:.300}"));
    let want = Problem::plain("Bad Request").with_help("bad-request");
    assert_eq!(found, [want], "{shown:.300}");
}

#[test]
fn what_is_no_json_is_one_bad_request() {
    let good = good().to_string();
    for body in [
        "",
        " ",
        "{",
        "{}{}",
        "nul",
        "{'from':1}",
        "\u{feff}\u{feff}{}",
        &good[..good.len() - 1],
        &format!("{good},"),
        &good.replace("Hello", "\\ud800"),
        &good.replace("Hello", "\\udc00\\ud800"),
        &good.replace("Hello", "\\x"),
        &good.replace("Hello", "a\nb"),
        &good.replace("\"Hello\"", "1e999"),
    ] {
        check_bad_request(body.as_bytes());
    }
    check_bad_request(b"\xff\xfe{}");
    check_bad_request(&[good.as_bytes(), b"\xc3"].concat());
}

#[test]
fn a_deep_unknown_value_is_skipped() {
    for (open, close, given) in [("[", "]", "array"), ("{\"a\":", "}", "object")] {
        let (open, close) = (open.repeat(100_000), close.repeat(100_000));
        let body = with(&[("subject", json!("DEEP"))]).to_string();
        let body = body.replace("\"DEEP\"", &format!("{open}1{close}"));
        let found = read(body.as_bytes()).unwrap_err();
        let message = format!("Invalid type. Expected: string, given: {given}.");
        assert_eq!((found.len(), &found[0].message), (1, &message));
    }
}

#[test]
fn deep_template_data_is_refused_before_it_is_rendered() {
    for (depth, ok) in [(100, true), (100_000, false)] {
        let data = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let body = with(&[("personalizations.0.dynamic_template_data", json!("DATA"))]);
        let body = body.to_string().replace("\"DATA\"", &data);
        if ok {
            assert!(read(body.as_bytes()).is_ok());
        } else {
            check_bad_request(body.as_bytes());
        }
    }
}

#[test]
fn a_value_that_is_no_string_where_strings_are_due_is_one_bad_request() {
    for (field, value) in [
        ("custom_args", json!({"a": 111})),
        ("personalizations.0.custom_args", json!({"a": true})),
        (
            "personalizations.0.substitutions",
            json!({"a": 1.5, "b": "x"}),
        ),
        ("personalizations.0.substitutions", json!({"a": null})),
        ("personalizations.0.headers", json!({"a": ["x"]})),
        ("headers", json!({"a": {"b": "c"}})),
    ] {
        check_bad_request(with(&[(field, value.clone())]).to_string().as_bytes());
        // It hides the other problems: the whole body could not be read.
        let also = with(&[(field, value), ("from", json!("x")), ("subject", json!(""))]);
        check_bad_request(also.to_string().as_bytes());
    }
}

#[test]
fn a_wrong_type_of_the_sandbox_switch_has_its_published_message() {
    for wrong in [json!("true"), json!(1), Value::Null] {
        let sandbox = json!({"sandbox_mode": {"enable": wrong}, "footer": {"enable": "true"}});
        check_problems(
            &with(&[("mail_settings", sandbox)]),
            &[
                "mail_settings.footer.enable: Invalid type. Expected: boolean, given: string.",
                "mail_settings.sandbox_mode.enable: The sandbox mode enable param should be a boolean value.",
            ],
        );
    }
}

#[test]
fn wrong_types_are_named() {
    let type_error = |field: &str, value: Value, expected: &str, given: &str| {
        let line = format!("{field}: Invalid type. Expected: {expected}, given: {given}.");
        check_problems(&with(&[(field, value)]), &[&line]);
    };
    type_error("from", json!("shop@example.com"), "object", "string");
    type_error("from", json!(["shop@example.com"]), "object", "array");
    type_error("from", Value::Null, "object", "null");
    type_error("from.email", Value::Null, "string", "null");
    type_error("from.name", json!(17), "string", "integer");
    type_error("reply_to", json!("a@example.com"), "object", "string");
    type_error(
        "reply_to",
        json!([{"email": "a@example.com"}]),
        "object",
        "array",
    );
    type_error(
        "reply_to_list",
        json!({"email": "a@example.com"}),
        "array",
        "object",
    );
    type_error("subject", Value::Null, "string", "null");
    type_error("content", json!({"type": "text/plain"}), "array", "object");
    type_error("content", Value::Null, "array", "null");
    type_error("content.0.value", json!(false), "string", "boolean");
    type_error("attachments", Value::Null, "array", "null");
    type_error("attachments", json!({}), "array", "object");
    type_error("template_id", json!(17), "string", "integer");
    type_error("headers", json!([]), "object", "array");
    type_error("categories", json!("news"), "array", "string");
    type_error("categories", json!({}), "array", "object");
    type_error("custom_args", json!(17), "object", "integer");
    type_error("custom_args", json!([]), "object", "array");
    type_error(
        "personalizations.0.custom_args",
        json!("{}"),
        "object",
        "string",
    );
    type_error("send_at", json!("1800000000"), "integer", "string");
    type_error("send_at", json!(1_800_000_000.5), "integer", "number");
    type_error("send_at", json!(1.0), "integer", "number");
    type_error("send_at", json!(u64::MAX), "integer", "number");
    type_error("send_at", Value::Null, "integer", "null");
    type_error(
        "personalizations.0.send_at",
        json!(true),
        "integer",
        "boolean",
    );
    type_error("batch_id", json!(17), "string", "integer");
    type_error("asm", json!(17), "object", "integer");
    type_error("ip_pool_name", json!({}), "string", "object");
    type_error("personalizations", json!({}), "array", "object");
    type_error("personalizations.0", Value::Null, "object", "null");
    type_error("personalizations.1", json!("x"), "object", "string");
    type_error(
        "personalizations.0.to",
        json!({"email": "a@b.c"}),
        "array",
        "object",
    );
    type_error(
        "personalizations.0.to.1",
        json!("a@b.c"),
        "object",
        "string",
    );
    type_error(
        "personalizations.0.to.0.email",
        json!(["a@b.c"]),
        "string",
        "array",
    );
    type_error(
        "personalizations.0.dynamic_template_data",
        json!([]),
        "object",
        "array",
    );
    type_error(
        "personalizations.0.dynamic_template_data",
        json!("{}"),
        "object",
        "string",
    );
    type_error("mail_settings", json!(true), "object", "boolean");
    type_error("tracking_settings", json!([]), "object", "array");
    for enable in [json!("true"), json!(1), Value::Null] {
        let given = match enable {
            Value::String(_) => "string",
            Value::Null => "null",
            _ => "integer",
        };
        let body = with(&[(
            "mail_settings",
            json!({"bypass_spam_management": {"enable": enable}}),
        )]);
        let line = format!(
            "mail_settings.bypass_spam_management.enable: Invalid type. Expected: boolean, given: {given}."
        );
        check_problems(&body, &[&line]);
    }
    check_problems(
        &with(&[("sections", json!({"-a-": 1, "b.c": "x"}))]),
        &["sections.-a-: Invalid type. Expected: string, given: integer."],
    );
    check_problems(
        &with(&[("sections", json!({"section": {":a": 1, ":b": "x"}}))]),
        &["sections.section.:a: Invalid type. Expected: string, given: integer."],
    );
    check_problems(
        &with(&[(
            "asm",
            json!({"group_id": "1", "groups_to_display": [1, "2", 3.5]}),
        )]),
        &[
            "asm.group_id: Invalid type. Expected: integer, given: string.",
            "asm.groups_to_display.1: Invalid type. Expected: integer, given: string.",
            "asm.groups_to_display.2: Invalid type. Expected: integer, given: number.",
        ],
    );
}

#[test]
fn a_body_that_is_no_object_has_a_wrong_type_at_its_root() {
    for (body, given) in [
        ("[]", "array"),
        ("null", "null"),
        ("\"x\"", "string"),
        ("17", "integer"),
    ] {
        let found = read(body.as_bytes()).unwrap_err();
        let field = found[0].field.as_deref();
        assert_eq!((found.len(), field), (1, Some("(root)")));
        assert_eq!(
            found[0].message,
            format!("Invalid type. Expected: object, given: {given}.")
        );
        let help = found[0].help.as_deref();
        assert_eq!(help, Some("-Request-Body-Parameters"));
    }
}

#[test]
fn all_wrong_types_are_reported_together_and_before_any_rule() {
    let body = with(&[
        ("tracking_settings", json!(1)),
        ("content.0.value", json!(1)),
        ("from", json!("x")),
        ("subject", json!("")),
        ("personalizations.0.to.1", json!("x")),
        ("personalizations.0.bcc", json!([])),
        ("personalizations.1", Value::Null),
    ]);
    check_problems(
        &body,
        &[
            "personalizations.0.to.1: Invalid type. Expected: object, given: string.",
            "personalizations.1: Invalid type. Expected: object, given: null.",
            "from: Invalid type. Expected: object, given: string.",
            "content.0.value: Invalid type. Expected: string, given: integer.",
            "tracking_settings: Invalid type. Expected: object, given: integer.",
        ],
    );
}

#[test]
fn the_order_of_the_answer_is_not_that_of_the_keys() {
    let one = r#"{"subject":1,"from":2,"personalizations":3}"#;
    let other = r#"{"personalizations":3,"from":2,"subject":1}"#;
    assert_eq!(read(one.as_bytes()), read(other.as_bytes()));
}

#[test]
fn help_follows_the_field() {
    let help = |field: &str, value: Value| {
        let found = refuse(&with(&[(field, value)]));
        found.first().and_then(|problem| problem.help.clone())
    };
    for (field, anchor) in [
        ("from", Some("message.from")),
        (
            "personalizations.0.to.0.email",
            Some("message.personalizations.to"),
        ),
        ("personalizations.0", None),
        ("content", Some("message.content")),
        ("content.0.value", Some("message.content.value")),
    ] {
        assert_eq!(help(field, Value::Null).as_deref(), anchor, "{field}");
    }
}

#[test]
fn a_wrong_type_under_a_repeated_key_counts() {
    let body = good().to_string().replacen('{', r#"{"from":1,"#, 1);
    let found = read(body.as_bytes()).unwrap_err();
    assert_eq!(found[0].field.as_deref(), Some("from"));
}

#[test]
fn an_answer_does_not_grow_without_end() {
    let body = format!("{{\"personalizations\":[{}1]}}", "1,".repeat(100_000));
    let found = decode_and_check(body.as_bytes(), NOW, &SendLimits::default()).unwrap_err();
    assert_eq!(found.len(), 5_000);
}
