//! The figures of the first page, and the page of a new key.

use std::collections::BTreeMap;

use axum::routing::get;
use axum::{Json, Router};
use console::{App, routes};
use posthaste_mailer::Ses;
use posthaste_store::Tally;
use posthaste_testkit::{Services, aws_stand_in};
use serde_json::json;

use crate::TestApp;

impl TestApp {
    async fn count(&self, day: &str, counters: &[(&'static str, i64)]) {
        let counters: BTreeMap<_, _> = counters.iter().copied().collect();
        let mut tally = Tally::default();
        let place = (day.to_owned(), String::new());
        tally.counters.insert(place, counters);
        let id = &self.tenant.account.id;
        let counted = self.store.count_batch(id, day, &tally, self.hand.now());
        counted.await.unwrap();
    }

    fn day(&self, ago: i64) -> String {
        self.hand.now().plus(-ago * 86_400).day()
    }
}

#[tokio::test]
async fn a_new_account_sees_that_there_is_nothing_yet_and_what_to_do() {
    let app = TestApp::new().await;
    let page = app.page("/console", &app.by_link().await).await;
    assert!(page.contains("No mail in 30 days"), "{page}");
    // The account was made with a key.
    assert!(page.contains("1 of 5 done"), "{page}");
    assert!(!page.contains("<svg"), "{page}");
    assert!(page.contains("the account has no limit"), "{page}");
}

#[tokio::test]
async fn the_figures_are_those_of_thirty_days_and_of_today() {
    let app = TestApp::new().await;
    let counters = [
        ("requests", 1_300),
        ("processed", 1_200),
        ("delivered", 1_100),
        ("bounces", 6),
    ];
    app.count(&app.day(29), &counters).await;
    app.count(&app.day(30), &[("processed", 7_000)]).await;
    app.count(&app.day(0), &[("processed", 34), ("spam_reports", 1)])
        .await;
    let page = app.page("/console", &app.by_link().await).await;
    for figure in [
        "<b>1,234</b> <span>left</span>\n    <p class=\"soft\">34 today</p>",
        "<b>1,100</b> <span>arrived</span>\n    <p class=\"soft\">0 today · 89.14 %</p>",
        "<b>6</b> <span>bounced</span>\n    <p class=\"soft\">0 today · 0.49 %</p>",
        "<b>1</b> <span>complained about</span>\n    <p class=\"soft\">1 today · 0.08 %</p>",
    ] {
        assert!(page.contains(figure), "{figure}: {page}");
    }
    assert!(page.contains("<svg"), "{page}");
    let row = format!(
        "{}</th><td class=\"n\">1100</td><td class=\"n\">6</td>",
        app.day(29)
    );
    assert!(page.contains(&row), "{page}");
    assert!(page.contains("3 of 5 done"), "{page}");
}

#[tokio::test]
async fn a_session_of_a_key_shows_what_the_key_may_see() {
    let app = TestApp::new().await;
    let key = app.tenant.restricted(&app.store, &["mail.send"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console", &session).await;
    assert!(page.contains("No figures: access forbidden."), "{page}");
    assert!(!page.contains("<h2>Limits"), "{page}");
    let page = app.page("/console/first-key", &session).await;
    assert!(page.contains("lacks the scope api_keys.create"), "{page}");
    assert!(!page.contains("data-call"), "{page}");
}

#[tokio::test]
async fn a_name_is_text_wherever_it_comes_from() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let evil = "%3Cscript%3Ealert(1)%3C/script%3E%22";
    let path = format!("/console/first-key?name={evil}");
    let page = app.page(&path, &session).await;
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(page.contains("data-call=\"POST /v3/api_keys\""), "{page}");
    let forms = app.get(&format!("/console/sign-in?token={evil}"), "");
    let forms = forms.send().await.expect(200);
    assert!(!crate::html(&forms).contains("<script>alert"));
}

#[tokio::test]
async fn what_mail_costs_is_shown_to_sessions_that_may_read_bills() {
    let services = Services::start().await.var("SERVICE_PRICE", "4");
    let app = TestApp(posthaste_testkit::TestApp::on(services, App::from_env, routes).await);
    let owner = app.by_link().await;
    let page = app.page("/console", &owner).await;
    assert!(page.contains("<dt>Credits"), "{page}");
    assert!(page.contains("USD this month, estimated"), "{page}");
    let key = app.tenant.restricted(&app.store, &["stats.read"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console", &session).await;
    assert!(!page.contains("<dt>Cost"), "{page}");
}

#[tokio::test]
async fn the_limits_of_ses_are_those_of_the_api() {
    let quota = json!({"Max24HourSend": 50_000.0, "MaxSendRate": 14.0, "SentLast24Hours": 1_234.0});
    let account =
        json!({"ProductionAccessEnabled": false, "SendingEnabled": false, "SendQuota": quota});
    let answer = move || async move { Json(account) };
    let aws = aws_stand_in(Router::new().route("/v2/email/account", get(answer))).await;
    let services = Services::start().await.part(Ses::new(&aws, None));
    let app = TestApp(posthaste_testkit::TestApp::on(services, App::from_env, routes).await);
    let page = app.page("/console", &app.by_link().await).await;
    for words in [
        "1,234 of 50,000 mails in 24 hours, at most 14 a second",
        "sandbox</b>",
        "sending is paused",
        "SES is out of its sandbox",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}
