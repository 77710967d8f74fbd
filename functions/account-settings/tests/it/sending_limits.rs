//! `/v3/user/sending_limits`: with SES, and where there is none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use account_settings::{App, routes};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::get;
use axum::{Json, Router};
use posthaste_mailer::Ses;
use posthaste_testkit::{Services, aws_stand_in};
use serde_json::json;

use crate::TestApp;

const PATH: &str = "/v3/user/sending_limits";

/// SES that has sent as many mails as it was asked, and is gone after the second time.
async fn ses() -> (Ses, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let answer = move || async move {
        let asked = count.fetch_add(1, Ordering::SeqCst) + 1;
        if asked > 2 {
            return StatusCode::BAD_REQUEST.into_response();
        }
        let quota = json!({"Max24HourSend": 200.0, "MaxSendRate": 14.0, "SentLast24Hours": asked});
        let account =
            json!({"ProductionAccessEnabled": false, "SendingEnabled": true, "SendQuota": quota});
        Json(account).into_response()
    };
    let app = Router::new().route("/v2/email/account", get(answer));
    (Ses::new(&aws_stand_in(app).await, None), asked)
}

#[tokio::test]
async fn limits_are_those_of_ses_at_most_ten_seconds_old() {
    let (ses, asked) = ses().await;
    let services = Services::start().await.part(ses);
    let app = TestApp(posthaste_testkit::TestApp::on(services, App::from_env, routes).await);
    for (advance, sent) in [(0, 1.0), (9, 1.0), (2, 2.0)] {
        app.hand.advance(advance);
        let got = app.get(PATH).await.expect(200).json();
        let want = json!({"ses": {"max_24_hour_send": 200.0, "max_send_rate": 14.0, "sent_last_24_hours": sent,
            "in_sandbox": true, "sending_enabled": true}});
        assert_eq!(got, want);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // The figures are of all accounts together.
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let got = app.api.get(PATH).key(&sub.key).send().await;
    assert_eq!(got.expect(200).json(), json!({"ses": null}));
    app.hand.advance(11);
    app.get(PATH).await.expect(503);
}

#[tokio::test]
async fn another_relay_does_not_say_what_it_takes_and_a_scope_is_needed() {
    let app = TestApp::new().await;
    assert_eq!(app.get(PATH).await.expect(200).json(), json!({"ses": null}));
    for (scope, status) in [
        ("user.credits.read", 200),
        ("billing.read", 200),
        ("mail.send", 403),
    ] {
        let key = app.tenant.restricted(&app.store, &[scope]).await;
        app.api.get(PATH).key(&key).send().await.expect(status);
    }
}
