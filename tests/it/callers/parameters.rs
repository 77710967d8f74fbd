//! Wrong parameters of a URL: what a route refuses alone, it also refuses among others, so that one
//! answer names everything that is wrong with a request.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::Value;

use super::{House, fill, routes};

/// The parameters that any route checks. A route ignores those that it does not have.
const CHECKED: [&str; 28] = [
    "after",
    "aggregated_by",
    "date",
    "end_date",
    "end_time",
    "exclude_subusers",
    "generations",
    "id",
    "include_region",
    "lastSeenID",
    "limit",
    "message_id",
    "offset",
    "page_size",
    "page_token",
    "query",
    "region",
    "since",
    "sort_by",
    "sort_by_direction",
    "sort_by_metric",
    "start_date",
    "start_time",
    "status",
    "suppressions",
    "until",
    "webhook_id",
    "categories",
];

/// Parameters that some routes require, with a value that they accept.
const REQUIRED: [(&str, &str); 3] = [
    ("start_date", "2026-01-01"),
    ("date", "2026-01-01"),
    ("categories", "news"),
];

/// A value that no parameter of the list above but `categories` accepts: longer than any key, and
/// not a number, a date, a flag, a query, or a word of the API.
fn wrong() -> String {
    "x".repeat(1_100)
}

/// The query in which these parameters are wrong and the required others are not.
fn query(names: &[&str]) -> String {
    let required = REQUIRED.iter().filter(|(name, _)| !names.contains(name));
    let required = required.map(|(name, value)| format!("{name}={value}"));
    let wrong = names.iter().map(|name| match *name {
        "categories" => "categories=".to_owned(),
        name => format!("{name}={}", wrong()),
    });
    required.chain(wrong).collect::<Vec<_>>().join("&")
}

/// The fields that an answer complains about.
fn fields(answer: &super::Answer) -> BTreeSet<String> {
    let answer: Value = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
    let errors = answer["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let fields = errors.iter().filter_map(|error| error["field"].as_str());
    fields.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_wrong_parameter_of_a_request_is_named_at_once() {
    let house = House::open().await;
    let (mut several, mut silent) = (0, Vec::new());
    for route in routes().await {
        if route.method != Method::GET || !route.path.starts_with("/v3/") {
            continue;
        }
        let path = fill(route.path, |name| match name {
            "classification" => "Content".to_owned(),
            "email" => "ann@example.com".to_owned(),
            _ => "1".to_owned(),
        });
        let mut alone = BTreeSet::new();
        for name in CHECKED {
            let asked = format!("{path}?{}", query(&[name]));
            let answer = house
                .call(&route.method, &asked, house.key(), &Value::Null)
                .await;
            if answer.status == 400 && fields(&answer).contains(name) {
                alone.insert(name.to_owned());
            }
        }
        if alone.len() < 2 {
            continue;
        }
        several += 1;
        let asked = format!("{path}?{}", query(&CHECKED));
        let answer = house
            .call(&route.method, &asked, house.key(), &Value::Null)
            .await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.body);
        let answer = fields(&answer);
        let missing: Vec<_> = alone.difference(&answer).cloned().collect();
        if !missing.is_empty() {
            silent.push(format!("{}: {missing:?}", route.path));
        }
    }
    assert!(several >= 25, "{several} routes check several parameters");
    assert!(silent.is_empty(), "not named among others: {silent:#?}");
}
