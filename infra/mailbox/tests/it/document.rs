//! The document of the REST calls against the calls: each is served, and answers as its definition says.

use axum::http::StatusCode;
use posthaste_mailbox::{Chaos, Sources};
use posthaste_model::Entropy;
use serde_json::{Value, json};

use crate::support::{Box, rich};

async fn document(b: &Box) -> Value {
    b.get("/api/v1/swagger.json").await.json()
}

/// Fails where a value is not as a schema says: every field of an object is in the schema, and every required one
/// in the value.
fn check(schema: &Value, value: &Value, document: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return check(&document["definitions"][name], value, document, place);
    }
    if let Some(choice) = schema["enum"].as_array() {
        assert!(choice.contains(value), "{place}: {value}");
    }
    let kind = schema["type"]
        .as_str()
        .unwrap_or_else(|| panic!("{place}: {schema}"));
    match (kind, value) {
        ("object", Value::Object(fields)) => {
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(
                    fields.contains_key(name.as_str().unwrap()),
                    "{place}: no {name}"
                );
            }
            for (name, value) in fields {
                let place = format!("{place}.{name}");
                match (
                    schema["properties"].get(name),
                    schema.get("additionalProperties"),
                ) {
                    (Some(schema), _) | (None, Some(schema)) => {
                        check(schema, value, document, &place);
                    }
                    (None, None) => {
                        assert!(
                            schema.get("properties").is_none(),
                            "{place} is not described"
                        );
                    }
                }
            }
        }
        ("array", Value::Array(values)) => {
            for value in values {
                check(&schema["items"], value, document, &format!("{place}[]"));
            }
        }
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_)) => {}
        ("integer", Value::Number(number)) => {
            assert!(number.is_i64() || number.is_u64(), "{place}");
        }
        _ => panic!("{place} is not {kind}: {value}"),
    }
}

fn full() -> Box {
    let sources = Sources {
        chaos: Some(Chaos::new(Entropy::counting())),
        ..Sources::default()
    };
    Box::with(sources, 100)
}

#[tokio::test]
async fn every_answer_in_json_is_as_its_definition_says() {
    let b = full();
    let document = document(&b).await;
    let id = b.deliver(&["bob@y.example", "hid@y.example"], rich()).await;
    let tags = json!({"IDs": [id], "Tags": ["one"]}).to_string();
    b.ask("PUT", "/api/v1/tags", &[], &tags).await;
    let html = "X-Tags: y\r\nContent-Type: text/html\r\n\r\n<p style='display:grid'>\
        Your code is 482 910. <a href='https://x.example/confirm'>Confirm</a></p>";
    let with_html = b.deliver(&["a@x.example"], html).await;
    let send = r#"{"From": {"Email": "a@x.example"}, "To": [{"Email": "b@x.example"}]}"#;
    let mut checked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let schema = &operation["responses"]["200"]["schema"];
            let is_json = operation["produces"][0] == "application/json";
            // The clock is the host's; the filter, the links and the relay are not here.
            let is_elsewhere = ["clock", "sa-check", "link-check"]
                .iter()
                .any(|word| path.contains(word));
            if !is_json || schema.is_null() || is_elsewhere {
                continue;
            }
            let url = path.replace("{id}", &with_html);
            let (url, body) = match (method.as_str(), path.as_str()) {
                ("get", "/api/v1/search") => (format!("{url}?query=code"), ""),
                ("get", "/api/v1/wait") => (format!("{url}?query=code&timeout=1s"), ""),
                ("post", "/api/v1/send") => (url, send),
                ("put", "/api/v1/chaos") => (url, "{}"),
                ("get", _) => (url, ""),
                other => panic!("how is {other:?} called?"),
            };
            let answer = b.ask(&method.to_uppercase(), &url, &[], body).await;
            check(
                schema,
                &answer.json(),
                &document,
                &format!("{method} {path}"),
            );
            checked += 1;
        }
    }
    assert!(checked >= 15, "{checked}");
    // What that mail does not have: files, and a message of several parts.
    for (path, definition) in [("", "Message"), ("/events", "MessageEvents")] {
        let answer = b.get(&format!("/api/v1/message/{id}{path}")).await.json();
        check(
            &document["definitions"][definition],
            &answer,
            &document,
            definition,
        );
    }
}

/// Whether the path of a call answers to its method; the clock is the host's.
#[tokio::test]
async fn every_call_of_the_document_is_served_and_takes_its_parameters() {
    let b = full();
    let document = document(&b).await;
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let mut calls = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            calls += 1;
            let named: Vec<_> = operation["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|one| one["in"] == "path")
                .map(|one| format!("{{{}}}", one["name"].as_str().unwrap()))
                .collect();
            assert_eq!(named.len(), path.matches('{').count(), "{path}");
            assert!(
                named.iter().all(|name| path.contains(name.as_str())),
                "{path}"
            );
            if path == "/api/v1/clock" || method == "delete" {
                continue;
            }
            let url = path
                .replace("{id}", &id)
                .replace("{part}", "3")
                .replace("{tag}", "none");
            let answer = b.ask(&method.to_uppercase(), &url, &[], "").await;
            assert_ne!(
                answer.status,
                StatusCode::METHOD_NOT_ALLOWED,
                "{method} {path}"
            );
            let is_unknown = answer.status == StatusCode::NOT_FOUND;
            assert!(!is_unknown || path == "/api/v1/wait", "{method} {path}");
        }
    }
    assert!(calls >= 30, "{calls}");
}
