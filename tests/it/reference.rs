//! The API reference against the service: every route is described with the scopes that the gate asks for, and every
//! call of SendGrid's is either served or listed with a reason.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_http::Access;
use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{House, routes};

/// Every call of SendGrid's published API, and of the suites of its client libraries.
const OF_SENDGRID: &str = include_str!("reference/sendgrid.txt");

const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

async fn document(house: &House) -> Value {
    let answer = house.ask(&Method::GET, "/openapi.json", &[], b"").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    serde_json::from_str(&answer.body).expect("JSON")
}

/// The operations of the document by `METHOD path`.
fn operations(document: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            assert!(METHODS.contains(&method.as_str()), "{method} {path}");
            found.insert(
                format!("{} {path}", method.to_uppercase()),
                operation.clone(),
            );
        }
    }
    found
}

/// What a route needs, in the document's form.
fn security(access: Access) -> Value {
    match access {
        Access::Public => json!([]),
        Access::AnyKey => json!([{"key": []}]),
        Access::Scope(scope) => json!([{"key": [scope]}]),
        Access::Either(one, other) => json!([{"key": [one]}, {"key": [other]}]),
        Access::OneOf(scopes) => scopes.iter().map(|scope| json!({"key": [scope]})).collect(),
    }
}

#[tokio::test]
async fn the_document_has_the_routes_with_their_scopes_and_no_others() {
    let house = House::open().await;
    let mut described = operations(&document(&house).await);
    for route in routes().await {
        let name = format!("{} {}", route.method, route.path);
        let operation = described.remove(&name).unwrap_or_else(|| {
            panic!(
                "/openapi.json has no {name}: describe it in src/reference.rs of its function; the reference.json of \
                 a new function is a line of functions/api-keys/src/docs/document.rs"
            )
        });
        assert_eq!(
            operation["security"],
            security(route.access),
            "{name}: run tests/reference/write"
        );
        let responses = operation["responses"].as_object().expect("responses");
        assert!(!responses.is_empty(), "{name} has no responses");
    }
    let left: Vec<_> = described.keys().collect();
    assert!(left.is_empty(), "described and not served: {left:?}");
}

#[tokio::test]
async fn operations_have_names_of_their_own_and_a_summary() {
    let house = House::open().await;
    let mut names = BTreeSet::new();
    for (call, operation) in operations(&document(&house).await) {
        let name = operation["operationId"]
            .as_str()
            .expect("a name")
            .to_owned();
        assert!(names.insert(name), "{call}");
        let summary = operation["summary"].as_str().unwrap_or_default();
        assert!(
            !summary.is_empty() && !summary.ends_with('.'),
            "{call}: {summary:?}"
        );
    }
}

/// `GET /v3/ips/{ip}` and `GET /v3/ips/{address}` are the same call.
fn shape(call: &str) -> String {
    let part = |part: &'_ str| {
        if part.starts_with('{') {
            "{}".to_owned()
        } else {
            part.to_owned()
        }
    };
    call.split('/').map(part).collect::<Vec<_>>().join("/")
}

const LIST: &str = "functions/api-keys/src/docs/not-served.json";

/// A route that can only refuse is no call that is served; others are listed by hand, because they answer that there is
/// nothing.
#[tokio::test]
async fn every_call_that_always_refuses_is_listed_with_a_reason() {
    let house = House::open().await;
    let document = document(&house).await;
    let served = operations(&document);
    let mut answered = BTreeSet::new();
    for group in document["x-not-served"].as_array().expect("groups") {
        for call in group["answered"].as_array().into_iter().flatten() {
            let call = call.as_str().expect("a call").to_owned();
            assert!(
                served.contains_key(&call),
                "{call} has no route: list it under `calls` in {LIST}"
            );
            assert!(answered.insert(call), "{group}: a call is listed twice");
        }
    }
    for (call, operation) in served {
        let answers = operation["responses"].as_object().expect("responses");
        let is_refusal = answers.keys().all(|status| status.starts_with(['4', '5']));
        assert!(
            !is_refusal || answered.contains(&call),
            "{call} always refuses: list it under `answered` in {LIST}"
        );
    }
}

#[tokio::test]
async fn every_call_of_sendgrid_is_served_or_listed_with_a_reason() {
    let house = House::open().await;
    let document = document(&house).await;
    let served: BTreeSet<_> = operations(&document)
        .keys()
        .map(|call| shape(call))
        .collect();
    let mut listed = BTreeSet::new();
    for group in document["x-not-served"].as_array().expect("groups") {
        assert!(
            group["why"].as_str().is_some_and(|why| why.ends_with('.')),
            "{group}"
        );
        for call in group["calls"].as_array().expect("calls") {
            let call = call.as_str().expect("a call");
            assert!(
                !served.contains(&shape(call)),
                "{call} is served: take it out of {LIST}"
            );
            assert!(
                listed.insert(shape(call)),
                "{call} is listed twice in {LIST}"
            );
        }
    }
    let mut of_sendgrid = BTreeSet::new();
    for call in OF_SENDGRID.lines() {
        of_sendgrid.insert(shape(call));
        let is_known = served.contains(&shape(call)) || listed.contains(&shape(call));
        assert!(is_known, "{call} is neither served nor in {LIST}");
    }
    assert!(of_sendgrid.len() > 390);
    for call in listed {
        assert!(
            of_sendgrid.contains(&call),
            "{call} is no call of SendGrid's"
        );
    }
}

#[tokio::test]
async fn calls_beyond_sendgrids_are_marked() {
    let house = House::open().await;
    let of_sendgrid: BTreeSet<_> = OF_SENDGRID.lines().map(shape).collect();
    for (call, operation) in operations(&document(&house).await) {
        // The pages behind mailed links are SendGrid's too, under other addresses.
        let is_theirs = of_sendgrid.contains(&shape(&call)) || LEGACY.contains(&call.as_str());
        let is_marked = operation["x-extension"] == true;
        assert_eq!(
            is_marked, !is_theirs,
            "{call}: `.extension()` in its function's src/reference.rs, or not"
        );
    }
}

/// Calls that SendGrid answers and does not publish any more.
const LEGACY: [&str; 19] = [
    "GET /v3/mail_settings/bcc",
    "PATCH /v3/mail_settings/bcc",
    "GET /v3/mail_settings/plain_content",
    "PATCH /v3/mail_settings/plain_content",
    "GET /v3/mail_settings/spam_check",
    "PATCH /v3/mail_settings/spam_check",
    "GET /v3/suppressions/bounces/classifications",
    "GET /v3/suppressions/bounces/classifications/{classification}",
    "GET /v3/user/multifactor_authentication",
    "POST /v3/user/multifactor_authentication",
    "PATCH /v3/user/multifactor_authentication",
    "DELETE /v3/user/multifactor_authentication",
    "GET /v3/user/timezone",
    "PUT /v3/user/timezone",
    "PATCH /v3/user/timezone",
    "GET /v3/user/webhooks/event/settings",
    "PATCH /v3/user/webhooks/event/settings",
    "GET /v3/user/webhooks/event/settings/signed",
    "PATCH /v3/user/webhooks/event/settings/signed",
];

#[tokio::test]
async fn the_root_says_where_things_are_and_each_of_them_answers() {
    let house = House::open().await;
    let answer = house.ask(&Method::GET, "/", &[], b"").await;
    let places: Value = serde_json::from_str(&answer.body).expect("JSON");
    let links = places["links"].as_object().expect("links");
    let names: Vec<_> = links.keys().map(String::as_str).collect();
    assert_eq!(names, ["docs", "errors", "health", "mailbox", "openapi"]);
    let mailbox = format!("http://{}", house.host.mailbox);
    assert_eq!(links["mailbox"], mailbox);
    for (name, target) in links {
        let target = target.as_str().expect("an address");
        let status = if target.starts_with('/') {
            house.ask(&Method::GET, target, &[], b"").await.status
        } else {
            reqwest::get(target)
                .await
                .expect("an answer")
                .status()
                .as_u16()
        };
        assert_eq!(status, 200, "{name}");
    }
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let page = house.ask(&Method::GET, "/", &browser, b"").await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(
        page.body.contains(&format!("href=\"{mailbox}\"")),
        "{}",
        page.body
    );
}
