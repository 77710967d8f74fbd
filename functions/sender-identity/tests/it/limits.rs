//! What the service writes to strangers in its own name: how often, to whom, and what it says.

use posthaste_model::EmailAddress;
use posthaste_store::{Mark, SuppressionList};
use posthaste_testkit::{Response, Tenant};
use serde_json::{Value, json};

use crate::TestApp;

const SENDERS: &str = "/v3/verified_senders";
pub(crate) const DNS: &str = "/v3/whitelabel/dns/email";
const HOUR: i64 = 3_600;

fn sender(email: &str) -> Value {
    json!({"nickname": "A", "from_email": email, "reply_to": email})
}

impl TestApp {
    pub(crate) async fn ask(&self, key: &str, path: &str, body: &Value) -> Response {
        self.api.post(path).key(key).json(body).send().await
    }

    pub(crate) async fn ask_own(&self, path: &str, body: &Value) -> Response {
        self.ask(&self.tenant.key, path, body).await
    }

    pub(crate) async fn ask_for(&self, tenant: &Tenant, email: &str) -> Response {
        self.ask(&tenant.key, SENDERS, &sender(email)).await
    }

    /// A domain of the tenant and a request that mails its records.
    pub(crate) async fn records(&self, tenant: &Tenant, to: &str, message: &str) -> Value {
        let domains = self.store.domains(&tenant.account.id).await.unwrap();
        let id = match domains.first() {
            Some(domain) => domain.id,
            None => {
                tenant.domain(&self.store, "owner.example").await;
                1
            }
        };
        json!({"domain_id": id, "email": to, "message": message})
    }

    pub(crate) async fn suppress(&self, tenant: &Tenant, list: SuppressionList, email: &str) {
        let folded = EmailAddress::parse(email).unwrap().folded();
        let (id, mark) = (&tenant.account.id, Mark::at(self.hand.now()));
        let emails = [folded];
        let listed = self.store.suppress_all(id, &emails, list, &mark);
        listed.await.unwrap();
    }
}

/// A 429 in the API's shape, with headers that name the limit and its end.
#[track_caller]
fn is_limited(answer: &Response, limit: &str, seconds: i64, now: i64) {
    assert_eq!(answer.status.as_u16(), 429, "{:?}", answer.body);
    let error = &answer.json()["errors"][0];
    assert_eq!(
        (&error["field"], &error["message"]),
        (&Value::Null, &json!("too many requests"))
    );
    assert_eq!(answer.header("retry-after"), seconds.to_string());
    assert_eq!(answer.header("x-ratelimit-limit"), limit);
    assert_eq!(answer.header("x-ratelimit-remaining"), "0");
    assert_eq!(
        answer.header("x-ratelimit-reset"),
        (now + seconds).to_string()
    );
}

#[tokio::test]
async fn an_account_has_five_mails_in_any_24_hours_with_its_subusers() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let other = app.tenant.subuser(&app.store, "other").await;
    for (i, tenant) in [&app.tenant, &sub, &app.tenant, &other, &sub]
        .iter()
        .enumerate()
    {
        app.ask_for(tenant, &format!("a{i}@example.org"))
            .await
            .expect(201);
        app.hand.advance(HOUR);
    }
    let fresh = app.tenant.subuser(&app.store, "fresh").await;
    let body = app.records(&fresh, "dns@example.org", "").await;
    let before = app.get(SENDERS, 200).await;
    for answer in [
        app.ask_for(&app.tenant, "b@example.org").await,
        app.ask_for(&fresh, "b@example.org").await,
        app.ask(&fresh.key, DNS, &body).await,
    ] {
        is_limited(&answer, "5", 19 * HOUR, app.hand.now().0);
    }
    app.patch(&format!("{SENDERS}/1"), &sender("c@example.org"), 429)
        .await;
    assert_eq!(
        app.get(SENDERS, 200).await,
        before,
        "a refusal changes nothing"
    );
    assert_eq!(app.mails().len(), 5);

    // What is past the limit of one account is not past another's.
    let stranger = Tenant::new(&app.store, "stranger", app.hand.now()).await;
    app.ask_for(&stranger, "b@example.org").await.expect(201);

    // One place is free a day after the first mail, and not a second earlier.
    app.hand.advance(19 * HOUR - 1);
    is_limited(
        &app.ask_for(&fresh, "d@example.org").await,
        "5",
        1,
        app.hand.now().0,
    );
    app.hand.advance(1);
    app.ask_for(&fresh, "d@example.org").await.expect(201);
    is_limited(
        &app.ask_for(&fresh, "e@example.org").await,
        "5",
        HOUR,
        app.hand.now().0,
    );
    app.hand.advance(24 * HOUR);
    for i in 0..5 {
        app.ask_for(&sub, &format!("f{i}@example.org"))
            .await
            .expect(201);
    }
    app.ask_for(&sub, "g@example.org").await.expect(429);
}

#[tokio::test]
async fn an_address_gets_two_mails_in_any_24_hours_of_all_accounts() {
    let app = TestApp::new().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let third = Tenant::new(&app.store, "third", app.hand.now()).await;
    app.ask_for(&app.tenant, "ann@example.org")
        .await
        .expect(201);
    app.hand.advance(HOUR);
    app.ask_for(&other, "Ann+news@Example.org")
        .await
        .expect(201);
    let now = app.hand.now().0;
    for email in ["ann@example.org", "ann+2@example.org"] {
        is_limited(&app.ask_for(&third, email).await, "2", 23 * HOUR, now);
        let body = app.records(&third, email, "Please").await;
        is_limited(&app.ask(&third.key, DNS, &body).await, "2", 23 * HOUR, now);
    }
    app.ask_for(&third, "bob@example.org").await.expect(201);
    assert_eq!(app.mails().len(), 3);
    app.hand.advance(23 * HOUR);
    app.ask_for(&third, "ann@example.org").await.expect(201);
}

#[tokio::test]
async fn a_link_is_mailed_again_after_ten_minutes() {
    let app = TestApp::new().await;
    let made = app.post(SENDERS, &sender("ann@example.org"), 201).await;
    let first = app.link();
    let resend = format!("{SENDERS}/resend/{}", made["id"]);
    // Before that the first link is the answer.
    for _ in 0..50 {
        app.ask_own(&resend, &json!({})).await.expect(204);
    }
    assert!(app.mails().is_empty());
    app.api.get(&first).send().await.expect(200);
    app.hand.advance(599);
    app.ask_own(&resend, &json!({})).await.expect(204);
    assert!(app.mails().is_empty());
    app.hand.advance(1);
    app.ask_own(&resend, &json!({})).await.expect(204);
    assert_eq!(app.mails().len(), 1);
    app.hand.advance(600);
    let answer = app.ask_own(&resend, &json!({})).await;
    is_limited(&answer, "2", 24 * HOUR - 1_200, app.hand.now().0);
}

/// No mail leaves, so the account's limit does not matter.
#[tokio::test]
async fn a_link_that_was_just_mailed_is_the_answer_past_the_limit_of_the_account_too() {
    let app = TestApp::new().await;
    for i in 0..4 {
        let body = sender(&format!("a{i}@example.org"));
        app.post(SENDERS, &body, 201).await;
    }
    app.hand.advance(HOUR);
    let last = app.post(SENDERS, &sender("last@example.org"), 201).await;
    assert_eq!(app.mails().len(), 5);
    let resend = format!("{SENDERS}/resend/{}", last["id"]);
    app.ask_own(&resend, &json!({})).await.expect(204);
    assert!(app.mails().is_empty());
    app.hand.advance(600);
    let answer = app.ask_own(&resend, &json!({})).await;
    is_limited(&answer, "5", 23 * HOUR - 600, app.hand.now().0);
}

#[tokio::test]
async fn of_many_requests_at_once_none_takes_a_place_too_many() {
    let app = TestApp::new().await;
    let own = app.tenant.subuser(&app.store, "sub").await;
    let ask = |i: usize| {
        let (app, own) = (&app, &own);
        async move {
            let tenant = if i.is_multiple_of(2) {
                own
            } else {
                &app.tenant
            };
            let answer = app.ask_for(tenant, &format!("a{i}@example.org")).await;
            answer.status.as_u16()
        }
    };
    let answers = futures_util::future::join_all((0..20).map(ask)).await;
    let made = answers.iter().filter(|status| **status == 201).count();
    assert_eq!(made, 5, "{answers:?}");
    assert!(
        answers.iter().all(|status| [201, 429].contains(status)),
        "{answers:?}"
    );
    assert_eq!(app.mails().len(), 5);
}

#[tokio::test]
async fn the_last_place_of_an_address_is_taken_once() {
    let app = TestApp::new().await;
    let tenants = [
        Tenant::new(&app.store, "one", app.hand.now()).await,
        Tenant::new(&app.store, "two", app.hand.now()).await,
        Tenant::new(&app.store, "three", app.hand.now()).await,
    ];
    let asks = tenants
        .iter()
        .map(|one| app.ask_for(one, "ann@example.org"));
    let answers = futures_util::future::join_all(asks).await;
    let mut answers: Vec<_> = answers
        .iter()
        .map(|answer| answer.status.as_u16())
        .collect();
    answers.sort_unstable();
    assert_eq!(answers, [201, 201, 429]);
    assert_eq!(app.mails().len(), 2);
}

#[tokio::test]
async fn a_repeated_request_is_counted_once() {
    let app = TestApp::new().await;
    let body = app.records(&app.tenant, "dns@example.org", "Please").await;
    for _ in 0..3 {
        app.ask_own(DNS, &body).await.expect(204);
    }
    // Under one id, of which one copy leaves.
    let jobs = app.queues.drain("send");
    let ids: std::collections::BTreeSet<_> = jobs
        .iter()
        .map(|(text, _)| posthaste_queue::Job::from_text(text).unwrap().message)
        .collect();
    assert_eq!((jobs.len(), ids.len()), (3, 1));
    let other = app.records(&app.tenant, "dns@example.org", "Again").await;
    app.ask_own(DNS, &other).await.expect(204);
    app.hand.advance(600);
    app.ask_own(DNS, &body).await.expect(429);

    // A sender that exists is no second mail, even at the limit.
    for i in 0..3 {
        app.post(SENDERS, &sender(&format!("a{i}@example.org")), 201)
            .await;
    }
    let again = app.post(SENDERS, &sender("a0@example.org"), 400).await;
    assert_eq!(again["errors"][0]["message"], "already exists");
    app.post(SENDERS, &sender("b@example.org"), 429).await;
}

#[tokio::test]
async fn a_mail_that_the_queue_refuses_is_not_counted() {
    let app = TestApp::new().await;
    let body = app.records(&app.tenant, "dns@example.org", "Please").await;
    app.queues.set_broken(true);
    for i in 0..6 {
        let mut other = body.clone();
        other["message"] = json!(format!("{i}"));
        app.ask_own(DNS, &other).await.expect(503);
    }
    app.queues.set_broken(false);
    app.ask_own(DNS, &body).await.expect(204);
    assert_eq!(app.mails().len(), 1);
}

#[tokio::test]
async fn a_suppressed_address_gets_no_mail() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    for (i, list) in [
        SuppressionList::Bounces,
        SuppressionList::InvalidEmails,
        SuppressionList::SpamReports,
        SuppressionList::Unsubscribes,
    ]
    .into_iter()
    .enumerate()
    {
        let email = format!("a{i}@example.org");
        app.suppress(&app.tenant, list, &email).await;
        // A subuser with empty lists is no way around those of its parent.
        for tenant in [&app.tenant, &sub] {
            let answer = app
                .ask_for(tenant, &email.to_uppercase())
                .await
                .expect(400)
                .json();
            assert_eq!(answer["errors"][0]["field"], "from_email");
            let body = app.records(tenant, &email, "Please").await;
            let answer = app.ask(&tenant.key, DNS, &body).await.expect(400).json();
            let want = json!({"errors": [{"field": "email",
                "message": "the address is on a suppression list of the account"}]});
            assert_eq!(answer, want, "{list:?}");
        }
    }
    assert!(app.mails().is_empty());
    // A block is of a mail, not of an address; another account's list is its own.
    app.suppress(&app.tenant, SuppressionList::Blocks, "b@example.org")
        .await;
    app.ask_for(&app.tenant, "b@example.org").await.expect(201);
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    app.ask_for(&other, "a0@example.org").await.expect(201);
}
