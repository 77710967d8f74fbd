//! The OpenAPI document, put together from the references of the functions.

#![allow(
    clippy::indexing_slicing,
    reason = "the documents are embedded, and a test puts all of them together"
)]

use std::fmt::Write as _;

use posthaste_model::DropReason;
use serde_json::{Map, Value, json};

/// What each function says of its routes. Its tests make the file (see `posthaste_testkit::reference`).
const REFERENCES: [&str; 15] = [
    include_str!("../../../mail-send/reference.json"),
    include_str!("../../../mail-batch/reference.json"),
    include_str!("../../../templates/reference.json"),
    include_str!("../../../suppressions/reference.json"),
    include_str!("../../../event-settings/reference.json"),
    include_str!("../../../parse-settings/reference.json"),
    include_str!("../../../activity/reference.json"),
    include_str!("../../../sender-identity/reference.json"),
    include_str!("../../../ips/reference.json"),
    include_str!("../../reference.json"),
    include_str!("../../../access-settings/reference.json"),
    include_str!("../../../subusers/reference.json"),
    include_str!("../../../account-settings/reference.json"),
    include_str!("../../../tracking/reference.json"),
    include_str!("../../../console/reference.json"),
];

const BASE: &str = include_str!("base.json");
const INTRODUCTION: &str = include_str!("introduction.md");
const NOT_SERVED: &str = include_str!("not-served.json");

/// The refusals that operations name, in each of the three forms of an error.
const REFUSALS: [(u16, &str); 13] = [
    (400, "The request breaks a rule; nothing has changed."),
    (401, "There is no valid key, or its account is disabled."),
    (
        403,
        "The key lacks the scope, or the address is not on the allow list.",
    ),
    (404, "There is nothing with the id or name in the path."),
    (408, "The body stopped arriving."),
    (409, "Another request changes the same at this moment."),
    (413, "The body is too large."),
    (
        415,
        "The body is not JSON in UTF-8, or compressed in another way than gzip.",
    ),
    (422, "The idempotency key was used with another body."),
    (429, "Too many requests; try again when the limit resets."),
    (
        500,
        "Something failed; the log of the service has the cause.",
    ),
    (501, "This deployment does not offer the call."),
    (503, "Try again after the seconds in `Retry-After`."),
];

const FORMS: [&str; 3] = ["Error", "MailError", "SenderError"];

/// The whole document.
pub(crate) fn document() -> Value {
    let mut document = read(BASE);
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    document["info"]["description"] = format!("{INTRODUCTION}\n{}", drop_reasons()).into();
    document["components"]["responses"] = responses();
    document["x-not-served"] = read(NOT_SERVED);
    for reference in REFERENCES {
        add(&mut document, read(reference));
    }
    document
}

/// Why a copy is dropped: a part of the reference and of the catalogue of errors, in Markdown.
pub(crate) fn drop_reasons() -> String {
    let mut text = "## Reasons of dropped mail\n<a id=\"drop-reasons\"></a>\n\nA copy that is accepted and never handed \
                    to the relay ends as dropped, with one of these as the `reason` of its event.\n\n\
                    | Reason | Known to | What has happened |\n|---|---|---|\n"
        .to_owned();
    let unsendable = DropReason::Unsendable("any other words".to_owned());
    for reason in DropReason::FIXED.into_iter().chain([unsendable]) {
        let words = match &reason {
            DropReason::Unsendable(words) => words.clone(),
            fixed => format!("`{fixed}`"),
        };
        let of = if reason.is_extension() {
            "extension"
        } else {
            "v3 API"
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {words} | {of} | {} |", reason.meaning());
    }
    text
}

/// The texts are part of the program, and a test reads them.
fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn add(document: &mut Value, mut reference: Value) {
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.push(reference["tag"].take());
    }
    extend(
        &mut document["components"]["schemas"],
        reference["schemas"].take(),
    );
    let mut paths = reference["paths"].take();
    for operation in operations(&mut paths) {
        let needs_key = operation["security"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if !needs_key {
            continue;
        }
        let on_behalf_of = json!({"$ref": "#/components/parameters/OnBehalfOf"});
        match operation["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(on_behalf_of),
            None => operation["parameters"] = json!([on_behalf_of]),
        }
    }
    // The paths of a subuser are served by two functions.
    if let Value::Object(paths) = paths {
        for (path, methods) in paths {
            extend(&mut document["paths"][path], methods);
        }
    }
}

fn operations(paths: &mut Value) -> impl Iterator<Item = &mut Value> {
    let methods = paths.as_object_mut().into_iter().flat_map(Map::values_mut);
    methods
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut)
}

fn extend(object: &mut Value, more: Value) {
    if object.is_null() {
        *object = more;
        return;
    }
    if let (Value::Object(members), Value::Object(more)) = (object, more) {
        members.extend(more);
    }
}

/// Each refusal in each form: `MailError400`.
fn responses() -> Value {
    let each = FORMS.into_iter().flat_map(|form| {
        REFUSALS.into_iter().map(move |(status, about)| {
            let schema = json!({"$ref": format!("#/components/schemas/{form}")});
            let mut headers = Map::new();
            let mut header = |name: &str, to: &str| {
                let to = format!("#/components/headers/{to}");
                headers.insert(name.to_owned(), json!({"$ref": to}));
            };
            if status == 429 {
                header("X-RateLimit-Limit", "RateLimit");
                header("X-RateLimit-Remaining", "RateRemaining");
                header("X-RateLimit-Reset", "RateReset");
            }
            if status == 503 {
                header("Retry-After", "RetryAfter");
            }
            let mut response = json!({
                "description": about,
                "content": {"application/json": {"schema": schema}},
            });
            if !headers.is_empty() {
                response["headers"] = headers.into();
            }
            (format!("{form}{status}"), response)
        })
    });
    each.collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_document_is_read() {
        for part in REFERENCES.into_iter().chain([BASE, NOT_SERVED]) {
            serde_json::from_str::<Value>(part).expect("JSON");
        }
        let document = document();
        assert_eq!(
            document["tags"].as_array().map(Vec::len),
            Some(REFERENCES.len())
        );
        assert!(
            document["paths"]
                .as_object()
                .is_some_and(|paths| paths.len() > 100)
        );
        let text = document.to_string();
        for (at, _) in text.match_indices("\"$ref\":\"#") {
            let target = text[at + 9..].split('"').next().unwrap_or_default();
            assert!(document.pointer(target).is_some(), "{target}");
        }
    }
}
