//! Slow work holds up nothing else, on a runtime with a single thread.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use posthaste_mailbox::{Mailbox, Sources, StoredEnvelope};
use tokio::sync::mpsc as messages;

use crate::support::{Box, clock, mail, rich};

/// How long a piece of work waits for its gate before the test is given up.
const HANG: Duration = Duration::from_secs(60);

/// Holds the first piece of work of one name until it is let go.
struct Gate {
    reached: messages::UnboundedReceiver<()>,
    open: mpsc::Sender<()>,
    armed: Arc<AtomicBool>,
}

fn gated(wanted: &'static str) -> (Box, Gate) {
    let (send, reached) = messages::unbounded_channel();
    let (open, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let armed = Arc::new(AtomicBool::new(false));
    let hold = Arc::clone(&armed);
    let mailbox = Mailbox::open(None, 100, clock()).unwrap();
    let mailbox = mailbox.observed_by(Arc::new(move |name| {
        if name == wanted && hold.swap(false, Ordering::SeqCst) {
            send.send(()).unwrap();
            let opened = wait.lock().unwrap().recv_timeout(HANG);
            opened.expect("the work ran on the thread that serves");
        }
    }));
    let router = mailbox.clone().router(Sources::default());
    let gate = Gate {
        reached,
        open,
        armed,
    };
    (Box { mailbox, router }, gate)
}

/// Starts `slow`, and makes other requests while it is held.
async fn check<T>(b: &Box, mut gate: Gate, slow: impl Future<Output = T>) -> T {
    let mut slow = pin!(slow);
    gate.armed.store(true, Ordering::SeqCst);
    tokio::select! {
        biased;
        _ = &mut slow => panic!("the work is not done apart"),
        reached = gate.reached.recv() => reached.unwrap(),
    }
    for path in [
        "/livez",
        "/",
        "/style.css",
        "/api/v1/messages",
        "/message/latest",
    ] {
        let answer = b.get(path).await;
        let want = match path {
            "/message/latest" => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        };
        assert_eq!(answer.status, want, "{path}");
    }
    b.deliver(
        &["b@x.example"],
        mail("f@x.example", "b@x.example", "small", "hi"),
    )
    .await;
    assert!(slow.as_mut().now_or_never().is_none(), "it is still held");
    gate.open.send(()).unwrap();
    slow.await
}

#[tokio::test]
async fn a_large_mail_is_read_and_written_apart() {
    let (b, gate) = gated("record");
    let raw = mail("f@x.example", "a@x.example", "big", &"x ".repeat(20_000));
    let delivery = b.mailbox.deliver(StoredEnvelope::default(), raw.into());
    check(&b, gate, delivery).await.unwrap();
    assert_eq!(b.subjects("/api/v1/messages").await, ["big", "small"]);
}

#[tokio::test]
async fn everything_that_reads_a_mail_is_done_apart() {
    for (name, path) in [
        ("json", "/api/v1/message/ID"),
        ("json", "/api/v1/message/ID/headers"),
        ("json", "/api/v1/messages?limit=0"),
        ("json", "/api/v1/search?query=x"),
        ("get", "/api/v1/message/ID/raw"),
        ("part", "/api/v1/message/ID/part/2"),
        ("view", "/view/ID.html"),
        ("view", "/view/ID.txt"),
        ("reader", "/message/ID?view=source"),
        ("render", "/message/ID?view=raw"),
        ("render", "/?q=a"),
        ("list", "/api/v1/search?query=x"),
        ("list", "/?q=a"),
    ] {
        let (b, gate) = gated(name);
        let id = b.deliver(&["bob@y.example"], rich()).await;
        let answer = check(&b, gate, b.get(&path.replace("ID", &id))).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn everything_that_changes_mails_is_done_apart() {
    for (name, method, path, body) in [
        ("body", "DELETE", "/api/v1/messages", "{}"),
        ("delete", "DELETE", "/api/v1/messages", "{}"),
        ("delete", "DELETE", "/api/v1/search?query=x", ""),
        ("mark", "PUT", "/api/v1/messages", "{\"Read\":true}"),
        ("delete", "POST", "/clear", ""),
        ("mark", "POST", "/read", ""),
    ] {
        let (b, gate) = gated(name);
        b.deliver(&["bob@y.example"], rich()).await;
        let answer = check(&b, gate, b.ask(method, path, &[], body)).await;
        let is_expected = [StatusCode::OK, StatusCode::SEE_OTHER].contains(&answer.status);
        assert!(is_expected, "{method} {path}: {}", answer.status);
    }
}

/// Each takes several times its size.
#[tokio::test]
async fn no_more_large_mails_are_in_memory_than_there_are_cores() {
    let most = posthaste_offload::concurrency();
    let (send, mut reached) = messages::unbounded_channel();
    let (open, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let mailbox = Mailbox::open(None, 100, clock()).unwrap();
    let mailbox = mailbox.observed_by(Arc::new(move |name| {
        if name == "view" {
            send.send(()).unwrap();
            wait.lock().unwrap().recv_timeout(HANG).unwrap();
        }
    }));
    let router = mailbox.clone().router(Sources::default());
    let b = Box { mailbox, router };
    let large = mail("f@x.example", "a@x.example", "big", &"x ".repeat(40_000));
    let id = b.deliver(&["a@x.example"], large).await;
    let small = mail("f@x.example", "a@x.example", "small", "hi");
    let other = b.deliver(&["a@x.example"], small).await;

    let path = format!("/view/{id}.txt");
    let mut views = Vec::new();
    for _ in 0..most + 3 {
        let (b, path) = (b.clone(), path.clone());
        views.push(tokio::spawn(async move { b.get(&path).await.status }));
    }
    for _ in 0..most {
        reached.recv().await.unwrap();
    }
    // Others wait for their turn, and small mails for nothing.
    for path in ["/api/v1/messages", &format!("/message/{other}?view=text")] {
        assert_eq!(b.get(path).await.status, StatusCode::OK, "{path}");
    }
    assert!(reached.try_recv().is_err());
    for _ in 0..most + 3 {
        open.send(()).unwrap();
    }
    for view in views {
        assert_eq!(view.await.unwrap(), StatusCode::OK);
    }
}
