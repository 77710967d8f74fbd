//! What a full mailbox costs: ten thousand mails of 2 KB in a file, every delivery pushing the
//! oldest one out. A load test delivers 3,000 mails a second, so a delivery may take 333 µs.

use std::hint::black_box;

use axum::body::Body;
use axum::http::Request;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use http_body_util::BodyExt as _;
use posthaste_mailbox::{DEFAULT_LIMIT, Error, Mailbox, Sources, StoredEnvelope};
use posthaste_model::{Clock, Millis};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

type Failure = Box<dyn std::error::Error>;

fn mail(number: usize) -> (StoredEnvelope, Vec<u8>) {
    let to = format!("user{number}@example.com");
    let text = "The quick brown fox jumps over the lazy dog.\r\n".repeat(18);
    let raw = format!(
        "From: Shop <shop@example.org>\r\nTo: {to}\r\nSubject: Order {number}\r\n\
         Message-ID: <{number}@example.org>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/alternative; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\n{text}\r\n\
         --b\r\nContent-Type: text/html\r\n\r\n<p>{text}</p>\r\n--b--\r\n"
    );
    let envelope = StoredEnvelope {
        from: "bounce@example.org".to_owned(),
        to: vec![to],
        peer: String::new(),
    };
    (envelope, raw.into_bytes())
}

fn benches(c: &mut Criterion) {
    if let Err(why) = measure(c) {
        tracing::error!("the mailbox was not measured: {why}");
    }
}

fn measure(c: &mut Criterion) -> Result<(), Failure> {
    let runtime = Runtime::new()?;
    let folder = tempfile::tempdir()?;
    let clock = Clock::new(|| Millis(1_795_780_800_000));
    let mailbox = Mailbox::open(Some(folder.path().to_owned()), DEFAULT_LIMIT, clock)?;
    let mut number = 0;
    let deliver = async |number: usize| -> Result<String, Error> {
        let (envelope, raw) = mail(number);
        mailbox.deliver(envelope, raw.into()).await
    };
    while number < DEFAULT_LIMIT {
        runtime.block_on(deliver(number))?;
        number += 1;
    }
    let mut group = c.benchmark_group("mailbox of 10,000");
    group.throughput(Throughput::Elements(1));
    group.bench_function("deliver 2 KB", |b| {
        b.iter(|| {
            number += 1;
            black_box(runtime.block_on(deliver(number)))
        });
    });
    let router = mailbox.clone().router(Sources::default());
    for (name, path) in [
        ("list", "/api/v1/messages"),
        ("page", "/"),
        ("search to:", "/api/v1/search?query=to:user9@"),
        ("search words", "/api/v1/search?query=nothing+like+this"),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                runtime.block_on(async {
                    let request = Request::get(path).body(Body::empty())?;
                    let answer = router.clone().oneshot(request).await?;
                    Ok::<_, Failure>(answer.into_body().collect().await?.to_bytes())
                })
            });
        });
    }
    group.finish();
    Ok(())
}

criterion_group!(all, benches);
criterion_main!(all);
