//! Questions about copies without news, to a server in place of SES.

use posthaste_mailer::Ses;
use posthaste_model::{BounceType, EventKind};
use posthaste_queue::InsightsQuestion;
use posthaste_store::{CopyState, SuppressionList};
use posthaste_testkit::{Receiver, Reply, dynamodb};
use serde_json::{Value, json};
use ses_feedback::handle;

use crate::{TestApp, received};

impl TestApp {
    /// A copy that SES has, and a SES that answers questions.
    async fn asking() -> (Self, Receiver) {
        let receiver = Receiver::start().await.unwrap();
        let config = dynamodb().await.into_builder();
        let config = config.endpoint_url(receiver.url().trim_end_matches('/'));
        let mut service = Self::new().await;
        service.app.ses = Some(Ses::new(&config.build(), None));
        (service, receiver)
    }

    fn question(&self) -> String {
        let question = InsightsQuestion {
            v: 1,
            account: self.tenant.account.id.clone(),
            message: self.message.clone(),
            recipient: 3,
            ses_message: "0100-abc".to_owned(),
        };
        question.to_text().unwrap()
    }

    /// Asks, and reads what comes of it, as the queue would hand it out.
    async fn ask(&self) {
        self.work(&[self.question()]).await;
        self.work(&self.jobs()).await;
    }
}

/// SES's answer, with these events.
fn knows(events: &Value) -> Reply {
    let insights = json!([{"Destination": "ann@example.com", "Events": events}]);
    Reply::with_body(
        200,
        json!({"MessageId": "0100-abc", "Insights": insights}).to_string(),
    )
}

#[tokio::test]
async fn what_ses_knows_becomes_the_events_that_it_did_not_publish() {
    let send = json!({"Type": "SEND", "Timestamp": 1_800_000_001});
    for (events, kind, state) in [
        (
            json!([send, {"Type": "DELIVERY", "Timestamp": 1_800_000_002}]),
            EventKind::Delivered,
            CopyState::Delivered,
        ),
        (
            json!([send, {"Type": "BOUNCE", "Timestamp": 1_800_000_002, "Details": {"Bounce": {
                "BounceType": "PERMANENT", "BounceSubType": "General",
                "DiagnosticCode": "smtp; 550 5.1.1 user unknown",
            }}}]),
            EventKind::Bounce,
            CopyState::Bounced,
        ),
    ] {
        let (service, ses) = TestApp::asking().await;
        ses.script([knows(&events)]);
        service.ask().await;
        let event = service.one();
        assert_eq!((event.kind, event.at.0), (kind, 1_800_000_002));
        assert_eq!(event.recipient, 3);
        assert_eq!(service.row().await.state, state);
        let is_bounce = kind == EventKind::Bounce;
        assert_eq!(event.bounce_type.is_some(), is_bounce);
        assert!(
            event
                .bounce_type
                .is_none_or(|kind| kind == BounceType::Bounce)
        );
        assert_eq!(service.is_on(SuppressionList::Bounces).await, is_bounce);
        let asked = ses.posts();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].target, "/v2/email/insights/0100-abc");
        // The event itself comes late: nothing is reported twice.
        ses.script([knows(&events)]);
        service.ask().await;
        assert!(service.queued_events().is_empty());
    }
}

#[tokio::test]
async fn a_question_without_an_answer_changes_nothing() {
    let (service, ses) = TestApp::asking().await;
    let unknown = |kind: &str| {
        let body = json!({"message": "m", "__type": kind}).to_string();
        Reply::Answer {
            status: 400,
            headers: vec![("x-amzn-errortype".to_owned(), kind.to_owned())],
            body: body.into(),
        }
    };
    for reply in [
        knows(&json!([{"Type": "SEND", "Timestamp": 1}, {"Type": "OPEN"}])),
        knows(&json!([])),
        unknown("NotFoundException"),
        unknown("AccessDeniedException"),
    ] {
        ses.script([reply]);
        service.ask().await;
        assert!(service.queued_events().is_empty());
        assert_eq!(service.row().await.state, CopyState::Handed);
    }
    // What is asked too fast is asked again.
    ses.script([unknown("TooManyRequestsException")]);
    let asked = handle(&service.app, &received(&[service.question()], 1)).await;
    assert_eq!(asked.unfinished().count(), 1);
    // A stack that asks nothing passes over a question of before.
    let quiet = TestApp::new().await;
    quiet.ask().await;
    assert_eq!(quiet.row().await.state, CopyState::Handed);
}
