//! SES gets the key of a domain once the zone's owner has published it, and not before.

use std::sync::{Arc, Mutex};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sesv2::config::{Credentials, SharedCredentialsProvider};
use axum::Router;
use axum::http::StatusCode;
use posthaste_mailer::Ses;
use serde_json::{Value, json};

use crate::Desk;

type Calls = Arc<Mutex<Vec<Value>>>;

async fn ses(status: StatusCode) -> (Ses, Calls) {
    let calls = Calls::default();
    let log = Arc::clone(&calls);
    let answer = move |request: String| {
        let log = Arc::clone(&log);
        async move {
            let body = serde_json::from_str(&request).unwrap();
            log.lock().unwrap().push(body);
            (status, "{}")
        }
    };
    let app = Router::new().fallback(answer);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let credentials = Credentials::new("id", "secret", None, None, "test");
    let aws = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(url)
        .build();
    (Ses::new(&aws, None), calls)
}

#[tokio::test]
async fn a_key_goes_to_ses_when_its_records_are_found() {
    let (ses, calls) = ses(StatusCode::OK).await;
    let desk = Desk::with(false, Some(ses)).await;
    let domain = desk.domain("example.com").await;
    desk.validate(&domain).await;
    assert!(calls.lock().unwrap().is_empty(), "nothing is proven yet");

    desk.publish(&domain);
    assert_eq!(desk.validate(&domain).await["valid"], true);

    let calls = calls.lock().unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["EmailIdentity"], "example.com");
    assert_eq!(
        calls[0]["DkimSigningAttributes"]["DomainSigningSelector"],
        "s1"
    );
}

#[tokio::test]
async fn a_domain_that_ses_does_not_take_is_not_valid() {
    let (ses, _) = ses(StatusCode::BAD_REQUEST).await;
    let desk = Desk::with(false, Some(ses)).await;
    let domain = desk.domain("example.com").await;
    desk.publish(&domain);
    let path = format!("/v3/whitelabel/domains/{}", domain["id"]);
    desk.post(&format!("{path}/validate"), &json!({}), 503)
        .await;
    assert_eq!(desk.get(&path, 200).await["valid"], false);
}
