//! Reports that come by mail, and who may send them.

use bytes::Bytes;
use posthaste_blob::BlobError;
use posthaste_model::{BounceType, EventKind};
use posthaste_render::{LinkAction, LinkToken};
use posthaste_store::{CopyState, SuppressionList};
use serde_json::json;
use ses_feedback::wants;

use crate::{EMAIL, TestApp};

pub(crate) const FAILED: &str = include_str!("../samples/failed.eml");
const COMPLAINT: &str = include_str!("../samples/complaint.eml");
const VACATION: &str = include_str!("../samples/vacation.eml");
const WORDS: &str = include_str!("../samples/words.eml");
const JUNK: &str = include_str!("../samples/junk.eml");

/// A copy that a relay had taken.
async fn delivered() -> TestApp {
    let service = TestApp::empty().await;
    service.claimed().await;
    service.recorded(CopyState::Delivered).await;
    service
}

#[tokio::test]
async fn a_bounce_by_mail_finds_its_copy() {
    let service = delivered().await;
    service.mailed(&[&service.verp()], FAILED).await;
    let event = service.one();
    assert_eq!(
        (event.kind, event.email.as_str()),
        (EventKind::Bounce, EMAIL)
    );
    assert_eq!(event.bounce_type, Some(BounceType::Bounce));
    let class = event.bounce_classification.as_deref();
    assert_eq!(class, Some("Invalid Address"));
    let reason = event.reason.as_deref().unwrap();
    assert!(
        reason.ends_with("Recipient address rejected: User unknown"),
        "{reason}"
    );
    assert_eq!(event.smtp_id.as_deref(), Some("x@post.example"));
    assert!(service.is_on(SuppressionList::Bounces).await);
    assert_eq!(service.row().await.state, CopyState::Bounced);
}

#[tokio::test]
async fn a_mail_that_was_read_is_forgotten() {
    let service = delivered().await;
    let raw = Bytes::from(service.sample(FAILED).into_bytes());
    service.app.blob.put("bounces/m1", raw).await.unwrap();
    let notice = json!({
        "notificationType": "Received",
        "mail": {"source": "", "messageId": "m1", "destination": [service.verp()]},
        "receipt": {"recipients": [service.verp()],
            "action": {"type": "S3", "bucketName": "b", "objectKey": "bounces/m1"}},
    });
    let notice = notice.to_string();
    // SNS and SQS repeat themselves.
    service.work(std::slice::from_ref(&notice)).await;
    service.work(&[notice]).await;
    assert_eq!(service.one().kind, EventKind::Bounce);
    let gone = service.app.blob.get("bounces/m1").await;
    assert!(matches!(gone, Err(BlobError::Missing(_))));
}

#[tokio::test]
async fn a_delay_by_mail_is_a_deferral() {
    let service = delivered().await;
    let delayed = FAILED
        .replace("Action: failed", "Action: delayed")
        .replace("5.1.1", "4.2.0");
    service.mailed(&[&service.verp()], &delayed).await;
    let event = service.one();
    assert_eq!(event.kind, EventKind::Deferred);
    assert_eq!(event.status.as_deref(), Some("4.2.0"));
    assert_eq!(service.row().await.state, CopyState::Delivered);
    assert!(!service.is_on(SuppressionList::Blocks).await);
}

#[tokio::test]
async fn a_bounce_in_words_is_read_when_it_answers_a_mail_of_ours() {
    let service = delivered().await;
    let verp = service.verp();
    // From a person, or to another address, the words prove nothing.
    service
        .mailed_from("ann@example.com", &[&verp], WORDS)
        .await;
    service
        .mailed(&["postmaster@bounce.post.example"], WORDS)
        .await;
    assert!(service.queued_events().is_empty());
    service.mailed_from("<>", &[&verp], WORDS).await;
    let event = service.one();
    assert_eq!(event.kind, EventKind::Bounce);
    assert_eq!(event.bounce_type, Some(BounceType::Bounce));
    assert_eq!(event.status.as_deref(), Some("5.1.1"));
    let reason = event.reason.as_deref().unwrap();
    assert!(reason.starts_with("550 5.1.1 <ann@"), "{reason}");
    assert!(service.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn the_server_is_believed_before_its_reporter() {
    let service = delivered().await;
    let full = FAILED
        .replace(
            "550 5.1.1 <ann@inside.example.com>: Recipient",
            "552 5.2.2 Over",
        )
        .replace("address rejected: User unknown", "quota");
    assert_ne!(full, FAILED);
    service.mailed(&[&service.verp()], &full).await;
    let event = service.one();
    assert_eq!(event.bounce_type, Some(BounceType::Blocked));
    assert_eq!(event.status.as_deref(), Some("5.2.2"));
    assert!(!service.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn a_complaint_without_a_report_finds_its_copy_by_its_link() {
    let service = delivered().await;
    let token = service.app.keys.sign(&LinkToken {
        account: service.tenant.account.id.clone(),
        message: service.message.clone(),
        recipient: 3,
        email: EMAIL.to_owned(),
        issued: service.hand.now(),
        host: None,
        action: LinkAction::Unsubscribe,
    });
    let fbl = "fbl@bounce.post.example";
    let from = "staff@hotmail.example";
    let forged = JUNK.replace("{token}", &token.replace(&token[..4], "AAAA"));
    service.mailed_from(from, &[fbl], &forged).await;
    assert!(service.queued_events().is_empty());
    // Without the mark of the program it is a complaint only where complaints are sent to.
    let mail = JUNK.replace("{token}", &token);
    let bare = mail.replace("X-HmXmrOriginalRecipient", "X-Other");
    service
        .mailed_from(from, &["postmaster@bounce.post.example"], &bare)
        .await;
    assert!(service.queued_events().is_empty());
    service.mailed_from(from, &[fbl], &mail).await;
    assert_eq!(service.one().kind, EventKind::SpamReport);
    assert!(service.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn a_mail_forwarded_to_the_mailbox_for_complaints_is_one() {
    let service = delivered().await;
    let mail = JUNK
        .replace("X-HmXmrOriginalRecipient", "Return-Path")
        .replace("ann@example.com", "{verp}");
    service
        .mailed_from("ann@example.com", &["abuse@bounce.post.example"], &mail)
        .await;
    assert_eq!(service.one().kind, EventKind::SpamReport);
}

#[tokio::test]
async fn a_report_of_success_tells_nothing_new() {
    let service = delivered().await;
    let relayed = FAILED.replace("Action: failed", "Action: relayed");
    service.mailed(&[&service.verp()], &relayed).await;
    assert!(service.queued_events().is_empty());
}

#[tokio::test]
async fn a_complaint_by_mail_finds_its_copy_by_what_it_returns() {
    let service = delivered().await;
    for kind in ["not-spam", "auth-failure", ""] {
        let mail = COMPLAINT.replace("{type}", kind);
        service.mailed(&["fbl@bounce.post.example"], &mail).await;
        assert!(service.queued_events().is_empty(), "{kind}");
    }
    let mail = COMPLAINT.replace("{type}", "abuse");
    service.mailed(&["fbl@bounce.post.example"], &mail).await;
    assert_eq!(service.one().kind, EventKind::SpamReport);
    assert!(service.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn an_opt_out_report_unsubscribes() {
    let service = delivered().await;
    let mail = COMPLAINT.replace("{type}", "opt-out");
    service.mailed(&["abuse@bounce.post.example"], &mail).await;
    assert_eq!(service.one().kind, EventKind::Unsubscribe);
    assert!(service.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn an_invented_report_is_ignored() {
    let service = delivered().await;
    let verp = service.verp();
    let (local, domain) = verp.split_once('@').unwrap();
    let (claim, mark) = local.rsplit_once('-').unwrap();
    let wrong = if mark.starts_with('0') { "1" } else { "0" };
    let forged = format!("{claim}-{wrong}{}@{domain}", &mark[1..]);
    // Of another copy, with the mark of this one.
    let other = verp.replace("-3-", "-4-");
    for address in [forged.as_str(), other.as_str(), "b-1@bounce.post.example"] {
        let mail = FAILED.replace("{verp}", address);
        service.mailed(&[address], &mail).await;
        assert!(service.queued_events().is_empty(), "{address}");
        let mail = COMPLAINT
            .replace("{type}", "abuse")
            .replace("{verp}", address);
        service.mailed(&["abuse@bounce.post.example"], &mail).await;
        assert!(service.queued_events().is_empty(), "{address}");
    }
    assert!(service.lists().await.groups().next().is_none());
    assert!(!service.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn a_report_of_a_forgotten_copy_names_no_recipient() {
    // The address in a report is unauthenticated, and the row that would prove it is gone.
    let service = TestApp::empty().await;
    service.mailed(&[&service.verp()], FAILED).await;
    assert!(service.queued_events().is_empty());
}

#[tokio::test]
async fn no_mail_is_answered() {
    let service = delivered().await;
    let verp = service.verp();
    // A vacation note, a report about a report, and a mail to no copy.
    let nested = FAILED.replace("{verp}", "MAILER-DAEMON@mx.post.example");
    for mail in [VACATION, &nested, "\r\n", ""] {
        service.mailed(&[&verp], mail).await;
    }
    // The nested one came to the address of a copy, and is a bounce of it; the rest is nothing.
    assert!(
        service
            .queued_events()
            .iter()
            .all(|event| event.kind == EventKind::Bounce)
    );
    for queue in ["send", "inbound", "retries", "feedback"] {
        assert!(service.queues.drain(queue).is_empty(), "{queue}");
    }
}

#[tokio::test]
async fn the_door_knows_its_addresses() {
    let service = TestApp::new().await;
    let verp = service.verp();
    for (address, want) in [
        (verp.as_str(), Some(true)),
        (verp.to_uppercase().as_str(), Some(true)),
        ("postmaster@bounce.post.example", Some(true)),
        ("Abuse@BOUNCE.post.example", Some(true)),
        ("unsubscribe@bounce.post.example", Some(true)),
        ("unsubscribe@post.example", None),
        ("b-1-2-3-4@bounce.post.example", Some(false)),
        ("ann@bounce.post.example", Some(false)),
        ("@bounce.post.example", Some(false)),
        ("ann@post.example", None),
        ("postmaster", None),
        ("", None),
    ] {
        assert_eq!(wants(&service.app, address), want, "{address}");
    }
    let mut closed = service.app.clone();
    closed.bounce_domain = None;
    assert_eq!(wants(&closed, &verp), None);
}
