//! A mail that SES brings.

use bytes::Bytes;
use posthaste_blob::BlobError;
use posthaste_spam::{Filter, LARGEST};
use posthaste_testkit::Reply;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::{TestApp, field};

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
    let service = TestApp::new().await;
    service.setting("spam.shop.example", true, false).await;
    let blob = &service.app.blob;
    blob.put("received/m1", Bytes::from_static(RAW))
        .await
        .unwrap();
    assert_eq!(service.work(vec![notice()]).await, 0);
    let jobs = service.jobs();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!(service.work(jobs).await, 0);

    let form = service.posted().await;
    assert_eq!(field(&form, "SPF"), Some("pass"));
    assert_eq!(field(&form, "dkim"), Some("{@sender.example : fail}"));
    assert_eq!(field(&form, "sender_ip"), Some("198.51.100.4"));
    assert_eq!(field(&form, "spam_score"), Some("5"));
    let gone = blob.get("received/m1").await;
    assert!(matches!(gone, Err(BlobError::Missing(_))));
    // SNS and SQS repeat themselves.
    assert_eq!(service.work(vec![notice()]).await, 0);
    assert!(service.jobs().is_empty());
}

/// SES writes its own fields each time, with a new id and a new moment, and keeps each mail in an
/// object of its own.
#[tokio::test]
async fn a_mail_with_a_message_id_handed_to_ses_twice_is_posted_once() {
    let service = TestApp::new().await;
    service.setting("spam.shop.example", true, false).await;
    let raw = String::from_utf8(RAW.to_vec()).unwrap();
    let raw = raw.replace("To: box", "Message-ID: <1@sender.example>\r\nTo: box");
    let again = raw.replace("amazonaws.com\r\n", "amazonaws.com with SMTP id 2\r\n");
    let other = raw.replace("Hello", "Another");
    assert_ne!(raw, again);
    for (mail, object, posts) in [(raw, "m1", 1), (again, "m2", 1), (other, "m3", 2)] {
        service.brought(object, mail).await;
        assert_eq!(service.receiver.posts().len(), posts);
    }
}

/// SES has taken each of them: two that read the same are two.
#[tokio::test]
async fn without_a_message_id_an_object_of_ses_is_a_mail_of_its_own() {
    let service = TestApp::new().await;
    service.setting("spam.shop.example", true, false).await;
    let raw = String::from_utf8(RAW.to_vec()).unwrap();
    for (object, posts) in [("m1", 1), ("m2", 2), ("m1", 2), ("m3", 3)] {
        // A notice that comes twice, the second time before the object was deleted.
        service.brought(object, raw.clone()).await;
        assert_eq!(service.receiver.posts().len(), posts, "{object}");
        service.hand.advance(20 * 86_400 / 4);
    }
}

impl TestApp {
    /// Works off the notice of a mail in this object, and what comes of it.
    async fn brought(&self, object: &str, mail: String) {
        let key = format!("received/{object}");
        self.app.blob.put(&key, mail.into()).await.unwrap();
        let notice = notice().replace("received/m1", &key);
        assert_eq!(self.work(vec![notice]).await, 0);
        assert_eq!(self.work(self.jobs()).await, 0);
    }
}

/// A spamd that scores every mail 7.5.
async fn spamd() -> Filter {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut mail = Vec::new();
            stream.read_to_end(&mut mail).await.unwrap();
            let answer = "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 7.5 / 5.0\r\n\r\nrules\r\n";
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    Filter::parse(&format!("spamd://{address}")).unwrap()
}

/// One that is not there.
async fn unreachable() -> Filter {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    Filter::parse(&format!("spamd://{address}")).unwrap()
}

#[tokio::test]
async fn a_filter_is_asked_before_the_word_of_ses_is_taken() {
    let small = RAW.to_vec();
    let large = [RAW, &b"x".repeat(LARGEST)].concat();
    for (filter, raw, score, report) in [
        (spamd().await, &small, "7.5", "rules"),
        (spamd().await, &large, "5", "SES: spam FAIL"),
        (unreachable().await, &small, "5", "SES: spam FAIL"),
    ] {
        let mut service = TestApp::new().await;
        service.app.filter = Some(filter);
        service.setting("spam.shop.example", true, false).await;
        let mail = Bytes::from(raw.clone());
        service.app.blob.put("received/m1", mail).await.unwrap();
        assert_eq!(service.work(vec![notice()]).await, 0);
        assert_eq!(service.work(service.jobs()).await, 0);
        let form = service.posted().await;
        assert_eq!(field(&form, "spam_score"), Some(score));
        let report_text = field(&form, "spam_report").unwrap();
        assert!(report_text.contains(report), "{report_text}");
    }
}

/// Every attempt says the same.
#[tokio::test]
async fn a_filter_is_asked_once_and_only_where_the_setting_wants_it() {
    let mut service = TestApp::new().await;
    service.app.filter = Some(spamd().await);
    service.setting("spam.shop.example", true, false).await;
    service.receiver.script([Reply::status(503)]);
    service.arrive(&["box@spam.shop.example"], RAW).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    let form = service.posted().await;
    assert_eq!(field(&form, "spam_score"), Some("7.5"));

    service.app.filter = Some(unreachable().await);
    let mut later = service.jobs();
    later.extend(service.due().await);
    assert_eq!(later.len(), 1);
    assert_eq!(service.work(later).await, 0);
    assert_eq!(field(&service.posted().await, "spam_score"), Some("7.5"));

    service.arrive(&["box@in.shop.example"], RAW).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(field(&service.posted().await, "spam_score"), None);
}

#[tokio::test]
async fn a_filter_that_is_down_says_so_and_holds_no_mail_back() {
    let mut service = TestApp::new().await;
    service.app.filter = Some(unreachable().await);
    service.setting("spam.shop.example", true, false).await;
    service.arrive(&["box@spam.shop.example"], RAW).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    let form = service.posted().await;
    assert_eq!(field(&form, "spam_score"), None);
    let report_text = field(&form, "spam_report").unwrap();
    assert!(report_text.starts_with("not checked: "), "{report_text}");
}

#[tokio::test]
async fn a_verdict_that_ses_did_not_give_is_no_score() {
    for (spam, virus, want) in [
        ("PASS", "PASS", Some("0")),
        ("PASS", "FAIL", Some("5")),
        ("GRAY", "PASS", None),
        ("PROCESSING_FAILED", "PROCESSING_FAILED", None),
        ("DISABLED", "DISABLED", None),
    ] {
        let service = TestApp::new().await;
        service.setting("spam.shop.example", true, false).await;
        let raw = Bytes::from_static(RAW);
        service.app.blob.put("received/m1", raw).await.unwrap();
        let notice = notice()
            .replace(
                r#""spamVerdict":{"status":"FAIL"}"#,
                &format!(r#""spamVerdict":{{"status":"{spam}"}}"#),
            )
            .replace(
                r#""virusVerdict":{"status":"PASS"}"#,
                &format!(r#""virusVerdict":{{"status":"{virus}"}}"#),
            );
        assert_eq!(service.work(vec![notice]).await, 0);
        assert_eq!(service.work(service.jobs()).await, 0);
        let form = service.posted().await;
        assert_eq!(field(&form, "spam_score"), want, "{spam} {virus}");
        let report = format!("SES: spam {spam}, virus {virus}");
        assert_eq!(field(&form, "spam_report"), Some(report.as_str()));
        // SES has written the `Received` field.
        let headers = field(&form, "headers").unwrap();
        assert_eq!(headers.matches("Received: ").count(), 1, "{headers}");
    }
}
