//! Bodies of the largest size, made to cost as much as they can: what a wrong field costs must not
//! grow with the length of a path, nor with the number of problems.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use posthaste_http::{Rejection, parse};
use serde::Deserialize;
use serde_json::Value;

/// The largest body that the doors take.
const LARGEST: usize = 8 << 20;

/// A guard against hanging, and not a measure of speed.
const HANG: Duration = Duration::from_secs(120);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Preview {
    subject: Option<String>,
    dynamic_template_data: Value,
    lists: BTreeMap<String, Vec<u8>>,
    names: Vec<String>,
}

/// The fields that the answer to a body names, which does not fit.
#[track_caller]
fn refused_fields(body: String) -> Vec<String> {
    assert!(body.len() <= LARGEST, "{} bytes", body.len());
    let (done, answer) = mpsc::channel();
    thread::spawn(move || done.send(parse::<Preview>(body.as_bytes()).map(|_| ())));
    let answer: Result<(), Rejection> = answer.recv_timeout(HANG).expect("reading ends");
    let problems = answer.unwrap_err().problems.into_iter();
    problems
        .map(|problem| problem.field.unwrap_or_default())
        .collect()
}

/// A key that is half as long as the body, and as many numbers as fit behind it.
fn long_key_with_many_numbers() -> String {
    let key = "k".repeat(LARGEST / 2);
    let numbers = "0,".repeat(LARGEST / 4 - 100);
    format!(r#"{{"{key}":[{numbers}0]}}"#)
}

#[test]
fn a_wrong_field_beside_a_long_path_costs_no_more_than_the_body() {
    let object = long_key_with_many_numbers();
    for member in ["dynamic_template_data", "lists"] {
        let body = format!(r#"{{"subject":7,"{member}":{object}}}"#);
        assert_eq!(refused_fields(body), ["subject"], "{member}");
    }
}

#[test]
fn a_long_text_is_not_read_once_for_each_problem() {
    let body = |texts: usize| {
        let (fit, wrong) = (r#""1","#.repeat(texts), "7,".repeat(49));
        format!(r#"{{"names":[{fit}{wrong}7]}}"#)
    };
    // Two readings are just below the most that is read.
    let long = body(LARGEST / 4 - 100);
    assert!(long.len() > LARGEST - 1_000);
    assert_eq!(refused_fields(long).len(), 3);
    assert_eq!(refused_fields(body(10_000)).len(), 50);
}
