//! The largest mails that leave later: through due rows, held rows and the store of large bodies.

use posthaste_model::BatchId;
use reqwest::Method;
use serde_json::{Value, json};

use super::{End, Ledger, MIB, changed, noise};
use crate::service::Service;
use crate::smtp::Smtp;

/// How far ahead a mail may be scheduled, in seconds.
const HORIZON: i64 = 72 * 3_600;

/// Letters that make a job close to the largest message of a queue.
const LARGEST_JOB: usize = 230_000;

async fn batch(ledger: &Ledger) -> String {
    let made = ledger.made("/v3/mail/batch", &json!({})).await;
    made["batch_id"].as_str().expect("an id").to_owned()
}

async fn hold(ledger: &Ledger, batch: &str, status: &str) {
    let hold = json!({"batch_id": batch, "status": status});
    ledger.made("/v3/user/scheduled_sends", &hold).await;
}

/// A mail to two, in a batch, of a text that no compression makes shorter.
fn later(batch: &str, at: i64, letters: usize) -> Value {
    changed(|mail| {
        mail["content"][0]["value"] = json!(noise(letters));
        mail["batch_id"] = json!(batch);
        mail["send_at"] = json!(at);
    })
}

/// The same by SMTP.
fn submitted(batch: &str, at: i64) -> Vec<u8> {
    let header = json!({"batch_id": batch, "send_at": at});
    let text = noise(LARGEST_JOB);
    format!("From: app@example.com\r\nX-SMTPAPI: {header}\r\nSubject: Later\r\n\r\n{text}\r\n")
        .into_bytes()
}

/// Waits until a batch holds so many mails past their time.
async fn holds(ledger: &Ledger, batch: &str, count: usize) {
    let host = ledger.service.host();
    let batch = BatchId::parse(batch).expect("a batch id");
    let ask = async || {
        let held = host.store().held(&host.account, &batch).await;
        (Service::answered(held)?.len() >= count).then_some(())
    };
    ledger.service.wait_for("the batch holds them", ask).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_later_mails_ends_once() {
    let mut ledger = Ledger::open().await;
    let [paused, cancelled, free] = [
        batch(&ledger).await,
        batch(&ledger).await,
        batch(&ledger).await,
    ];
    let at = ledger.service.now() + 3_600;
    for (name, batch, letters, end) in [
        ("paused", &paused, LARGEST_JOB, End::Delivered),
        ("paused in a blob", &paused, MIB, End::Delivered),
        (
            "cancelled",
            &cancelled,
            LARGEST_JOB,
            End::Dropped("Cancelled"),
        ),
        ("free", &free, LARGEST_JOB, End::Delivered),
        ("free in a blob", &free, MIB, End::Delivered),
    ] {
        ledger.send(name, &later(batch, at, letters), end).await;
    }
    let mut smtp = Smtp::logged_in(ledger.service.host().submission, ledger.service.key()).await;
    let to = ["ann@example.com", "bob@example.com"];
    let id = smtp.taken(&to, &submitted(&paused, at)).await;
    ledger.accept(id, "submitted and paused", to.len(), End::Delivered);
    hold(&ledger, &paused, "pause").await;
    hold(&ledger, &cancelled, "cancel").await;

    ledger.service.pass(3_600).await;
    holds(&ledger, &paused, 3).await;
    let path = format!("/v3/user/scheduled_sends/{paused}");
    let resumed = ledger.service.call(Method::DELETE, &path, &json!({})).await;
    assert_eq!(resumed.status(), 204);
    ledger.ended().await;

    // As far ahead as a mail may leave, and each of its two at a time of his own.
    let at = ledger.service.now() + HORIZON;
    let mut far = later(&free, at, LARGEST_JOB);
    far["personalizations"][0]["send_at"] = json!(at - 60);
    ledger.send("at the horizon", &far, End::Delivered).await;
    ledger.service.pass(HORIZON).await;
    ledger.ended().await;
    ledger.close().await;
}
