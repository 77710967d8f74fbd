//! Answers without an end, and with bytes that are no text.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use posthaste_model::Timestamp;
use posthaste_store::Account;
use posthaste_testkit::{TestClock, entropy};
use serde_json::json;
use tokio::time::{Instant, interval};

use super::*;
use crate::service::Here;

/// A service in this process that answers so to every call.
fn source(answer: impl Fn() -> Body + Clone + Send + Sync + 'static) -> SourceApi {
    let router = Router::new().fallback(move || {
        let body = answer();
        async move { Response::new(body) }
    });
    let account = Account::new(entropy().account_id(), "ada", Timestamp(0));
    let here = Here::new(router, Arc::new(account));
    let pause = Pause::new(|_| Box::pin(std::future::ready(())));
    let clock = TestClock::default().clock();
    SourceApi::new(Service::Here(here), clock, pause, Progress::new(|_| ()))
}

/// A byte every ten seconds.
fn drip() -> Body {
    let every = interval(Duration::from_secs(10));
    Body::from_stream(stream::unfold(every, |mut every| async move {
        every.tick().await;
        Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), every))
    }))
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_drips_is_left_at_its_bound() {
    let mut source = source(drip);
    let start = Instant::now();
    let fault = source.value("/v3/alerts").await.unwrap_err().to_string();
    assert_eq!(fault, "the answer has no end within 120 s (2 attempts)");
    assert_eq!(start.elapsed(), AnswerBound::PAGE.time * 2);
    let start = Instant::now();
    let fault = source.items("/v3/alerts").await.unwrap_err().to_string();
    assert_eq!(fault, "the answer has no end within 120 s (2 attempts)");
    assert_eq!(start.elapsed(), AnswerBound::PAGE.time * 2);
    let start = Instant::now();
    let mut sink = |_| Ok(());
    let list = source.array("/v3/alerts", AnswerBound::LIST, &mut sink);
    let fault = list.await.unwrap_err().to_string();
    assert_eq!(fault, "the answer has no end within 1800 s (2 attempts)");
    assert_eq!(start.elapsed(), AnswerBound::LIST.time * 2);
    let start = Instant::now();
    let fault = source.greet().await.unwrap_err().to_string();
    assert_eq!(fault, "no answer in time (2 attempts)");
    assert_eq!(start.elapsed(), FIRST_WITHIN * 2);
}

#[tokio::test]
async fn bytes_that_are_no_text_cost_no_answer_and_are_said() {
    let mut source = source(|| Body::from(&b"[{\"name\":\"caf\xe9\"},{\"name\":\"b\"}]"[..]));
    let want = json!([{"name": "caf\u{fffd}"}, {"name": "b"}]);
    assert_eq!(source.value("/v3/asm/groups").await.unwrap(), want);
    assert!(source.take_mended() && !source.take_mended());
    let items = source.items("/v3/asm/groups").await.unwrap();
    assert_eq!(json!(items), want);
    assert!(source.take_mended() && !source.take_mended());
}
