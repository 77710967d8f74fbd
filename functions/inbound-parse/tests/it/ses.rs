//! A mail that SES brings.

use bytes::Bytes;
use posthaste_blob::BlobError;
use serde_json::json;

use crate::{Desk, field};

const RAW: &[u8] = b"Return-Path: <ann@sender.example>\r\n\
    Received: from mail.sender.example (mail.sender.example [198.51.100.4])\r\n \
    by inbound-smtp.eu-west-1.amazonaws.com\r\n\
    From: ann@sender.example\r\nTo: box@spam.shop.example\r\n\r\nHello\r\n";

fn notice() -> String {
    json!({
        "notificationType": "Received",
        "mail": {"source": "ann@sender.example", "messageId": "m1",
            "destination": ["box@spam.shop.example"]},
        "receipt": {
            "recipients": ["box@spam.shop.example", "x@elsewhere.example"],
            "spfVerdict": {"status": "PASS"}, "dkimVerdict": {"status": "FAIL"},
            "spamVerdict": {"status": "FAIL"}, "virusVerdict": {"status": "PASS"},
            "dmarcVerdict": {"status": "GRAY"},
            "action": {"type": "S3", "bucketName": "b", "objectKey": "received/m1"},
        },
    })
    .to_string()
}

#[tokio::test]
async fn the_verdicts_of_ses_are_posted_and_its_copy_is_forgotten() {
    let desk = Desk::new().await;
    desk.setting("spam.shop.example", true, false).await;
    let blob = &desk.app.blob;
    blob.put("received/m1", Bytes::from_static(RAW))
        .await
        .unwrap();
    assert_eq!(desk.work(vec![notice()]).await, 0);
    let jobs = desk.jobs();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!(desk.work(jobs).await, 0);

    let form = desk.posted().await;
    assert_eq!(field(&form, "SPF"), Some("pass"));
    assert_eq!(field(&form, "dkim"), Some("{@sender.example : fail}"));
    assert_eq!(field(&form, "sender_ip"), Some("198.51.100.4"));
    assert_eq!(field(&form, "spam_score"), Some("5"));
    let gone = blob.get("received/m1").await;
    assert!(matches!(gone, Err(BlobError::Missing(_))));
    // SNS and SQS repeat themselves.
    assert_eq!(desk.work(vec![notice()]).await, 0);
    assert!(desk.jobs().is_empty());
}
