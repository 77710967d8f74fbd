//! Mail of an account that enforces TLS: blocked at a relay without it, and at one with a certificate of no known
//! authority where a valid one is required.

use posthaste_testkit::relay::{Relay, Script};
use posthaste_testkit::{Certificate, Receiver, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

const SETTING: &str = "/v3/user/settings/enforced_tls";
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A service that delivers to this relay and posts how mails end.
async fn service(relay: &Relay) -> (Service, Receiver) {
    let url = relay.url().parse().expect("a relay");
    let service = Service::with(|settings| settings.relay = Some(url)).await;
    let receiver = Receiver::start().await.expect("a receiver");
    receiver.always(Reply::with_body(200, ""));
    let hook = json!({"url": receiver.url(), "enabled": true, "delivered": true, "bounce": true, "dropped": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);
    (service, receiver)
}

async fn set(service: &Service, setting: &Value) {
    let stored = service.call(Method::PATCH, SETTING, setting).await;
    assert_eq!(stored.status(), 200);
    // Settings that are cached apply for ten seconds.
    service.pass(10).await;
}

/// Sends a mail; the event that it ends with.
async fn end(service: &Service, receiver: &Receiver) -> Value {
    service.send(&mail("ann@example.com")).await;
    let post = receiver.next(PATIENCE).await.expect("a post");
    let mut events: Vec<Value> = serde_json::from_slice(&post.body).expect("JSON");
    assert_eq!(events.len(), 1, "{events:?}");
    events.swap_remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_is_refused_to_a_relay_without_tls_while_it_is_enforced() {
    let relay = Relay::start(Script::new()).await;
    let (service, receiver) = service(&relay).await;
    assert_eq!(end(&service, &receiver).await["event"], "delivered");

    set(&service, &json!({"require_tls": true})).await;
    let blocked = end(&service, &receiver).await;
    assert_eq!(blocked["event"], "bounce");
    assert_eq!(blocked["type"], "blocked");
    assert_eq!(blocked["reason"], "TLS required but not supported");
    assert_eq!(relay.received().len(), 1);
    let list = service
        .call(Method::GET, "/v3/suppression/bounces", &json!({}))
        .await;
    let list: Value = list.json().await.expect("JSON");
    assert_eq!(list, json!([]), "a block suppresses no address");

    set(&service, &json!({"require_tls": false})).await;
    assert_eq!(end(&service, &receiver).await["event"], "delivered");
    assert_eq!(relay.received().len(), 2);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_no_known_authority_is_not_valid() {
    let certificate = Certificate::of(&["127.0.0.1"]);
    let tls = posthaste_smtpd::ServerTls::StartTls(certificate.server);
    let relay = Relay::start(Script::new().encrypting(tls)).await;
    let (service, receiver) = service(&relay).await;
    set(&service, &json!({"require_tls": true})).await;
    let delivered = end(&service, &receiver).await;
    assert_eq!(delivered["event"], "delivered");
    assert_eq!(delivered["tls"], 1);

    set(&service, &json!({"require_valid_cert": true})).await;
    let blocked = end(&service, &receiver).await;
    assert_eq!(blocked["type"], "blocked");
    assert_eq!(blocked["reason"], "TLS required but not supported");
    assert_eq!(relay.received().len(), 1);
    service.stop().await;
}
