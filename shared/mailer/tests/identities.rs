//! Domains and the account as SES knows them, against a server on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use posthaste_mailer::{Mailer, Ses, SesAccount, SesDomain};
use posthaste_model::EmailAddress;
use posthaste_testkit::aws_stand_in;
use serde_json::{Value, json};

type Calls = Arc<Mutex<Vec<(String, Value)>>>;
type Answer = (u16, &'static str, Value);

/// Answers the calls in turn.
async fn ses(answers: Vec<Answer>) -> (Ses, Calls) {
    let (calls, answers) = (Calls::default(), Mutex::new(answers.into_iter()));
    let (log, answers) = (Arc::clone(&calls), Arc::new(answers));
    let answer = move |method: Method, uri: Uri, request: String| {
        let (log, answers) = (Arc::clone(&log), Arc::clone(&answers));
        async move {
            let body = serde_json::from_str(&request).unwrap_or(Value::Null);
            log.lock()
                .unwrap()
                .push((format!("{method} {}", uri.path()), body));
            let (status, kind, body) = answers.lock().unwrap().next().unwrap();
            let status = StatusCode::from_u16(status).unwrap();
            let headers = [("x-amzn-errortype", kind), ("x-amz-retry-after", "1")];
            (status, headers, body.to_string())
        }
    };
    let app = Router::new().fallback(answer);
    let aws = aws_stand_in(app).await;
    (Ses::new(&aws, None), calls)
}

#[tokio::test]
async fn a_new_domain_brings_its_own_key() {
    let (ses, calls) = ses(vec![(200, "", json!({}))]).await;
    ses.add_domain("example.com", "s1", b"key").await.unwrap();
    let want = json!({"EmailIdentity": "example.com", "DkimSigningAttributes":
        {"DomainSigningSelector": "s1", "DomainSigningPrivateKey": "a2V5"}});
    assert_eq!(
        *calls.lock().unwrap(),
        [("POST /v2/email/identities".to_owned(), want)]
    );
}

#[tokio::test]
async fn a_domain_that_is_there_gets_the_key_of_today() {
    let taken = (400, "AlreadyExistsException", json!({}));
    let (ses, calls) = ses(vec![taken, (200, "", json!({}))]).await;
    ses.add_domain("example.com", "s1", b"key").await.unwrap();
    let calls = calls.lock().unwrap();
    assert_eq!(
        calls[1].0,
        "PUT /v2/email/identities/example.com/dkim/signing"
    );
    assert_eq!(calls[1].1["SigningAttributesOrigin"], "EXTERNAL");
    assert_eq!(
        calls[1].1["SigningAttributes"]["DomainSigningSelector"],
        "s1"
    );
}

fn busy() -> Answer {
    let too_many = json!({"message": "Rate exceeded"});
    (429, "TooManyRequestsException", too_many)
}

#[tokio::test]
async fn a_call_that_ses_refuses_for_its_rate_is_made_again() {
    let known = state(true, "SUCCESS");
    let mut answers = vec![busy(), (200, "", json!({})), busy(), (200, "", known)];
    answers.extend([busy(), busy(), (200, "", json!({"SendingEnabled": true}))]);
    let (ses, calls) = ses(answers).await;
    ses.add_domain("example.com", "s1", b"key").await.unwrap();
    assert!(ses.domain("example.com").await.unwrap().unwrap().verified);
    assert!(ses.account().await.unwrap().sending);
    assert_eq!(calls.lock().unwrap().len(), 7);
}

#[tokio::test]
async fn a_throttled_question_does_not_say_that_ses_takes_no_mail() {
    let paused = (200, "", json!({"SendingEnabled": false}));
    let denied = (403, "AccessDeniedException", json!({}));
    let answers = vec![busy(), busy(), busy(), busy(), paused, denied];
    let (ses, _) = ses(answers).await;
    let mailer = Mailer::Ses(ses);
    assert_eq!(mailer.check().await, Ok(()));
    for why in ["paused", "AccessDeniedException"] {
        assert!(mailer.check().await.unwrap_err().contains(why), "{why}");
    }
}

fn state(verified: bool, dkim: &str) -> Value {
    json!({"VerifiedForSendingStatus": verified, "DkimAttributes": {"Status": dkim}})
}

#[tokio::test]
async fn a_sender_is_made_known_once_and_ses_mails_him() {
    let taken = (400, "AlreadyExistsException", json!({}));
    let no = (400, "BadRequestException", json!({}));
    let (ses, calls) = ses(vec![(200, "", json!({})), taken, no]).await;
    let ann = EmailAddress::parse("Ann@m\u{fc}ller.example").unwrap();
    ses.add_sender(&ann).await.unwrap();
    ses.add_sender(&ann).await.unwrap();
    assert!(ses.add_sender(&ann).await.is_err());
    let want = json!({"EmailIdentity": "Ann@xn--mller-kva.example"});
    assert_eq!(
        calls.lock().unwrap()[0],
        ("POST /v2/email/identities".to_owned(), want)
    );
}

#[tokio::test]
async fn a_refusal_is_reported_and_the_key_is_not() {
    let no = (
        400,
        "BadRequestException",
        json!({"message": "no such selector"}),
    );
    let (ses, _) = ses(vec![no]).await;
    let error = ses
        .add_domain("example.com", "s1", b"key")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "SES answered BadRequestException: no such selector"
    );
}

#[tokio::test]
async fn the_state_of_a_domain_is_read() {
    let known = json!({"VerifiedForSendingStatus": true, "DkimAttributes": {"Status": "SUCCESS"},
        "MailFromAttributes": {"MailFromDomain": "em.example.com", "MailFromDomainStatus": "PENDING",
            "BehaviorOnMxFailure": "USE_DEFAULT_VALUE"}});
    let unknown = (404, "NotFoundException", json!({}));
    let (ses, _) = ses(vec![(200, "", known), (200, "", json!({})), unknown]).await;
    let want = SesDomain {
        verified: true,
        dkim: "SUCCESS".into(),
        mail_from: Some(("em.example.com".into(), "PENDING".into())),
    };
    assert_eq!(ses.domain("example.com").await.unwrap(), Some(want));
    let bare = ses.domain("example.com").await.unwrap().unwrap();
    assert_eq!(
        (bare.verified, bare.dkim.as_str(), bare.mail_from),
        (false, "NOT_STARTED", None)
    );
    assert_eq!(ses.domain("example.com").await.unwrap(), None);
}

#[tokio::test]
async fn the_standing_of_the_account_is_read() {
    let body = json!({"ProductionAccessEnabled": false, "SendingEnabled": true, "EnforcementStatus": "HEALTHY",
        "SendQuota": {"Max24HourSend": 200.0, "MaxSendRate": 1.0, "SentLast24Hours": 3.0}});
    let (ses, _) = ses(vec![(200, "", body)]).await;
    let want = SesAccount {
        sandbox: true,
        sending: true,
        enforcement: "HEALTHY".into(),
        max_per_day: 200.0,
        max_per_second: 1.0,
        sent_in_a_day: 3.0,
    };
    assert_eq!(ses.account().await.unwrap(), want);
}
