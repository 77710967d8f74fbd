//! Whom bounces and spam reports may be forwarded to: the mail, the page, the limits.

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
    fn mails(&self) -> Vec<Mail> {
        let jobs = self.queues.drain("send").into_iter();
        let mail = |(text, _): (String, _)| match Job::from_text(&text).unwrap().body {
            JobBody::Mail(mail) => *mail,
            other => unreachable!("{other:?}"),
        };
        jobs.map(mail).collect()
    }

    /// The path of the page in the one mail that was sent since the last look.
    fn link(&self) -> String {
        let mails = self.mails();
        assert_eq!(mails.len(), 1);
        let text = &mails.first().unwrap().content.first().unwrap().value;
        let (_, rest) = text.split_once("https://post.example").unwrap();
        rest.lines().next().unwrap().to_owned()
    }

    async fn may_forward(&self, email: &str) -> bool {
        let email = EmailAddress::parse(email).unwrap();
        let id = &self.tenant.account.id;
        self.store.may_forward_to(id, &email).await.unwrap()
    }
}

#[tokio::test]
async fn an_address_is_confirmed_by_a_person_who_presses_the_button() {
    let desk = TestApp::new().await;
    assert_eq!(
        desk.set(BOUNCE, &to("Ops@Example.org")).await,
        to("Ops@Example.org")
    );
    let link = desk.link();
    let page = desk.api.get(&link).send().await.expect(200);
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(html.contains("<b>Ops@Example.org</b>") && html.contains("method=\"post\""));
    assert!(
        !desk.may_forward("ops@example.org").await,
        "opening is not enough"
    );
    desk.api.post(&link).send().await.expect(200);
    desk.api.post(&link).send().await.expect(200);
    assert!(desk.may_forward("OPS@example.org").await);

    // Another address is confirmed by itself; one that was confirmed needs no second mail.
    desk.set(BOUNCE, &to("new@example.org")).await;
    let new = desk.link();
    assert!(!desk.may_forward("new@example.org").await);
    desk.set(SPAM, &to("ops@example.org")).await;
    desk.set(BOUNCE, &to("ops@example.org")).await;
    assert!(desk.mails().is_empty());
    desk.api.post(&new).send().await.expect(200);
    desk.api.get("/forwards/confirm/x").send().await.expect(404);
    desk.api
        .post("/forwards/confirm/x")
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn both_settings_ask_an_address_once_and_again_after_ten_minutes() {
    let desk = TestApp::new().await;
    desk.set(BOUNCE, &to("ops@example.org")).await;
    let first = desk.link();
    desk.set(SPAM, &to("ops@example.org")).await;
    desk.set(BOUNCE, &to("ops@example.org")).await;
    desk.hand.advance(599);
    desk.set(BOUNCE, &to("ops@example.org")).await;
    assert!(desk.mails().is_empty());
    desk.hand.advance(1);
    desk.set(BOUNCE, &json!({"enabled": true})).await;
    assert!(desk.mails().is_empty(), "the address is not named");
    desk.set(BOUNCE, &to("ops@example.org")).await;
    let second = desk.link();
    desk.api.post(&first).send().await.expect(404);
    // What is stored as it was is no new request: past the limit it is stored without a mail.
    desk.hand.advance(600);
    desk.set(BOUNCE, &to("ops@example.org")).await;
    assert!(desk.mails().is_empty());
    desk.api.post(&second).send().await.expect(200);
}

#[tokio::test]
async fn a_link_works_for_two_days() {
    let desk = TestApp::new().await;
    desk.set(BOUNCE, &to("ops@example.org")).await;
    let link = desk.link();
    desk.hand.advance(48 * 3_600);
    desk.api.get(&link).send().await.expect(404);
    desk.api.post(&link).send().await.expect(404);
    assert!(!desk.may_forward("ops@example.org").await);
    desk.set(BOUNCE, &to("ops@example.org")).await;
    desk.api.post(&desk.link()).send().await.expect(200);
}

#[tokio::test]
async fn a_setting_that_forwards_nothing_mails_nobody() {
    let desk = TestApp::new().await;
    let off = json!({"email": "ops@example.org", "enabled": false});
    desk.set(BOUNCE, &off).await;
    desk.set("/v3/mail_settings/bcc", &to("ops@example.org"))
        .await;
    assert!(desk.mails().is_empty());
    desk.set(BOUNCE, &json!({"enabled": true})).await;
    assert_eq!(desk.mails().len(), 1);
    desk.tenant.domain(&desk.store, "own.example").await;
    desk.set(SPAM, &to("abuse@own.example")).await;
    assert!(
        desk.mails().is_empty(),
        "a domain of the account vouches for it"
    );
    assert!(desk.may_forward("abuse@own.example").await);
}

#[tokio::test]
async fn past_the_limits_the_setting_stays_as_it_is() {
    let desk = TestApp::new().await;
    for i in 0..5 {
        desk.set(BOUNCE, &to(&format!("a{i}@example.org"))).await;
    }
    assert_eq!(desk.mails().len(), 5);
    let answer = desk.patch(BOUNCE, &to("b@example.org")).await.expect(429);
    let want = json!({"errors": [{"field": null, "message": "too many requests"}]});
    assert_eq!(answer.json(), want);
    assert_eq!(answer.header("x-ratelimit-limit"), "5");
    assert_eq!(answer.header("retry-after"), "86400");
    assert_eq!(desk.get(BOUNCE).await.json(), to("a4@example.org"));
    // What mails nobody is not limited.
    desk.set(BOUNCE, &json!({"enabled": false})).await;
    desk.hand.advance(86_400);
    desk.set(BOUNCE, &to("b@example.org")).await;
    assert_eq!(desk.mails().len(), 1);
}

#[tokio::test]
async fn a_suppressed_address_and_an_account_that_may_not_send_are_refused() {
    let desk = TestApp::new().await;
    let id = &desk.tenant.account.id;
    let (gone, mark) = (["gone@example.org".to_owned()], Mark::at(desk.hand.now()));
    let listed = desk
        .store
        .suppress_all(id, &gone, SuppressionList::Bounces, &mark);
    listed.await.unwrap();
    desk.refuses(BOUNCE, &to("Gone@example.org"), &["email"])
        .await;

    // Its parent still acts for it, except to make the service write to strangers.
    let sub = desk.tenant.subuser(&desk.store, "sub").await;
    let suspend = |account: &mut Account| account.status = AccountStatus::Suspended;
    let done = desk.store.update_account(&sub.account.id, suspend).await;
    assert!(done.unwrap().is_some());
    let ask = |body: Value| {
        let ask = desk.api.patch(BOUNCE).key(&desk.tenant.key).as_if("sub");
        async move { ask.json(&body).send().await }
    };
    ask(to("ops@example.org")).await.expect(401);
    let stored = ask(json!({"enabled": false})).await.expect(200).json();
    assert_eq!(stored, json!({"email": null, "enabled": false}));
    assert!(desk.mails().is_empty());
}

#[tokio::test]
async fn a_mail_that_the_queue_does_not_take_is_asked_for_again_at_once() {
    let desk = TestApp::new().await;
    desk.queues.set_broken(true);
    for _ in 0..3 {
        desk.patch(BOUNCE, &to("ops@example.org")).await.expect(503);
    }
    desk.queues.set_broken(false);
    desk.set(BOUNCE, &to("ops@example.org")).await;
    desk.api.post(&desk.link()).send().await.expect(200);
}
