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
    let desk = TestApp::empty().await;
    desk.claimed().await;
    desk.recorded(CopyState::Delivered).await;
    desk
}

#[tokio::test]
async fn a_bounce_by_mail_finds_its_copy() {
    let desk = delivered().await;
    desk.mailed(&[&desk.verp()], FAILED).await;
    let event = desk.one();
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
    assert!(desk.is_on(SuppressionList::Bounces).await);
    assert_eq!(desk.row().await.state, CopyState::Bounced);
}

#[tokio::test]
async fn a_mail_that_was_read_is_forgotten() {
    let desk = delivered().await;
    let raw = Bytes::from(desk.sample(FAILED).into_bytes());
    desk.app.blob.put("bounces/m1", raw).await.unwrap();
    let notice = json!({
        "notificationType": "Received",
        "mail": {"source": "", "messageId": "m1", "destination": [desk.verp()]},
        "receipt": {"recipients": [desk.verp()],
            "action": {"type": "S3", "bucketName": "b", "objectKey": "bounces/m1"}},
    });
    let notice = notice.to_string();
    // SNS and SQS repeat themselves.
    desk.work(std::slice::from_ref(&notice)).await;
    desk.work(&[notice]).await;
    assert_eq!(desk.one().kind, EventKind::Bounce);
    let gone = desk.app.blob.get("bounces/m1").await;
    assert!(matches!(gone, Err(BlobError::Missing(_))));
}

#[tokio::test]
async fn a_delay_by_mail_is_a_deferral() {
    let desk = delivered().await;
    let delayed = FAILED
        .replace("Action: failed", "Action: delayed")
        .replace("5.1.1", "4.2.0");
    desk.mailed(&[&desk.verp()], &delayed).await;
    let event = desk.one();
    assert_eq!(event.kind, EventKind::Deferred);
    assert_eq!(event.status.as_deref(), Some("4.2.0"));
    assert_eq!(desk.row().await.state, CopyState::Delivered);
    assert!(!desk.is_on(SuppressionList::Blocks).await);
}

#[tokio::test]
async fn a_bounce_in_words_is_read_when_it_answers_a_mail_of_ours() {
    let desk = delivered().await;
    let verp = desk.verp();
    // From a person, or to another address, the words prove nothing.
    desk.mailed_from("ann@example.com", &[&verp], WORDS).await;
    desk.mailed(&["postmaster@bounce.post.example"], WORDS)
        .await;
    assert!(desk.told().is_empty());
    desk.mailed_from("<>", &[&verp], WORDS).await;
    let event = desk.one();
    assert_eq!(event.kind, EventKind::Bounce);
    assert_eq!(event.bounce_type, Some(BounceType::Bounce));
    assert_eq!(event.status.as_deref(), Some("5.1.1"));
    let reason = event.reason.as_deref().unwrap();
    assert!(reason.starts_with("550 5.1.1 <ann@"), "{reason}");
    assert!(desk.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn the_server_is_believed_before_its_reporter() {
    let desk = delivered().await;
    let full = FAILED
        .replace(
            "550 5.1.1 <ann@inside.example.com>: Recipient",
            "552 5.2.2 Over",
        )
        .replace("address rejected: User unknown", "quota");
    assert_ne!(full, FAILED);
    desk.mailed(&[&desk.verp()], &full).await;
    let event = desk.one();
    assert_eq!(event.bounce_type, Some(BounceType::Blocked));
    assert_eq!(event.status.as_deref(), Some("5.2.2"));
    assert!(!desk.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn a_complaint_without_a_report_finds_its_copy_by_its_link() {
    let desk = delivered().await;
    let token = desk.app.keys.sign(&LinkToken {
        account: desk.tenant.account.id.clone(),
        message: desk.message.clone(),
        recipient: 3,
        email: EMAIL.to_owned(),
        issued: desk.hand.now(),
        action: LinkAction::Unsubscribe,
    });
    let fbl = "fbl@bounce.post.example";
    let from = "staff@hotmail.example";
    let forged = JUNK.replace("{token}", &token.replace(&token[..4], "AAAA"));
    desk.mailed_from(from, &[fbl], &forged).await;
    assert!(desk.told().is_empty());
    // Without the mark of the program it is a complaint only where complaints are sent to.
    let mail = JUNK.replace("{token}", &token);
    let bare = mail.replace("X-HmXmrOriginalRecipient", "X-Other");
    desk.mailed_from(from, &["postmaster@bounce.post.example"], &bare)
        .await;
    assert!(desk.told().is_empty());
    desk.mailed_from(from, &[fbl], &mail).await;
    assert_eq!(desk.one().kind, EventKind::SpamReport);
    assert!(desk.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn a_mail_forwarded_to_the_mailbox_for_complaints_is_one() {
    let desk = delivered().await;
    let mail = JUNK
        .replace("X-HmXmrOriginalRecipient", "Return-Path")
        .replace("ann@example.com", "{verp}");
    desk.mailed_from("ann@example.com", &["abuse@bounce.post.example"], &mail)
        .await;
    assert_eq!(desk.one().kind, EventKind::SpamReport);
}

#[tokio::test]
async fn a_report_of_success_tells_nothing_new() {
    let desk = delivered().await;
    let relayed = FAILED.replace("Action: failed", "Action: relayed");
    desk.mailed(&[&desk.verp()], &relayed).await;
    assert!(desk.told().is_empty());
}

#[tokio::test]
async fn a_complaint_by_mail_finds_its_copy_by_what_it_returns() {
    let desk = delivered().await;
    for kind in ["not-spam", "auth-failure", ""] {
        let mail = COMPLAINT.replace("{type}", kind);
        desk.mailed(&["fbl@bounce.post.example"], &mail).await;
        assert!(desk.told().is_empty(), "{kind}");
    }
    let mail = COMPLAINT.replace("{type}", "abuse");
    desk.mailed(&["fbl@bounce.post.example"], &mail).await;
    assert_eq!(desk.one().kind, EventKind::SpamReport);
    assert!(desk.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn an_opt_out_report_unsubscribes() {
    let desk = delivered().await;
    let mail = COMPLAINT.replace("{type}", "opt-out");
    desk.mailed(&["abuse@bounce.post.example"], &mail).await;
    assert_eq!(desk.one().kind, EventKind::Unsubscribe);
    assert!(desk.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn nobody_can_invent_a_report() {
    let desk = delivered().await;
    let verp = desk.verp();
    let (local, domain) = verp.split_once('@').unwrap();
    let (claim, mark) = local.rsplit_once('-').unwrap();
    let wrong = if mark.starts_with('0') { "1" } else { "0" };
    let forged = format!("{claim}-{wrong}{}@{domain}", &mark[1..]);
    // Of another copy, with the mark of this one.
    let other = verp.replace("-3-", "-4-");
    for address in [forged.as_str(), other.as_str(), "b-1@bounce.post.example"] {
        let mail = FAILED.replace("{verp}", address);
        desk.mailed(&[address], &mail).await;
        assert!(desk.told().is_empty(), "{address}");
        let mail = COMPLAINT
            .replace("{type}", "abuse")
            .replace("{verp}", address);
        desk.mailed(&["abuse@bounce.post.example"], &mail).await;
        assert!(desk.told().is_empty(), "{address}");
    }
    assert!(desk.lists().await.groups().next().is_none());
    assert!(!desk.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn a_report_of_a_forgotten_copy_names_nobody() {
    // The address in a report is its writer's word: with the row gone nobody vouches for it.
    let desk = TestApp::empty().await;
    desk.mailed(&[&desk.verp()], FAILED).await;
    assert!(desk.told().is_empty());
}

#[tokio::test]
async fn no_mail_is_answered() {
    let desk = delivered().await;
    let verp = desk.verp();
    // A vacation note, a report about a report, and a mail to nobody in particular.
    let nested = FAILED.replace("{verp}", "MAILER-DAEMON@mx.post.example");
    for mail in [VACATION, &nested, "\r\n", ""] {
        desk.mailed(&[&verp], mail).await;
    }
    // The nested one came to the address of a copy, and is a bounce of it; the rest is nothing.
    assert!(
        desk.told()
            .iter()
            .all(|event| event.kind == EventKind::Bounce)
    );
    for queue in ["send", "inbound", "retries", "feedback"] {
        assert!(desk.queues.drain(queue).is_empty(), "{queue}");
    }
}

#[tokio::test]
async fn the_door_knows_its_addresses() {
    let desk = TestApp::new().await;
    let verp = desk.verp();
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
        assert_eq!(wants(&desk.app, address), want, "{address}");
    }
    let mut closed = desk.app.clone();
    closed.bounce_domain = None;
    assert_eq!(wants(&closed, &verp), None);
}
