//! The largest mails to the bounce domain, a batch of them at once, in the memory that the template gives the function. The
//! only test of its binary: it measures the process it runs in.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use posthaste_blob::Blob;
use posthaste_model::{EventKind, Verp};
use posthaste_queue::EventBatch;
use posthaste_store::{AttemptOutcome, Claim, Claimant, CopyState, Described};
use posthaste_testkit::{Services, Tenant, entropy, most_memory, sqs_event};
use serde_json::json;
use ses_feedback::{App, handle};

/// The largest mail that SES receives, in bytes (SES developer guide, "Service quotas").
const MAIL: usize = 40 << 20;

/// Messages of a batch (`BatchSize` of `SesFeedbackFunction`).
const BATCH: u32 = 10;

/// `MemorySize` of the function, without what Lambda's own part of it is taken for.
const MOST: u64 = (256 - 40) << 20;

/// A report about a copy, with all of a large mail after it or with a text of that size before it.
fn write_report(path: &Path, number: u32) {
    let mut mail = BufWriter::new(File::create(path).unwrap());
    let text =
        "This is the mail system. Your message could not be delivered, for which we are sorry.\r\n";
    let long = text.repeat(MAIL / text.len());
    let (before, after) = match number % 2 {
        0 => (long.as_str(), ""),
        _ => ("", long.as_str()),
    };
    write!(
        mail,
        "From: Mail Delivery System <MAILER-DAEMON@mx.example.com>\r\nSubject: Undelivered Mail\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/report; report-type=delivery-status; boundary=\"=_b\"\r\n\r\n\
        --=_b\r\nContent-Type: text/plain\r\n\r\n{before}\r\n\
        --=_b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n\
        Final-Recipient: rfc822; ann@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n\
        Diagnostic-Code: smtp; 550 5.1.1 User unknown\r\n\r\n\
        --=_b\r\nContent-Type: message/rfc822\r\n\r\nFrom: news@shop.example\r\nSubject: News\r\n\r\n{after}\r\n--=_b--\r\n"
    )
    .unwrap();
    mail.flush().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_the_largest_mails_fits_into_the_functions_memory() {
    let bucket = tempfile::tempdir().unwrap();
    fs::create_dir(bucket.path().join("bounces")).unwrap();
    let services = Services::start().await;
    let mut app = services.open(App::from_env);
    app.blob = Blob::folder(bucket.path()).unwrap();
    let tenant = Tenant::new(&services.store, "owner", services.clock.now()).await;
    let (account, message, now) = (
        &tenant.account.id,
        entropy().message_id(),
        services.clock.now(),
    );
    let mut notices = Vec::new();
    for recipient in 0..BATCH {
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: 86_400,
        };
        let what = Described {
            email: "ann@example.com",
            from: "news@shop.example",
            subject: "News",
            accepted_at: now,
        };
        let outcome = AttemptOutcome {
            state: CopyState::Delivered,
            now,
            events: &[],
        };
        let which = (account, &message, recipient);
        let claim = services.store.claim(which, 0, who, &what).await.unwrap();
        assert_eq!(claim, Claim::Won);
        services.store.record(which, 0, &outcome).await.unwrap();
        let verp = Verp {
            account: account.clone(),
            message: message.clone(),
            recipient,
        };
        let mark = app.keys.mark(&verp.claim());
        let address = format!("{}@bounce.post.example", verp.local(mark));
        let object = format!("bounces/m{recipient}");
        write_report(&bucket.path().join(&object), recipient);
        let notice = json!({
            "notificationType": "Received",
            "mail": {"source": "", "messageId": object, "destination": [address]},
            "receipt": {"recipients": [address],
                "action": {"type": "S3", "bucketName": "b", "objectKey": object}},
        });
        notices.push(notice.to_string());
    }
    let done = handle(&app, &sqs_event(notices)).await;
    assert_eq!(done.unfinished().count(), 0);
    let sent = services.queues.drain("events");
    let events = sent
        .iter()
        .flat_map(|(text, _)| EventBatch::from_text(text).unwrap().events);
    let bounces = events
        .filter(|event| event.kind == EventKind::Bounce)
        .count();
    assert_eq!(bounces, BATCH as usize);
    println!("at most {} MiB", most_memory() >> 20);
    assert!(most_memory() < MOST, "{} MiB", most_memory() >> 20);
}
