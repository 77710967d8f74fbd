//! A body with a value of the wrong type in every field of every route: what the answers say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::{House, fill, routes};
use crate::template::read::root;

/// Words of the program, which no answer has. Names of its types are added.
const OF_RUST: [&str; 14] = [
    "struct ",
    "enum ",
    "tuple",
    "sequence",
    "a map",
    "variant",
    "floating point",
    "did not match",
    "::",
    "Option<",
    "i64",
    "u64",
    "usize",
    ", expected ",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The names of the fields of request bodies, and the names of types, that the sources of the
/// functions declare.
fn declared() -> (BTreeSet<String>, BTreeSet<String>) {
    let mut files = Vec::new();
    for folder in fs::read_dir(root().join("functions")).expect("the functions") {
        let folder = folder.expect("an entry").path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
    }
    let (mut fields, mut types) = (BTreeSet::new(), BTreeSet::new());
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        let mut is_body = false;
        for line in text.lines() {
            let is_end = line.starts_with('}');
            let line = line.trim();
            let derives = line.starts_with("#[derive(") && line.contains("Deserialize");
            is_body = (is_body || derives) && !is_end;
            let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
            let line = line.strip_prefix("pub ").unwrap_or(line);
            if let Some((name, _)) = line.split_once(": ").filter(|_| is_body) {
                fields.extend(is_name(name).then(|| name.to_owned()));
            }
            let renamed = line.split_once("rename = \"").filter(|_| is_body);
            let renamed = renamed.and_then(|(_, rest)| rest.split('"').next());
            fields.extend(renamed.map(str::to_owned));
            for keyword in ["struct ", "enum "] {
                let name = line.strip_prefix(keyword).unwrap_or_default();
                let name = name.split(|c: char| !c.is_alphanumeric()).next();
                types.extend(name.filter(|name| is_type(name)).map(str::to_owned));
            }
        }
    }
    (fields, types)
}

/// Whether a name has two capitals, as no word of a sentence has.
fn is_type(name: &str) -> bool {
    name.chars().filter(|c| c.is_uppercase()).count() > 1
}

/// An object with each field set to the value.
fn object(fields: &BTreeSet<String>, value: &Value) -> Value {
    let members = fields.iter().map(|name| (name.clone(), value.clone()));
    Value::Object(members.collect::<Map<_, _>>())
}

/// Bodies in which every field has a value of one type, also one level down.
fn bodies(fields: &BTreeSet<String>) -> Vec<Value> {
    let values = [json!(7), json!(1.5), json!("x"), json!(true), json!([7])];
    let mut bodies: Vec<Value> = values.iter().map(|value| object(fields, value)).collect();
    for value in &values {
        let inner = object(fields, value);
        bodies.push(object(fields, &inner));
        bodies.push(object(fields, &json!([inner])));
    }
    bodies.extend([json!([]), json!(7), json!("x"), Value::Null]);
    bodies
}

/// A name of a type as a word of its own.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|part| part == word)
}

#[tokio::test]
async fn no_answer_to_a_wrong_type_has_a_word_of_the_program() {
    let house = House::open().await;
    let (fields, types) = declared();
    assert!(fields.len() > 50 && types.len() > 50);
    let with_body = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let mut wrong_types = 0;
    for route in routes().await {
        if !with_body.contains(&route.method) || !route.path.starts_with("/v3/") {
            continue;
        }
        let path = fill(route.path, |_| "1".to_owned());
        for body in bodies(&fields) {
            let tenant = house.key();
            let answer = house.call(&route.method, &path, tenant, &body).await;
            let name = format!("{} {path}", route.method);
            assert!(answer.status < 500, "{name}: {}", answer.body);
            if answer.status < 400 {
                continue;
            }
            answer.keeps_the_contract(&name);
            let refused: Value = serde_json::from_str(&answer.body).expect("JSON");
            for error in refused["errors"].as_array().expect("errors") {
                let message = error["message"].as_str().expect("a message");
                wrong_types += usize::from(message.starts_with("Invalid type."));
                for word in OF_RUST {
                    assert!(!message.contains(word), "{name}: {message}");
                }
                let found = types.iter().find(|name| has_word(message, name));
                assert_eq!(found, None, "{name}: {message}");
                let help = error["help"]["text"].as_str().unwrap_or_default();
                let (page, _) = help.split_once('#').unwrap_or_default();
                let base = format!("http://{}", house.host.api);
                assert!(
                    help.is_empty() || page == format!("{base}/docs/errors"),
                    "{name}: {help}"
                );
            }
        }
    }
    assert!(wrong_types > 300, "{wrong_types} wrong types were named");
}

#[tokio::test]
async fn the_help_of_an_error_is_a_page_that_this_service_serves() {
    let house = House::open().await;
    let page = house.ask(&Method::GET, "/docs/errors", &[], b"").await;
    assert_eq!(page.status, 200);
    let mail = json!({"from": 7, "personalizations": [{"to": [7]}], "content": 7});
    for (method, path, body) in [
        (Method::POST, "/v3/mail/send", mail),
        (Method::POST, "/v3/mail/send", json!({})),
        (Method::POST, "/v3/mail/send", json!({"headers": {"a": 1}})),
        (Method::GET, "/v3/nothing", json!({})),
        (Method::GET, "/v3/templates/d-1", json!({})),
        (Method::POST, "/v3/asm/groups", json!({"name": 7})),
    ] {
        // The address is the configured one, whatever the caller says.
        let key = format!("Bearer {}", house.key());
        let headers = [("authorization", key.as_str()), ("host", "evil.example")];
        let body = body.to_string();
        let answer = house.ask(&method, path, &headers, body.as_bytes()).await;
        let refused: Value = serde_json::from_str(&answer.body).expect("JSON");
        let errors = refused["errors"].as_array().expect("errors");
        for error in errors {
            let help = error["help"]["text"].as_str();
            let help = help.unwrap_or_else(|| panic!("{method} {path}: {}", answer.body));
            assert!(!help.contains("evil.example"), "{help}");
            let anchor = help
                .split_once("/docs/errors#")
                .expect("a place in the page")
                .1;
            assert!(page.body.contains(&format!("id=\"{anchor}\"")), "{anchor}");
        }
    }
}
