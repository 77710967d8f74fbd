//! The built `mail-send`, `delivery` and `api-keys`, as Lambda runs them: events of API Gateway and SQS over
//! the Runtime API, every AWS call by the real SDK.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[cfg(target_os = "linux")]
mod memory;
mod objects;
pub(crate) mod sqs;
mod stage;

use std::io::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use posthaste_testkit::lambda::TRACE;
use posthaste_testkit::relay::{Relay, Script};
use serde_json::{Value, json};

use stage::{Call, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_taken_queued_and_delivered() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;

    let answer = stage.call(&mail_send, Call::send(&mail())).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    assert_eq!(answer.body, "");
    let id = answer.header("x-message-id");
    assert_eq!(id.len(), 22, "{id}");

    let relay = Relay::start(Script::new()).await;
    let delivery = stage.delivery(&relay.url()).await;
    let jobs = stage.queues.drain("send");
    assert_eq!(jobs.len(), 1);
    let outcome = delivery.invoke(stage::sqs_event(&jobs)).await;
    assert_eq!(outcome, Ok(json!({"batchItemFailures": []})));

    let mails = relay.received_at_least(1, Duration::from_secs(20)).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].envelope.to, ["ada@example.net"]);
    let from = mails[0].envelope.from.as_str();
    assert!(from.ends_with("@bounce.example.com"), "{from}");
    let text = String::from_utf8_lossy(&mails[0].bytes);
    assert!(text.contains("Subject: Good morning\r\n"), "{text}");
    assert!(text.contains("The sun is up."), "{text}");
    assert!(text.contains(&format!("{id}@mail.example.com")), "{text}");

    let events = stage.queues.drain("events").concat();
    assert!(events.contains("delivered"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_goes_along_the_queues() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    stage.call(&mail_send, Call::send(&mail())).await;
    // A message takes on the trace of the call that sends it, and hands it to the next function.
    assert_eq!(stage.queues.traces(), [Some(TRACE.to_owned())]);

    let relay = Relay::start(Script::new()).await;
    let delivery = stage.delivery(&relay.url()).await;
    let jobs = stage.queues.drain("send");
    let outcome = delivery.invoke(stage::sqs_event(&jobs)).await;
    assert_eq!(outcome, Ok(json!({"batchItemFailures": []})));
    let traces = stage.queues.traces();
    assert!(!traces.is_empty());
    assert!(traces.iter().all(|trace| trace.as_deref() == Some(TRACE)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_s_address_sends_nothing() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    let mut forged = mail();
    forged["from"]["email"] = json!("news@example.org");
    let answer = stage.call(&mail_send, Call::send(&forged)).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    assert!(answer.body.contains("verified Sender Identity"));
    assert!(stage.queues.drain("send").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_comes_twice_sends_once() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    stage.call(&mail_send, Call::send(&mail())).await;
    let jobs = stage.queues.drain("send");
    let relay = Relay::start(Script::new()).await;
    for _ in 0..2 {
        // A process of its own each time: nothing is remembered but what the table holds.
        let delivery = stage.delivery(&relay.url()).await;
        let outcome = delivery.invoke(stage::sqs_event(&jobs)).await;
        assert_eq!(outcome, Ok(json!({"batchItemFailures": []})));
    }
    assert_eq!(relay.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_job_does_not_hold_up_its_batch() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    stage.call(&mail_send, Call::send(&mail())).await;
    let mut jobs = vec!["{\"v\":1,".to_owned(), "no job".to_owned(), String::new()];
    jobs.append(&mut stage.queues.drain("send"));
    assert_eq!(jobs.len(), 4);

    let relay = Relay::start(Script::new()).await;
    let delivery = stage.delivery(&relay.url()).await;
    let outcome = delivery.invoke(stage::sqs_event(&jobs)).await;
    let outcome = outcome.expect("an answer, not an error");
    let failures = outcome["batchItemFailures"].as_array().unwrap();
    let mut ids: Vec<_> = failures
        .iter()
        .map(|failure| failure["itemIdentifier"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    // They come again, until the queue puts them with the dead letters.
    assert_eq!(ids, ["0", "1", "2"]);
    assert_eq!(relay.received().len(), 1);
    let log = delivery.log();
    let line = log
        .lines()
        .find(|line| line.contains("a send job cannot be read"));
    let line: Value = serde_json::from_str(line.expect("a line of the log")).unwrap();
    // Found by what they name, without the text.
    assert_eq!(line["level"], "ERROR");
    assert_eq!(line["queue.name"], "send");
    assert!(
        line["job.id"].is_string() && line["error"].is_string(),
        "{line}"
    );
    assert!(line["aws.request_id"].is_string(), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_events_cannot_be_told_comes_back_and_is_sent_once() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    stage.call(&mail_send, Call::send(&mail())).await;
    let jobs = stage.queues.drain("send");
    let relay = Relay::start(Script::new()).await;
    let delivery = stage.delivery(&relay.url()).await;

    // What happened cannot be told: the job is done again when it can.
    stage.queues.set_broken(true);
    let both = ["no job".to_owned(), jobs[0].clone()];
    let outcome = delivery.invoke(stage::sqs_event(&both)).await;
    let failures = outcome.expect("an answer, not an error")["batchItemFailures"].clone();
    assert!(
        failures
            .as_array()
            .unwrap()
            .contains(&json!({"itemIdentifier": "1"}))
    );

    stage.queues.set_broken(false);
    let outcome = delivery.invoke(stage::sqs_event(&jobs)).await;
    assert_eq!(outcome, Ok(json!({"batchItemFailures": []})));
    assert_eq!(relay.received().len(), 1);
    let events = stage.queues.drain("events").concat();
    assert!(events.contains("delivered"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_come_in_base64_and_packed() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    let plain = mail().to_string();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(plain.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let gzip = |bytes: &[u8]| Call::send_base64(bytes).header("content-encoding", "gzip");
    for (call, status) in [
        (Call::send_base64(plain.as_bytes()), 202),
        (gzip(&packed), 202),
        // Half of it is no gzip, and unpacked JSON is none either.
        (gzip(&packed[..packed.len() / 2]), 400),
        (gzip(plain.as_bytes()), 400),
        (Call::send_base64(&packed), 415),
    ] {
        let answer = stage.call(&mail_send, call).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    let jobs = stage.queues.drain("send");
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        let job: Value = serde_json::from_str(&job).unwrap();
        let subject = &job["body"]["mail"]["subject"];
        assert_eq!(subject, "Good morning", "{job}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_refused_in_the_shape_of_the_contract_and_queues_nothing() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    let mut wrong = stage.tenant.key.clone();
    wrong.replace_range(
        wrong.len() - 1..,
        if wrong.ends_with('a') { "b" } else { "a" },
    );
    let send = || Call::send(&mail());
    for (call, status) in [
        (
            send().header("authorization", &format!("Bearer {wrong}")),
            401,
        ),
        (send().header("authorization", ""), 401),
        (send().at("POST", "/v3/mail/sent"), 404),
        (send().at("GET", "/v3/mail/send"), 405),
        (send().header("content-type", "text/plain"), 415),
        (Call::send(&json!({})), 400),
        (Call::send(&json!([])), 400),
    ] {
        let answer = stage.call(&mail_send, call).await;
        assert_eq!(answer.status, status, "{answer:?}");
        let body: Value = serde_json::from_str(&answer.body).expect("a JSON body");
        let item = body["errors"][0].as_object().unwrap();
        // Every one says where to read on, or that there is nothing to read.
        assert!(item.contains_key("help"), "{body}");
        let first = &body["errors"][0]["message"];
        assert!(first.as_str().is_some_and(|m| !m.is_empty()), "{body}");
    }
    assert_eq!(stage.queues.drain("send"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_slash_is_said_to_be_the_reason() {
    let stage = Stage::open().await;
    let api_keys = stage.api_keys().await;
    for (method, path, status, word) in [
        // What the gateway brings here because no route has two slashes.
        ("POST", "//v3/mail/send", 404, "two slashes"),
        ("GET", "//v3/templates/x", 404, "two slashes"),
        ("GET", "//v3/nothing", 404, "not found"),
        ("GET", "/v3/mail/send", 405, "method not allowed"),
        ("GET", "/v3/nothing", 404, "not found"),
        // Its own routes it serves.
        ("GET", "//v3/scopes", 200, "mail.send"),
    ] {
        let call = Call::send(&mail()).at(method, path);
        let answer = stage.call(&api_keys, call).await;
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        assert!(answer.body.contains(word), "{method} {path}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_caller_is_whom_the_gateway_saw() {
    let stage = Stage::open().await;
    let net = "192.0.2.0/24".parse().unwrap();
    let account = &stage.tenant.account;
    let allowed = stage
        .store
        .allow_ips(&account.id, &[net], account.created_at)
        .await;
    assert!(matches!(allowed, Ok(posthaste_store::Allow::Added(_))));
    let mail_send = stage.mail_send().await;

    let home = Call::send(&mail()).from("192.0.2.7");
    assert_eq!(stage.call(&mail_send, home).await.status, 202);
    let liar = Call::send(&mail()).from("198.51.100.1");
    let liar = liar.header("x-forwarded-for", "192.0.2.7");
    let answer = stage.call(&mail_send, liar).await;
    assert_eq!(answer.status, 401);
    assert!(
        answer.body.contains("not authorized to send mail"),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_cannot_be_queued_is_not_taken() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    stage.queues.set_broken(true);
    let answer = stage.call(&mail_send, Call::send(&mail())).await;
    assert!(answer.status >= 500, "{answer:?}");
    assert!(answer.body.starts_with("{\"errors\":"), "{answer:?}");
    // The process lives on, and takes the next one.
    stage.queues.set_broken(false);
    let answer = stage.call(&mail_send, Call::send(&mail())).await;
    assert_eq!(answer.status, 202, "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_none_is_an_error_and_the_next_is_served() {
    let stage = Stage::open().await;
    let relay = Relay::start(Script::new()).await;
    let delivery = stage.delivery(&relay.url()).await;
    let outcome = delivery.invoke(json!({"Records": "none"})).await;
    assert!(outcome.is_err(), "{outcome:?}");
    let outcome = delivery.invoke(json!({"Records": []})).await;
    assert_eq!(outcome, Ok(json!({"batchItemFailures": []})));
}

fn mail() -> Value {
    json!({
        "personalizations": [{"to": [{"email": "ada@example.net", "name": "Ada"}]}],
        "from": {"email": "news@example.com", "name": "News"},
        "subject": "Good morning",
        "content": [{"type": "text/plain", "value": "The sun is up."}],
    })
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
