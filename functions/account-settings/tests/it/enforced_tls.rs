//! `/v3/user/settings/enforced_tls`.

use account_settings::{App, routes};
use axum::Router;
use posthaste_mailer::Ses;
use posthaste_testkit::{Services, aws_stand_in};
use serde_json::json;

use crate::TestApp;

const PATH: &str = "/v3/user/settings/enforced_tls";

#[tokio::test]
async fn tls_is_enforced_once_it_is_switched_on() {
    let app = TestApp::new().await;
    let got = app.get(PATH).await.expect(200).json();
    let off = json!({"require_tls": false, "require_valid_cert": false, "version": 1.1});
    assert_eq!(got, off);
    let got = app.set(PATH, &json!({"require_tls": true})).await;
    let on = json!({"require_tls": true, "require_valid_cert": false, "version": 1.1});
    assert_eq!(got, on);
    let got = app
        .set(PATH, &json!({"require_valid_cert": true, "version": 1.3}))
        .await;
    let all = json!({"require_tls": true, "require_valid_cert": true, "version": 1.3});
    assert_eq!(got, all);
    let stored = app.store.settings(&app.tenant.account.id).await.unwrap();
    assert!(stored.enforced_tls.is_on());
    for (body, field) in [
        (json!({"require_tls": "yes"}), "require_tls"),
        (json!({"require_valid_cert": 1}), "require_valid_cert"),
        (json!({"version": 1.0}), "version"),
        (json!({"version": "1.2"}), "version"),
        (json!({"require_tls": false, "version": 2}), "version"),
    ] {
        app.refuses(PATH, &body, &[field]).await;
    }
}

/// SES checks no certificates and goes down to TLS 1.2: what it cannot keep is refused here, not at each mail.
#[tokio::test]
async fn where_ses_delivers_what_it_cannot_enforce_is_refused() {
    let ses = Ses::new(&aws_stand_in(Router::new()).await, None);
    let services = Services::start().await.part(ses);
    let app = TestApp(posthaste_testkit::TestApp::on(services, App::from_env, routes).await);
    app.refuses(
        PATH,
        &json!({"require_valid_cert": true}),
        &["require_valid_cert"],
    )
    .await;
    app.refuses(
        PATH,
        &json!({"require_tls": true, "version": 1.3}),
        &["version"],
    )
    .await;
    let got = app
        .set(PATH, &json!({"require_tls": true, "version": 1.2}))
        .await;
    assert_eq!(got["require_tls"], true);
}

#[tokio::test]
async fn it_has_scopes_of_its_own() {
    let app = TestApp::new().await;
    let key = app
        .tenant
        .restricted(&app.store, &["user.settings.enforced_tls.read"])
        .await;
    let got = app.api.get(PATH).key(&key).send().await;
    assert_eq!(got.status, 200);
    let ask = app
        .api
        .patch(PATH)
        .key(&key)
        .json(&json!({"require_tls": true}));
    assert_eq!(ask.send().await.status, 403);
}
