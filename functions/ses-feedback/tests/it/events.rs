//! Each event of SES.

use posthaste_model::{BounceType, EventKind, Timestamp};
use posthaste_store::{CopyState, SuppressionList};
use serde_json::{Value, json};
use ses_feedback::handle;

use crate::{EMAIL, TestApp, at, received};

pub(crate) const SEND: &str = include_str!("../samples/send.json");
pub(crate) const DELIVERY: &str = include_str!("../samples/delivery.json");
pub(crate) const DELAY: &str = include_str!("../samples/delay.json");
pub(crate) const BOUNCE: &str = include_str!("../samples/bounce.json");
pub(crate) const COMPLAINT: &str = include_str!("../samples/complaint.json");
const REJECT: &str = include_str!("../samples/reject.json");
const FAILURE: &str = include_str!("../samples/rendering-failure.json");

/// A sample with one member of its detail changed.
pub(crate) fn with(sample: &str, pointer: &str, value: Value) -> String {
    let mut json: Value = serde_json::from_str(sample).unwrap();
    *json.pointer_mut(pointer).unwrap() = value;
    json.to_string()
}

#[tokio::test]
async fn a_delivery_is_told_with_what_the_copy_carries() {
    let service = TestApp::new().await;
    service.work(&[service.sample(DELIVERY)]).await;
    let event = service.one();
    assert_eq!(
        (event.kind, event.email.as_str()),
        (EventKind::Delivered, EMAIL)
    );
    assert_eq!(event.at, at("2027-01-15T08:00:01Z"));
    let response = event.response.as_deref().unwrap();
    assert!(response.starts_with("250 2.0.0 OK"), "{response}");
    assert_eq!(event.ip.as_deref(), Some("203.0.113.9"));
    assert_eq!(event.smtp_id.as_deref(), Some("x@post.example"));
    assert_eq!(event.custom_args["order"], "7");
    assert!(event.category.is_some());
    assert_eq!(event.sg_message_id(), Some(service.message.of_copy(3)));
    let row = service.row().await;
    assert_eq!(row.state, CopyState::Delivered);
    assert_eq!(row.events().last(), Some(&event));
}

#[tokio::test]
async fn a_bounce_has_type_and_class_and_ends_the_address() {
    let service = TestApp::new().await;
    service.work(&[service.sample(BOUNCE)]).await;
    let event = service.one();
    assert_eq!(event.kind, EventKind::Bounce);
    assert_eq!(event.bounce_type, Some(BounceType::Bounce));
    let class = event.bounce_classification.as_deref();
    assert_eq!(class, Some("Invalid Address"));
    assert_eq!(event.status.as_deref(), Some("5.1.1"));
    let reason = event.reason.as_deref();
    assert_eq!(reason, Some("550 5.1.1 <ann@example.com>: user unknown"));
    assert!(service.is_on(SuppressionList::Bounces).await);
    assert_eq!(service.row().await.state, CopyState::Bounced);
}

#[tokio::test]
async fn what_ses_calls_transient_spares_the_address() {
    for (kind, sub, refused, class) in [
        (
            "Transient",
            "MailboxFull",
            json!([{"emailAddress": EMAIL}]),
            "Mailbox Unavailable",
        ),
        ("Transient", "ContentRejected", json!([]), "Content"),
        ("Undetermined", "Undetermined", json!([]), "Unclassified"),
        (
            "Permanent",
            "General",
            json!([{"emailAddress": EMAIL, "status": "5.7.1",
                "diagnosticCode": "smtp; 554 5.7.1 blocked using zen.spamhaus.org"}]),
            "Reputation",
        ),
    ] {
        let service = TestApp::new().await;
        let text = service.sample(BOUNCE);
        let text = with(&text, "/detail/bounce/bounceType", json!(kind));
        let text = with(&text, "/detail/bounce/bounceSubType", json!(sub));
        let text = with(&text, "/detail/bounce/bouncedRecipients", refused);
        service.work(&[text]).await;
        let event = service.one();
        assert_eq!(event.bounce_type, Some(BounceType::Blocked), "{sub}");
        assert_eq!(event.bounce_classification.as_deref(), Some(class));
        assert!(!service.is_on(SuppressionList::Bounces).await, "{sub}");
        assert!(service.is_on(SuppressionList::Blocks).await, "{sub}");
    }
}

#[tokio::test]
async fn a_permanent_bounce_without_words_ends_the_address() {
    let service = TestApp::new().await;
    let text = service.sample(BOUNCE);
    let text = with(&text, "/detail/bounce/bounceSubType", json!("NoEmail"));
    let text = with(&text, "/detail/bounce/bouncedRecipients", json!([]));
    service.work(&[text]).await;
    let event = service.one();
    assert_eq!(event.bounce_type, Some(BounceType::Bounce));
    let class = event.bounce_classification.as_deref();
    assert_eq!(class, Some("Invalid Address"));
    assert!(service.is_on(SuppressionList::Bounces).await);
}

#[tokio::test]
async fn a_mail_that_ses_gave_up_is_expired() {
    let service = TestApp::new().await;
    let refused = json!([{"emailAddress": EMAIL, "action": "failed", "status": "4.4.7",
        "diagnosticCode": "smtp; 550 4.4.7 Message expired: unable to deliver in 840 minutes"}]);
    let text = service.sample(BOUNCE);
    let text = with(&text, "/detail/bounce/bounceType", json!("Transient"));
    let text = with(&text, "/detail/bounce/bouncedRecipients", refused);
    service.work(&[text]).await;
    let event = service.one();
    assert_eq!(event.bounce_type, Some(BounceType::Expired));
    assert_eq!(event.status.as_deref(), Some("4.4.7"));
    // API facts 1: what was deferred to the end lands on the blocks.
    assert!(service.is_on(SuppressionList::Blocks).await);
}

#[tokio::test]
async fn delays_are_deferrals_and_count_their_attempts() {
    let service = TestApp::new().await;
    let later = with(
        &service.sample(DELAY),
        "/detail/deliveryDelay/timestamp",
        json!("2027-01-15T09:10:00.000Z"),
    );
    service.work(&[service.sample(DELAY)]).await;
    service.work(&[later]).await;
    let queued = service.queued_events();
    assert_eq!(queued.len(), 2);
    for (event, attempt) in queued.iter().zip(1..) {
        assert_eq!(event.kind, EventKind::Deferred);
        assert_eq!(event.attempt, Some(attempt));
        assert_eq!(event.status.as_deref(), Some("4.4.1"));
        let said = event.response.as_deref();
        assert_eq!(said, Some("421 4.4.1 Unable to connect to remote host"));
    }
    assert_eq!(
        service.row().await.state,
        CopyState::Handed,
        "SES has it still"
    );
}

#[tokio::test]
async fn each_of_many_delays_is_told_once_and_the_last_is_kept() {
    let service = TestApp::new().await;
    let delay = |n: i64| {
        let at = Timestamp(1_800_000_000 + n * 60).iso();
        with(
            &service.sample(DELAY),
            "/detail/deliveryDelay/timestamp",
            json!(at),
        )
    };
    for n in 0..60 {
        service.work(&[delay(n)]).await;
        let queued = service.queued_events();
        assert_eq!(queued.len(), 1, "{n}");
        assert_eq!(queued[0].attempt, u32::try_from(n + 1).ok());
        // A repeat of the report, and one of an earlier one.
        service.work(&[delay(n), delay(n / 2)]).await;
        assert!(service.queued_events().is_empty(), "{n}");
    }
    let row = service.row().await;
    assert_eq!(row.deferrals(), 60);
    assert!(row.events().len() < 25);
    let last = row.events().pop().unwrap();
    assert_eq!(last.at, Timestamp(1_800_000_000 + 59 * 60));
    assert_eq!(last.custom_args["order"], "7");
}

#[tokio::test]
async fn a_complaint_is_a_spam_report() {
    let service = TestApp::new().await;
    service.work(&[service.sample(DELIVERY)]).await;
    service.work(&[service.sample(COMPLAINT)]).await;
    let queued = service.queued_events();
    assert_eq!(queued[1].kind, EventKind::SpamReport);
    assert_eq!(queued[1].at, at("2027-01-15T09:00:00Z"));
    assert!(service.is_on(SuppressionList::SpamReports).await);
    assert_eq!(service.row().await.state, CopyState::Delivered);
}

#[tokio::test]
async fn praise_is_no_complaint() {
    let service = TestApp::new().await;
    let place = "/detail/complaint/complaintFeedbackType";
    let text = with(&service.sample(COMPLAINT), place, json!("not-spam"));
    service.work(&[text]).await;
    assert!(service.queued_events().is_empty());
    assert!(!service.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn what_ses_did_not_send_is_dropped_with_its_reason() {
    let bounce = |sub: &str| with(BOUNCE, "/detail/bounce/bounceSubType", json!(sub));
    let listed = with(
        COMPLAINT,
        "/detail/complaint/complaintSubType",
        json!("OnAccountSuppressionList"),
    );
    for (text, reason) in [
        (REJECT.to_owned(), "Spam Content"),
        (
            FAILURE.to_owned(),
            "Attribute 'name' is not present in the rendering data.",
        ),
        (bounce("Suppressed"), "Bounced Address"),
        (bounce("OnAccountSuppressionList"), "Bounced Address"),
        (bounce("UnsubscribedRecipient"), "Unsubscribed Address"),
        (listed, "Spam Reporting Address"),
    ] {
        let service = TestApp::new().await;
        service.work(&[service.sample(&text)]).await;
        let event = service.one();
        assert_eq!(event.kind, EventKind::Dropped);
        assert_eq!(event.reason.as_deref(), Some(reason));
        assert_eq!(service.row().await.state, CopyState::Dropped);
        assert!(!service.is_on(SuppressionList::Bounces).await, "{reason}");
    }
}

#[tokio::test]
async fn a_mail_that_left_unheard_is_not_sent_again() {
    let service = TestApp::empty().await;
    service.claimed().await;
    // SES took it, and the answer to our call got lost.
    service.recorded(CopyState::Deferred).await;
    service.work(&[service.sample(SEND)]).await;
    assert!(service.queued_events().is_empty());
    assert_eq!(service.row().await.state, CopyState::Handed);
}

#[tokio::test]
async fn a_word_that_comes_before_our_own_waits_for_it() {
    let service = TestApp::empty().await;
    service.claimed().await;
    let texts = [service.sample(DELIVERY), service.sample(SEND)];
    let response = handle(&service.app, &received(&texts, 1)).await;
    assert_eq!(
        (response.again, response.failed.len()),
        (vec!["0".to_owned()], 0)
    );
    assert!(service.queued_events().is_empty());

    service.recorded(CopyState::Handed).await;
    service.work_again(&texts[..1], 2).await;
    let event = service.one();
    assert_eq!(event.kind, EventKind::Delivered);
    assert_eq!(event.custom_args["order"], "7");
    assert!(event.category.is_some() && event.smtp_id.is_some());
    assert_eq!(service.row().await.state, CopyState::Delivered);
}

#[tokio::test]
async fn a_word_about_a_hand_over_that_died_waits_no_longer_and_is_the_last() {
    let service = TestApp::empty().await;
    service.claimed().await;
    service.hand.advance(59);
    let texts = [service.sample(DELIVERY)];
    let response = handle(&service.app, &received(&texts, 1)).await;
    assert_eq!(response.again.len(), 1);
    service.hand.advance(1);
    service.work(&[service.sample(DELIVERY)]).await;
    assert_eq!(service.one().kind, EventKind::Delivered);
    assert_eq!(
        service.row().await.state,
        CopyState::Claimed,
        "not ours to end"
    );
    service.recorded(CopyState::Handed).await;
    let row = service.row().await;
    assert_eq!(row.state, CopyState::Delivered);
    assert_eq!(row.events().len(), 2);
}

#[tokio::test]
async fn a_late_delivery_does_not_undo_a_bounce() {
    let service = TestApp::new().await;
    service.work(&[service.sample(BOUNCE)]).await;
    service.work(&[service.sample(DELIVERY)]).await;
    assert_eq!(service.queued_events().len(), 2);
    assert_eq!(service.row().await.state, CopyState::Bounced);
}

#[tokio::test]
async fn a_complaint_about_a_forgotten_copy_still_counts() {
    let service = TestApp::empty().await;
    let text = service.sample(COMPLAINT);
    service.work(&[text.clone(), text]).await;
    let event = service.one();
    assert_eq!(
        (event.kind, event.email.as_str()),
        (EventKind::SpamReport, EMAIL)
    );
    assert!(service.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn what_is_not_ours_is_left_alone() {
    let service = TestApp::new().await;
    let open = service.sample(SEND).replace("\"Send\"", "\"Open\"");
    let strange = service.sample(COMPLAINT);
    let strange = with(
        &strange,
        "/detail/mail/tags/posthaste-account",
        json!(["zzzzzzzzzz"]),
    );
    let untagged = with(&service.sample(BOUNCE), "/detail/mail/tags", json!({}));
    let odd = with(
        &service.sample(BOUNCE),
        "/detail/mail/tags/posthaste-recipient",
        json!(["x"]),
    );
    let short = json!({"source": "aws.ses", "detail": {"eventType": 5}}).to_string();
    let bare = with(
        &service.sample(BOUNCE),
        "/detail/eventType",
        json!("Delivery"),
    );
    service.work(&[open, strange, untagged, odd, bare]).await;
    // An event or a job of a known kind that cannot be read becomes a dead letter.
    let event = json!({"eventType": 5}).to_string();
    let newer = json!({"v": 9, "blob": "bounces/x", "to": []}).to_string();
    let unknown = json!({"v": 2, "of_a_later_release": true}).to_string();
    let notice = json!({"mail": {}, "receipt": {"recipients": []}}).to_string();
    for text in [short, event, newer, unknown, notice] {
        assert!(!service.can_read(&text).await, "{text}");
    }
    assert!(service.queued_events().is_empty());
    assert_eq!(service.row().await.events().len(), 1);
}
