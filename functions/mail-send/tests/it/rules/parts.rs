//! The rules of what a mail is made of: contents, files, headers, arguments.

use serde_json::{Value, json};

use super::{Case, case};

pub(super) fn contents() -> Vec<Case> {
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

pub(super) fn files() -> Vec<Case> {
    let file = |key: &str, value: Value| {
        let mut file = json!({"content": "QQ==", "filename": "a"});
        if value == "remove" {
            drop(file.as_object_mut().unwrap().remove(key));
        } else {
            file[key] = value;
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
        "é",
        "[x]",
    ] {
        cases.push(files("content", json!(wrong), base64));
    }
    cases
}

pub(super) fn maps() -> Vec<Case> {
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
