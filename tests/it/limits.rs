//! SPEC's "Limits" table, row by row, through the whole service: what lies on a limit passes, what
//! lies one past it is refused with the exact message and field.
//!
//! The rows of mail/send in `mail`, those about an account in `account`, those about time in
//! `time`. That each rule of mail/send is refused in its words is `functions/mail-send`'s own test,
//! which `ERRORS.md` is checked against.

mod account;
mod body;
mod mail;
mod time;

use serde_json::Value;

/// Every error of an answer as field and message, in the order of the answer. Each has the members
/// of the contract and no other.
#[track_caller]
fn told(body: &Value) -> Vec<(Option<&str>, &str)> {
    let errors = body["errors"].as_array().expect("an error body");
    let one = |error: &Value| {
        let mut names: Vec<_> = error.as_object().expect("an object").keys().collect();
        names.sort();
        assert_eq!(names, ["field", "help", "message"], "{error}");
        let help = &error["help"];
        assert!(help.is_null() || help["text"].is_string(), "{error}");
    };
    errors.iter().for_each(one);
    errors
        .iter()
        .map(|e| (e["field"].as_str(), e["message"].as_str().expect("a text")))
        .collect()
}
