//! SES gets the key of a domain once the records are published, and the address of a sender once the
//! mailed link was followed; neither before. A domain is valid once SES has confirmed it.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use posthaste_mailer::Ses;
use posthaste_testkit::aws_stand_in;
use serde_json::{Value, json};

use crate::TestApp;

/// The bodies of calls; a call without one is a question, and has its path.
type Calls = Arc<Mutex<Vec<Value>>>;

/// An SES that answers with this status, and knows every domain in the state that is set.
async fn ses(status: StatusCode) -> (Ses, Calls) {
    let (ses, calls, _) = ses_with_states(status).await;
    (ses, calls)
}

async fn ses_with_states(status: StatusCode) -> (Ses, Calls, Arc<Mutex<Value>>) {
    let calls = Calls::default();
    let state = Arc::new(Mutex::new(json!({})));
    let (log, known) = (Arc::clone(&calls), Arc::clone(&state));
    let answer = move |method: Method, uri: Uri, request: String| {
        let (log, known) = (Arc::clone(&log), Arc::clone(&known));
        async move {
            if method == Method::GET {
                log.lock().unwrap().push(json!(uri.path()));
                return (status, known.lock().unwrap().to_string());
            }
            let body = serde_json::from_str(&request).unwrap();
            log.lock().unwrap().push(body);
            (status, "{}".to_owned())
        }
    };
    let app = Router::new().fallback(answer);
    let aws = aws_stand_in(app).await;
    (Ses::new(&aws, None), calls, state)
}

/// What SES says of a domain.
fn state(verified: bool, dkim: &str) -> Value {
    json!({"VerifiedForSendingStatus": verified, "DkimAttributes": {"Status": dkim}})
}

#[tokio::test]
async fn a_key_goes_to_ses_once_and_the_domain_is_valid_when_ses_says_so() {
    let (ses, calls, known) = ses_with_states(StatusCode::OK).await;
    let app = TestApp::with(false, Some(ses)).await;
    let domain = app.domain("example.com").await;
    app.validate(&domain).await;
    assert!(calls.lock().unwrap().is_empty(), "nothing is proven yet");

    app.publish(&domain);
    let is_valid = async |verified, dkim| {
        *known.lock().unwrap() = state(verified, dkim);
        let answer = app.validate(&domain).await;
        let key = &answer["validation_results"]["dkim1"];
        assert_eq!(key["valid"], answer["valid"], "{answer}");
        let why = key["reason"].as_str().unwrap_or_default();
        assert_eq!(answer["valid"] == false, why.contains("SES"), "{answer}");
        answer["valid"] == true
    };
    assert!(!is_valid(false, "PENDING").await);
    assert!(!is_valid(false, "PENDING").await);
    assert!(!is_valid(true, "PENDING").await);
    assert!(is_valid(true, "SUCCESS").await);
    // Looked up again, for now without success.
    assert!(is_valid(true, "TEMPORARY_FAILURE").await);

    let calls = calls.lock().unwrap();
    assert_eq!(calls.len(), 5);
    assert_eq!(calls[0]["EmailIdentity"], "example.com");
    assert_eq!(
        calls[0]["DkimSigningAttributes"]["DomainSigningSelector"],
        "s1"
    );
    let asked = json!("/v2/email/identities/example.com");
    assert!(calls[1..].iter().all(|call| *call == asked), "{calls:?}");
}

#[tokio::test]
async fn a_key_that_ses_has_given_up_on_goes_there_again() {
    let (ses, calls, known) = ses_with_states(StatusCode::OK).await;
    let app = TestApp::with(false, Some(ses)).await;
    let domain = app.domain("example.com").await;
    app.publish(&domain);
    app.validate(&domain).await;
    *known.lock().unwrap() = state(false, "FAILED");
    assert_eq!(app.validate(&domain).await["valid"], false);
    let calls = calls.lock().unwrap();
    assert_eq!(calls[0], calls[2]);
}

#[tokio::test]
async fn a_domain_that_ses_refuses_is_not_valid() {
    let (ses, _) = ses(StatusCode::BAD_REQUEST).await;
    let app = TestApp::with(false, Some(ses)).await;
    let domain = app.domain("example.com").await;
    app.publish(&domain);
    let path = format!("/v3/whitelabel/domains/{}", domain["id"]);
    app.post(&format!("{path}/validate"), &json!({}), 503).await;
    assert_eq!(app.get(&path, 200).await["valid"], false);
}

fn ann() -> Value {
    json!({"nickname": "Ann", "from_email": "ann@example.org", "reply_to": "ann@example.org"})
}

#[tokio::test]
async fn a_sender_is_added_to_ses_after_its_link_was_followed() {
    let (ses, calls) = ses(StatusCode::OK).await;
    let app = TestApp::with(false, Some(ses)).await;
    app.post("/v3/verified_senders", &ann(), 201).await;
    let link = app.link();
    app.api.get(&link).send().await.expect(200);
    assert!(calls.lock().unwrap().is_empty(), "nothing is proven yet");

    let page = app.api.post(&link).send().await.expect(200);
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(html.contains("a link of its own"), "{html}");
    app.api.post(&link).send().await.expect(200);
    let want = [json!({"EmailIdentity": "ann@example.org"})];
    assert_eq!(*calls.lock().unwrap(), want, "once");
}

#[tokio::test]
async fn a_sender_that_ses_refuses_is_not_verified() {
    let (ses, _) = ses(StatusCode::BAD_REQUEST).await;
    let app = TestApp::with(false, Some(ses)).await;
    app.post("/v3/verified_senders", &ann(), 201).await;
    let link = app.link();
    app.api.post(&link).send().await.expect(503);
    let token = link.rsplit('/').next().unwrap();
    let path = format!("/v3/verified_senders/verify/{token}");
    app.get(&path, 503).await;
    let shown = app.get("/v3/verified_senders", 200).await;
    assert_eq!(shown["results"][0]["verified"], false);
}

#[tokio::test]
async fn a_sender_of_an_authenticated_domain_needs_no_verification() {
    let (ses, calls, known) = ses_with_states(StatusCode::OK).await;
    let app = TestApp::with(false, Some(ses)).await;
    let domain = app.domain("example.org").await;
    app.publish(&domain);
    app.validate(&domain).await;
    *known.lock().unwrap() = state(true, "SUCCESS");
    app.validate(&domain).await;
    let made = app.post("/v3/verified_senders", &ann(), 201).await;
    assert_eq!(made["verified"], true);
    assert_eq!(calls.lock().unwrap().len(), 2, "the domain's own calls");
}
