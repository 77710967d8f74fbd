//! The largest mails there are, ten of them at once, in the memory that the template gives the function.

use posthaste_testkit::relay::{At, Does, Relay, Script};
use serde_json::json;

use super::base64;
use super::stage::{self, Call, Stage};
use crate::template::read::Template;

/// Mails of a batch.
const MAILS: usize = 10;

/// Bytes of the file in each: just below 30 MB in base64, which is the largest request.
const FILE: usize = 21 << 20;

/// What Lambda's own part of the memory is taken for.
const LAMBDAS: u64 = 40 << 20;

/// The megabytes of a function in the template.
fn memory_of(name: &str) -> u64 {
    let template = Template::read();
    let stanza = &template.functions()[name];
    let memory = stanza.get("MemorySize");
    let memory = memory.unwrap_or_else(|| template.global("MemorySize"));
    memory.as_u64().expect("megabytes") << 20
}

/// `cargo test -p posthaste-tests --test it -- --ignored --nocapture memory`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute"]
async fn ten_mails_of_30_mb_fit_into_the_functions_memory() {
    let stage = Stage::open().await;
    let mail_send = stage.mail_send().await;
    // Bytes that no compression makes fewer.
    let mut state = 1_u64;
    let file: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(FILE)
    .collect();
    let mut mail = super::mail();
    mail["attachments"] = json!([{"content": base64(&file), "filename": "a.bin"}]);
    for _ in 0..MAILS {
        let answer = stage.call(&mail_send, Call::send(&mail)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    let most = mail_send.most_memory() + LAMBDAS;
    assert!(
        most < memory_of("mail-send"),
        "mail-send: {} MB",
        most >> 20
    );

    // Taken, and not kept.
    let script = Script::new().on(At::Message, Does::say("250 2.0.0 taken"));
    let relay = Relay::start(script).await;
    let delivery = stage.delivery(&relay.url()).await;
    let jobs = stage.queues.drain("send");
    assert_eq!(jobs.len(), MAILS);
    let outcome = delivery.invoke(stage::sqs_event(&jobs)).await;
    assert_eq!(outcome, Ok(json!({"batchItemFailures": []})));
    let events = stage.queues.drain("events").concat();
    let delivered = events.matches(r#""kind":"delivered""#).count();
    assert_eq!(delivered, MAILS, "{events}");
    let most = delivery.most_memory() + LAMBDAS;
    println!("delivery: {} MB", most >> 20);
    assert!(most < memory_of("delivery"), "delivery: {} MB", most >> 20);
}
