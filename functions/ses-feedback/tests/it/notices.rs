//! Events by SNS, and notices that are no events.

use posthaste_model::EventKind;
use posthaste_store::{CopyState, SuppressionList};
use serde_json::{Value, json};

use crate::events::{BOUNCE, COMPLAINT, DELAY, DELIVERY, with};
use crate::{EMAIL, TestApp};

#[tokio::test]
async fn notices_that_are_no_events_are_done() {
    let service = TestApp::new().await;
    for text in [
        "Successfully validated SNS topic for Amazon SES event publishing.",
        r#"{"Type":"SubscriptionConfirmation","TopicArn":"arn:aws:sns:x:1:t","Token":"t"}"#,
        r#"{"notificationType":"AmazonSnsSubscriptionSucceeded","message":"m"}"#,
        r#"{"eventType":"SomethingNew","mail":{"tags":{}}}"#,
        r#"{"source":"aws.ec2","detail":{}}"#,
        r#"{"source":"aws.ses","detail-type":"Sending Status Disabled","resources":["arn"],"detail":{}}"#,
        r#"{"source":"aws.ses","detail-type":"Sending Status Enabled","detail":{}}"#,
        "{}",
        "x",
        "",
    ] {
        assert!(service.can_read(text).await, "{text}");
    }
    assert!(service.queued_events().is_empty());
}

#[tokio::test]
async fn an_event_by_sns_is_read_as_by_the_event_bus() {
    for sample in [DELIVERY, BOUNCE, COMPLAINT, DELAY] {
        let mut events = Vec::new();
        for by_sns in [false, true] {
            let service = TestApp::new().await;
            let mut text = service.sample(sample);
            if by_sns {
                let bridged: Value = serde_json::from_str(&text).unwrap();
                text = bridged["detail"].to_string();
            }
            service.work(&[text]).await;
            let event = service.one();
            events.push((
                event.kind,
                event.at,
                event.reason,
                event.response,
                event.status,
            ));
        }
        assert_eq!(events[0], events[1]);
    }
}

#[tokio::test]
async fn an_out_of_office_note_that_ses_calls_a_bounce_is_none() {
    let note = |service: &TestApp, kind: &str, refused: Value| {
        let text = with(
            &service.sample(BOUNCE),
            "/detail/bounce/bounceType",
            json!(kind),
        );
        with(&text, "/detail/bounce/bouncedRecipients", refused)
    };
    let service = TestApp::new().await;
    service.work(&[service.sample(DELIVERY)]).await;
    assert_eq!(service.queued_events().len(), 1);
    service
        .work(&[note(
            &service,
            "Transient",
            json!([{"emailAddress": EMAIL}]),
        )])
        .await;
    assert!(service.queued_events().is_empty());
    assert_eq!(service.row().await.state, CopyState::Delivered);
    assert!(!service.is_on(SuppressionList::Blocks).await);
    // With a delivery report it is a bounce; and so is one that SES calls permanent.
    let reported = json!([{"emailAddress": EMAIL, "action": "failed", "status": "4.2.0"}]);
    for (kind, refused) in [
        ("Transient", reported),
        ("Permanent", json!([{"emailAddress": EMAIL}])),
    ] {
        let service = TestApp::new().await;
        service.work(&[note(&service, kind, refused)]).await;
        assert_eq!(service.one().kind, EventKind::Bounce, "{kind}");
    }
}
