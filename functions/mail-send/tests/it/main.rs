//! mail/send from outside: bytes in, a mail or every problem out.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod bodies;
mod catalogue;
mod composes;
mod edge;
mod held;
mod idempotency;
mod limits;
mod rules;
mod senders;
mod test_app;
mod traps;
mod types;
mod waiting;

use mail_send::{SendLimits, decode_and_check};
use posthaste_model::{Mail, Problem, Timestamp};
use serde_json::{Value, json};

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000);

/// A request that passes, to be spoilt.
pub(crate) fn good() -> Value {
    json!({
        "personalizations": [{"to": [{"email": "ann@example.org"}]}],
        "from": {"email": "shop@example.com"},
        "subject": "Hello",
        "content": [{"type": "text/plain", "value": "Hi Ann"}],
    })
}

/// [`good`] with some values replaced (or added), each named by its path: `content.0.type`. A
/// `Value` that is the text `remove` takes the key away.
pub(crate) fn with(changes: &[(&str, Value)]) -> Value {
    let mut body = good();
    for (path, value) in changes {
        let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
        let pointer = match parent {
            "" => String::new(),
            parent => format!("/{}", parent.replace('.', "/")),
        };
        let parent = body
            .pointer_mut(&pointer)
            .unwrap_or_else(|| panic!("no {pointer}"));
        match (parent, last.parse::<usize>()) {
            (Value::Array(items), Ok(i)) if i < items.len() => items[i] = value.clone(),
            (Value::Array(items), Ok(_)) => items.push(value.clone()),
            (Value::Object(object), _) if value == "remove" => drop(object.remove(last)),
            (Value::Object(object), _) => drop(object.insert(last.to_owned(), value.clone())),
            (parent, _) => panic!("{path} lies in {parent}"),
        }
    }
    body
}

pub(crate) fn read(body: &[u8]) -> Result<Mail, Vec<Problem>> {
    decode_and_check(body, NOW, &SendLimits::default()).map(|checked| checked.mail)
}

#[track_caller]
pub(crate) fn accept(body: &Value) -> Mail {
    read(body.to_string().as_bytes()).unwrap_or_else(|found| panic!("{body:#}\n{found:#?}"))
}

pub(crate) fn refuse(body: &Value) -> Vec<Problem> {
    read(body.to_string().as_bytes()).expect_err(&format!("accepted: {body:.1000}"))
}

/// The problems as `field: message`, and whether each has a help link.
#[track_caller]
pub(crate) fn check_problems(body: &Value, want: &[&str]) {
    let got: Vec<_> = refuse(body).iter().map(line).collect();
    assert_eq!(got, want, "{body:.2000}");
}

pub(crate) fn line(problem: &Problem) -> String {
    let field = problem.field.as_deref().unwrap_or("null");
    format!("{field}: {}", problem.message)
}
