//! The mailbox with mails in it, to look at and to try changes of the page on:
//! `cargo run -p posthaste-mailbox --example demo -- [port] [mails]`.

#[path = "demo/samples.rs"]
mod samples;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use posthaste_mailbox::{DEFAULT_LIMIT, Lookup, Mailbox, Sources, StoredEnvelope, Trace};
use posthaste_model::{Clock, Millis};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let number = |n: usize| std::env::args().nth(n).and_then(|text| text.parse().ok());
    let port = number(1).unwrap_or(8025);
    let mailbox = Mailbox::open(None, DEFAULT_LIMIT, clock())?;
    let count = number(2).unwrap_or(40);
    for (sender, recipient, raw) in samples::mails(count.into()) {
        let envelope = StoredEnvelope {
            from: sender,
            to: vec![recipient],
            peer: "127.0.0.1:52114".to_owned(),
        };
        mailbox.deliver(envelope, raw.into()).await?;
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    axum::serve(listener, mailbox.router(sources())).await?;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the demonstration is its own edge, and does not read the time anywhere else"
)]
fn clock() -> Clock {
    Clock::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Millis(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0)))
    })
}

fn sources() -> Sources {
    let lookup = |find: fn(&Trace) -> Vec<Value>| -> Option<Lookup> {
        Some(Arc::new(move |trace: Trace| {
            let found = find(&trace);
            async move { found }.boxed()
        }))
    };
    Sources {
        events: lookup(|trace| {
            let email = trace.recipients.first();
            let processed =
                json!({"event": "processed", "timestamp": 1_795_820_480, "email": email});
            let last = if trace.message_id.starts_with("bounce") {
                json!({"event": "bounce", "timestamp": 1_795_820_482, "email": email, "type": "bounce",
                    "status": "5.1.1", "reason": "550 5.1.1 The mailbox you tried to reach does not exist"})
            } else {
                json!({"event": "delivered", "timestamp": 1_795_820_482, "email": email,
                    "response": "250 2.0.0 Ok: queued as 4cG1"})
            };
            let late = json!({"event": "deferred", "timestamp": 1_795_820_481, "email": email,
                "attempt": "1", "reason": "450 4.7.1 Try again later"});
            vec![processed, late, last]
        }),
        webhooks: lookup(|_| {
            vec![
                json!({"url": "http://127.0.0.1:9000/events", "status": 503, "at": 1_795_820_483,
                    "attempt": 1, "answer": "busy"}),
                json!({"url": "http://127.0.0.1:9000/events", "status": 200, "at": 1_795_820_493,
                    "attempt": 2, "answer": "ok"}),
            ]
        }),
        ..Sources::default()
    }
}
