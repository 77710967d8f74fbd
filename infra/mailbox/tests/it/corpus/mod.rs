//! Mails and searches of the largest size, each of a shape that costs an unbounded reader time, memory or stack, through
//! every call and page, on threads whose stack is small.

mod html;
mod mails;
mod searches;

use std::sync::mpsc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;

use crate::support::Box;

/// The largest mail that the ports accept.
const LARGEST: usize = 30 << 20;
const STACK: usize = 256 << 10;
/// Code whose time grows with the square of the size needs hours here.
const HANG: Duration = Duration::from_secs(60);

/// Does the work on a small stack, as well as what it hands to other threads.
fn on_a_small_stack<F: Future>(case: &str, work: impl FnOnce() -> F + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    let thread = thread.spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.thread_stack_size(STACK).enable_all().build();
        runtime.unwrap().block_on(work());
        done.send(()).unwrap();
    });
    match wait.recv_timeout(HANG) {
        Ok(()) => thread.unwrap().join().unwrap(),
        Err(why) => panic!("{case}: {why}"),
    }
}

/// Delivers a mail, requests every view of it, and returns the answer of the REST call.
async fn message(b: &Box, case: &str, raw: Vec<u8>) -> Value {
    let id = b.deliver(&["a@x.example"], raw.clone()).await;
    let call = format!("/api/v1/message/{id}");
    for path in [
        "/".to_owned(),
        format!("{call}/headers"),
        format!("{call}/part/0"),
        format!("{call}/part/1.1"),
        format!("/view/{id}.html?embed=1"),
        format!("/message/{id}?view=headers"),
        format!("/message/{id}?view=files"),
        "/api/v1/search?query=subject:y+a@x.example".to_owned(),
    ] {
        let answer = b.get(&path).await;
        let is_expected = [StatusCode::OK, StatusCode::NOT_FOUND].contains(&answer.status);
        assert!(is_expected, "{case} {path} {}", answer.status);
        if path.contains("view=") {
            assert!(answer.body.len() < 4 << 20, "{case} {path} is a page");
        }
    }
    let back = b.get(&format!("{call}/raw")).await.body;
    assert!(back == raw, "{case}: the source comes back as it came");
    let message = b.get(&call).await.json();
    assert_eq!(message["Size"], raw.len(), "{case}");
    message
}

fn check(case: &'static str, raw: impl FnOnce() -> Vec<u8> + Send + 'static) {
    on_a_small_stack(case, move || async move {
        message(&Box::new(), case, raw()).await;
    });
}

/// As many of the unit as a mail holds, behind its head.
fn filled(head: &str, unit: &str) -> Vec<u8> {
    let count = (LARGEST - head.len()) / unit.len();
    [head.as_bytes(), unit.repeat(count).as_bytes()].concat()
}

/// As many of the numbered units as a mail holds.
fn numbered(head: &str, unit: impl Fn(usize) -> String) -> Vec<u8> {
    let mut raw = head.as_bytes().to_vec();
    for n in 0.. {
        let unit = unit(n);
        if raw.len() + unit.len() > LARGEST {
            break;
        }
        raw.extend_from_slice(unit.as_bytes());
    }
    raw
}
