//! The addresses that bounces and spam reports may be forwarded to: the mail, the page, the limits.

use posthaste_model::{EmailAddress, Mail};
use posthaste_queue::{Job, JobBody};
use posthaste_store::{Account, AccountStatus, Mark, SuppressionList};
use serde_json::{Value, json};

use crate::TestApp;

const BOUNCE: &str = "/v3/mail_settings/forward_bounce";
const SPAM: &str = "/v3/mail_settings/forward_spam";

fn to(email: &str) -> Value {
    json!({"email": email, "enabled": true})
}

impl TestApp {
    /// The mails that were sent since the last look.
    pub(crate) fn mails(&self) -> Vec<Mail> {
        let jobs = self.queues.drain("send").into_iter();
        let mail = |(text, _): (String, _)| match Job::from_text(&text).unwrap().body {
            JobBody::Mail(mail) => *mail,
            other => unreachable!("{other:?}"),
        };
        jobs.map(mail).collect()
    }

    /// The path of the page in the one mail that was sent since the last look.
    pub(crate) fn link(&self) -> String {
        let mails = self.mails();
        assert_eq!(mails.len(), 1);
        let text = &mails.first().unwrap().content.first().unwrap().value;
        let (_, rest) = text.split_once("https://post.example").unwrap();
        rest.lines().next().unwrap().to_owned()
    }

    pub(crate) async fn may_forward(&self, email: &str) -> bool {
        let email = EmailAddress::parse(email).unwrap();
        let id = &self.tenant.account.id;
        self.store.may_forward_to(id, &email).await.unwrap()
    }
}

#[tokio::test]
async fn an_address_is_confirmed_by_the_button_on_the_page() {
    let app = TestApp::new().await;
    assert_eq!(
        app.set(BOUNCE, &to("Ops@Example.org")).await,
        to("Ops@Example.org")
    );
    let link = app.link();
    let page = app.api.get(&link).send().await.expect(200);
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(html.contains("<b>Ops@Example.org</b>") && html.contains("method=\"post\""));
    assert!(
        !app.may_forward("ops@example.org").await,
        "opening is not enough"
    );
    app.api.post(&link).send().await.expect(200);
    app.api.post(&link).send().await.expect(200);
    assert!(app.may_forward("OPS@example.org").await);

    // Another address is confirmed by itself; one that was confirmed needs no second mail.
    app.set(BOUNCE, &to("new@example.org")).await;
    let new = app.link();
    assert!(!app.may_forward("new@example.org").await);
    app.set(SPAM, &to("ops@example.org")).await;
    app.set(BOUNCE, &to("ops@example.org")).await;
    assert!(app.mails().is_empty());
    app.api.post(&new).send().await.expect(200);
    app.api.get("/forwards/confirm/x").send().await.expect(404);
    app.api.post("/forwards/confirm/x").send().await.expect(404);
}

#[tokio::test]
async fn both_settings_mail_an_address_once_and_again_after_ten_minutes() {
    let app = TestApp::new().await;
    app.set(BOUNCE, &to("ops@example.org")).await;
    let first = app.link();
    app.set(SPAM, &to("ops@example.org")).await;
    app.set(BOUNCE, &to("ops@example.org")).await;
    app.hand.advance(599);
    app.set(BOUNCE, &to("ops@example.org")).await;
    assert!(app.mails().is_empty());
    app.hand.advance(1);
    app.set(BOUNCE, &json!({"enabled": true})).await;
    assert!(app.mails().is_empty(), "the address is not named");
    app.set(BOUNCE, &to("ops@example.org")).await;
    let second = app.link();
    app.api.post(&first).send().await.expect(404);
    // What is stored as it was is no new request: past the limit it is stored without a mail.
    app.hand.advance(600);
    app.set(BOUNCE, &to("ops@example.org")).await;
    assert!(app.mails().is_empty());
    app.api.post(&second).send().await.expect(200);
}

#[tokio::test]
async fn a_link_works_for_two_days() {
    let app = TestApp::new().await;
    app.set(BOUNCE, &to("ops@example.org")).await;
    let link = app.link();
    app.hand.advance(48 * 3_600);
    app.api.get(&link).send().await.expect(404);
    app.api.post(&link).send().await.expect(404);
    assert!(!app.may_forward("ops@example.org").await);
    app.set(BOUNCE, &to("ops@example.org")).await;
    app.api.post(&app.link()).send().await.expect(200);
}

#[tokio::test]
async fn a_setting_that_forwards_nothing_sends_no_mail() {
    let app = TestApp::new().await;
    let off = json!({"email": "ops@example.org", "enabled": false});
    app.set(BOUNCE, &off).await;
    app.set("/v3/mail_settings/bcc", &to("ops@example.org"))
        .await;
    assert!(app.mails().is_empty());
    app.set(BOUNCE, &json!({"enabled": true})).await;
    assert_eq!(app.mails().len(), 1);
    app.tenant.domain(&app.store, "own.example").await;
    app.set(SPAM, &to("abuse@own.example")).await;
    assert!(
        app.mails().is_empty(),
        "a domain of the account vouches for it"
    );
    assert!(app.may_forward("abuse@own.example").await);
}

#[tokio::test]
async fn each_address_of_a_list_is_confirmed_by_itself_and_mailed_by_a_request_of_its_own() {
    let app = TestApp::new().await;
    let list = to("a@example.org, b@example.org");
    let sent_to = || {
        let mails = app.mails().into_iter();
        let to = mails.map(|mail| mail.personalizations[0].to[0].email.to_string());
        to.collect::<Vec<_>>()
    };
    for want in [&["a@example.org"][..], &["b@example.org"], &[]] {
        app.set(SPAM, &list).await;
        assert_eq!(sent_to(), want);
    }
    app.set(SPAM, &json!({"enabled": true})).await;
    app.hand.advance(600);
    app.set(SPAM, &json!({"enabled": true})).await;
    assert_eq!(sent_to(), [""; 0], "no address is named");
    app.set(SPAM, &to("b@example.org, c@example.org")).await;
    assert_eq!(sent_to(), ["b@example.org"]);
}

#[tokio::test]
async fn a_list_that_begins_with_a_suppressed_address_is_refused_and_sends_no_mail() {
    let app = TestApp::new().await;
    let (gone, mark) = (["gone@example.org".to_owned()], Mark::at(app.hand.now()));
    let list = SuppressionList::Bounces;
    let id = &app.tenant.account.id;
    app.store
        .suppress_all(id, &gone, list, &mark)
        .await
        .unwrap();
    app.refuses(SPAM, &to("gone@example.org, a@example.org"), &["email"])
        .await;
    assert!(app.mails().is_empty());
}

#[tokio::test]
async fn past_the_limits_the_setting_stays_as_it_is() {
    let app = TestApp::new().await;
    for i in 0..5 {
        app.set(BOUNCE, &to(&format!("a{i}@example.org"))).await;
    }
    assert_eq!(app.mails().len(), 5);
    let answer = app.patch(BOUNCE, &to("b@example.org")).await.expect(429);
    let want = json!({"errors": [{"field": null, "message": "too many requests"}]});
    assert_eq!(answer.json(), want);
    assert_eq!(answer.header("x-ratelimit-limit"), "5");
    assert_eq!(answer.header("retry-after"), "86400");
    assert_eq!(app.get(BOUNCE).await.json(), to("a4@example.org"));
    // A change that needs no mail is not limited.
    app.set(BOUNCE, &json!({"enabled": false})).await;
    app.hand.advance(86_400);
    app.set(BOUNCE, &to("b@example.org")).await;
    assert_eq!(app.mails().len(), 1);
}

#[tokio::test]
async fn a_suppressed_address_and_an_account_that_may_not_send_are_refused() {
    let app = TestApp::new().await;
    let id = &app.tenant.account.id;
    let (gone, mark) = (["gone@example.org".to_owned()], Mark::at(app.hand.now()));
    let listed = app
        .store
        .suppress_all(id, &gone, SuppressionList::Bounces, &mark);
    listed.await.unwrap();
    app.refuses(BOUNCE, &to("Gone@example.org"), &["email"])
        .await;

    // Its parent still acts for it, except to make the service send mail to third parties.
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let suspend = |account: &mut Account| account.status = AccountStatus::Suspended;
    let done = app.store.update_account(&sub.account.id, suspend).await;
    assert!(done.unwrap().is_some());
    let ask = |body: Value| {
        let ask = app.api.patch(BOUNCE).key(&app.tenant.key).as_if("sub");
        async move { ask.json(&body).send().await }
    };
    ask(to("ops@example.org")).await.expect(401);
    let stored = ask(json!({"enabled": false})).await.expect(200).json();
    assert_eq!(stored, json!({"email": null, "enabled": false}));
    assert!(app.mails().is_empty());
}

#[tokio::test]
async fn a_mail_that_the_queue_refuses_can_be_requested_again_at_once() {
    let app = TestApp::new().await;
    app.queues.set_broken(true);
    for _ in 0..3 {
        app.patch(BOUNCE, &to("ops@example.org")).await.expect(503);
    }
    app.queues.set_broken(false);
    app.set(BOUNCE, &to("ops@example.org")).await;
    app.api.post(&app.link()).send().await.expect(200);
}
