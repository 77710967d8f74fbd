//! Verified senders: the mail, the page, the rules.

use axum::http::Method;
use posthaste_model::EmailAddress;
use posthaste_store::{Account, AccountStatus, SenderAuthority};
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/verified_senders";

fn ann() -> Value {
    json!({"nickname": "Ann", "from_email": "Ann@Example.org", "reply_to": "desk@example.org",
        "from_name": "Ann <A>", "city": "Köln", "country": "Germany"})
}

impl TestApp {
    /// The path of the page in the last mail.
    pub(crate) fn link(&self) -> String {
        let mails = self.mails();
        let text = &mails.last().unwrap().content[0].value;
        let (_, rest) = text.split_once("https://post.example").unwrap();
        rest.lines().next().unwrap().to_owned()
    }

    async fn may_send(&self, address: &str) -> bool {
        let address = EmailAddress::parse(address).unwrap();
        let standing = self.store.standing(&self.tenant.account.id, &address).await;
        standing.unwrap().is_some()
    }
}

#[tokio::test]
async fn a_sender_is_verified_by_a_person_who_presses_the_button() {
    let desk = TestApp::new().await;

    let sender = desk.post(ALL, &ann(), 201).await;

    assert_eq!(
        (&sender["verified"], &sender["locked"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(sender["from_email"], "Ann@Example.org");
    assert_eq!(sender["address2"], "");
    let link = desk.link();
    assert!(!desk.may_send("ann@example.org").await);

    let page = desk.api.get(&link).send().await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(html.contains("<b>Ann@Example.org</b>") && html.contains("method=\"post\""));
    assert!(
        !desk.may_send("ann@example.org").await,
        "opening the page is not enough"
    );

    desk.api.post(&link).send().await.expect(200);
    assert!(desk.may_send("ANN@example.org").await);
    assert!(!desk.may_send("bob@example.org").await);
    desk.api.post(&link).send().await.expect(200);
    let steps = desk.get(&format!("{ALL}/steps_completed"), 200).await;
    assert_eq!(
        steps,
        json!({"results": {"sender_verified": true, "domain_verified": false}})
    );
}

#[tokio::test]
async fn a_program_of_the_account_can_verify_too_and_no_other() {
    let desk = TestApp::new().await;
    desk.post(ALL, &ann(), 201).await;
    let link = desk.link();
    let token = link.rsplit('/').next().unwrap();
    let path = format!("{ALL}/verify/{token}");
    let other = posthaste_testkit::Tenant::new(&desk.store, "other", desk.hand.now()).await;

    desk.api.get(&path).send().await.expect(401);
    desk.api.get(&path).key(&other.key).send().await.expect(404);
    assert!(!desk.may_send("ann@example.org").await);
    desk.get(&format!("{ALL}/verify/x"), 404).await;
    desk.get(&path, 204).await;
    assert!(desk.may_send("ann@example.org").await);
}

#[tokio::test]
async fn a_link_ends_after_two_days_and_when_a_new_one_is_mailed() {
    let desk = TestApp::new().await;
    let sender = desk.post(ALL, &ann(), 201).await;
    let first = desk.link();
    let resend = format!("{ALL}/resend/{}", sender["id"]);
    desk.hand.advance(600);
    desk.post(&resend, &json!({}), 204).await;
    let second = desk.link();

    desk.api.post(&first).send().await.expect(404);
    desk.hand.advance(48 * 3600 - 1);
    desk.api.get(&second).send().await.expect(200);
    desk.hand.advance(1);
    desk.api.get(&second).send().await.expect(404);
    desk.api.post(&second).send().await.expect(404);
    assert!(!desk.may_send("ann@example.org").await);

    desk.post(&resend, &json!({}), 204).await;
    desk.api.post(&desk.link()).send().await.expect(200);
    desk.post(&resend, &json!({}), 400).await;
    desk.post(&format!("{ALL}/resend/99"), &json!({}), 404)
        .await;
}

#[tokio::test]
async fn an_address_of_an_authenticated_domain_needs_no_mail() {
    let desk = TestApp::trusting().await;
    desk.domain("example.org").await;
    let sender = desk.post(ALL, &ann(), 201).await;
    assert_eq!(sender["verified"], true);
    assert!(desk.mails().is_empty());
}

#[tokio::test]
async fn another_address_is_verified_anew_and_other_changes_are_not() {
    let desk = TestApp::new().await;
    let sender = desk.post(ALL, &ann(), 201).await;
    let old = desk.link();
    desk.api.post(&old).send().await.expect(200);
    let path = format!("{ALL}/{}", sender["id"]);

    let changed = desk
        .patch(
            &path,
            &json!({"nickname": "A", "from_email": "ANN@example.org"}),
            200,
        )
        .await;
    assert_eq!(
        (&changed["verified"], &changed["nickname"]),
        (&json!(true), &json!("A"))
    );
    assert_eq!(changed["city"], "Köln");
    assert!(desk.mails().is_empty());

    let moved = desk
        .patch(&path, &json!({"from_email": "new@example.org"}), 200)
        .await;
    assert_eq!(moved["verified"], false);
    assert!(!desk.may_send("ann@example.org").await && !desk.may_send("new@example.org").await);
    let new = desk.link();
    desk.api.post(&old).send().await.expect(404);
    desk.api.post(&new).send().await.expect(200);
    assert!(desk.may_send("new@example.org").await && !desk.may_send("ann@example.org").await);

    desk.delete(&path, 204).await;
    desk.delete(&path, 404).await;
    assert!(!desk.may_send("new@example.org").await);
    desk.patch(&path, &json!({"nickname": "A"}), 404).await;
}

#[tokio::test]
async fn an_address_is_on_an_account_once() {
    let desk = TestApp::new().await;
    desk.post(ALL, &ann(), 201).await;
    let answer = desk.post(ALL, &ann(), 400).await;
    assert_eq!(
        answer["errors"][0],
        json!({"field": "from_email", "message": "already exists"})
    );
    let mut bob = ann();
    bob["from_email"] = json!("bob@example.org");
    let bob = desk.post(ALL, &bob, 201).await;
    let path = format!("{ALL}/{}", bob["id"]);
    desk.patch(&path, &json!({"from_email": "ann@example.org"}), 400)
        .await;
    assert_eq!(desk.mails().len(), 2, "a refused request mails nobody");
}

#[tokio::test]
async fn wrong_requests_name_every_problem() {
    let desk = TestApp::new().await;
    let long = |n: usize| "x".repeat(n);
    for (body, fields) in [
        (json!({}), &["nickname", "from_email", "reply_to"][..]),
        (
            json!({"nickname": "A", "from_email": "x", "reply_to": "y"}),
            &["from_email", "reply_to"],
        ),
        (
            json!({"nickname": long(101), "from_email": "a@b.co", "reply_to": "a@b.co"}),
            &["nickname"],
        ),
        (
            json!({"nickname": "A", "from_email": "a@b.co", "reply_to": "a@b.co", "state": "NRW",
                "zip": long(11), "city": long(151), "country": long(101), "address": long(101)}),
            &["address", "state", "city", "zip", "country"],
        ),
        (json!({"nickname": 1}), &["nickname"]),
    ] {
        let answer = desk.post(ALL, &body, 400).await;
        let found: Vec<_> = answer["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["field"].clone())
            .collect();
        assert_eq!(found, fields, "{body}");
    }
    assert_eq!(desk.get(ALL, 200).await, json!({"results": []}));
}

#[tokio::test]
async fn the_list_is_paged_by_the_last_id_seen() {
    let desk = TestApp::new().await;
    for name in ["a", "b", "c"] {
        let mut body = ann();
        body["from_email"] = json!(format!("{name}@example.org"));
        desk.post(ALL, &body, 201).await;
    }
    for (query, want) in [
        ("", &["a", "b", "c"][..]),
        ("?limit=2", &["a", "b"]),
        ("?limit=2&lastSeenID=2", &["c"]),
        ("?id=2", &["b"]),
        ("?id=9", &[]),
    ] {
        let answer = desk.get(&format!("{ALL}{query}"), 200).await;
        let found = answer["results"].as_array().unwrap().iter();
        let found: Vec<_> = found
            .map(|s| s["from_email"].as_str().unwrap().to_owned())
            .collect();
        let want: Vec<_> = want
            .iter()
            .map(|name| format!("{name}@example.org"))
            .collect();
        assert_eq!(found, want, "{query}");
    }
    desk.get(&format!("{ALL}?id=x"), 400).await;
    let domains = desk.get(&format!("{ALL}/domains"), 200).await;
    assert!(
        domains["results"]["hard_failures"]
            .as_array()
            .unwrap()
            .contains(&json!("yahoo.com"))
    );
}

#[tokio::test]
async fn markup_in_an_address_stays_text() {
    let desk = TestApp::new().await;
    let mut body = ann();
    body["from_email"] = json!("\"<script>'&\"@example.org");
    desk.post(ALL, &body, 201).await;
    let page = desk.api.get(&desk.link()).send().await.expect(200);
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(
        !html.contains("<script>")
            && html.contains("&quot;&lt;script&gt;&#39;&amp;&quot;@example.org")
    );
}

#[tokio::test]
async fn a_verified_sender_is_what_allows_its_address() {
    let desk = TestApp::new().await;
    desk.post(ALL, &ann(), 201).await;
    desk.api.post(&desk.link()).send().await.expect(200);
    let address = EmailAddress::parse("ann@example.org").unwrap();
    let standing = desk
        .store
        .standing(&desk.tenant.account.id, &address)
        .await
        .unwrap();
    assert!(matches!(standing, Some(SenderAuthority::Sender(sender)) if sender.id == 1));
}

/// Its parent still acts for it, and its own key opens nothing.
#[tokio::test]
async fn an_account_that_may_not_send_makes_the_service_write_to_nobody() {
    let desk = TestApp::new().await;
    let sub = desk.tenant.subuser(&desk.store, "sub").await;
    let ask = async |method: Method, path: &str, body: &Value, own: bool| {
        let ask = desk.api.ask(method, path).json(body);
        let ask = match own {
            true => ask.key(&sub.key),
            false => ask.key(&desk.tenant.key).as_if("sub"),
        };
        let answer = ask.send().await;
        (answer.status.as_u16(), answer.json())
    };
    let (_, sender) = ask(Method::POST, ALL, &ann(), true).await;
    let domain = json!({"domain": "example.com"});
    let (_, domain) = ask(Method::POST, "/v3/whitelabel/domains", &domain, true).await;
    let (one, resend) = (
        format!("{ALL}/{}", sender["id"]),
        format!("{ALL}/resend/{}", sender["id"]),
    );
    desk.mails();
    let suspend = |account: &mut Account| account.status = AccountStatus::Suspended;
    let id = &sub.account.id;
    desk.store.update_account(id, suspend).await.unwrap();
    desk.hand.advance(10);

    let mut bob = ann();
    bob["from_email"] = json!("bob@example.org");
    let colleague = json!({"domain_id": domain["id"], "email": "colleague@example.net"});
    for (own, status, want) in [
        (
            false,
            401,
            "Authenticated user is not authorized to send mail",
        ),
        (true, 403, "access forbidden"),
    ] {
        for (method, path, body) in [
            (Method::POST, ALL, &bob),
            (
                Method::PATCH,
                &one,
                &json!({"from_email": "bob@example.org"}),
            ),
            (Method::POST, &resend, &json!({})),
            (Method::POST, "/v3/whitelabel/dns/email", &colleague),
        ] {
            let (got, answer) = ask(method, path, body, own).await;
            assert_eq!(got, status, "{path}: {answer}");
            assert_eq!(answer["errors"][0]["message"], want);
        }
    }
    assert!(desk.mails().is_empty());
    let (_, all) = ask(Method::GET, ALL, &Value::Null, false).await;
    assert_eq!(all["results"], json!([sender]), "a refusal changes nothing");
    // What mails nobody is still its parent's to decide.
    let nickname = json!({"nickname": "A"});
    let (status, _) = ask(Method::PATCH, &one, &nickname, false).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn the_letter_is_a_notice_of_the_service() {
    let desk = TestApp::new().await;
    desk.post(ALL, &ann(), 201).await;
    assert!(desk.mails()[0].notice);
}

#[tokio::test]
async fn no_local_part_speaks_in_a_letter() {
    let desk = TestApp::new().await;
    let mut body = ann();
    body["from_email"] = json!("\"see http://evil.com/x now\"@example.org");
    desk.post(ALL, &body, 201).await;
    let mail = desk.mails().remove(0);
    let text = &mail.content[0].value;
    assert!(
        !text.contains("evil") && !mail.subject.unwrap().contains("evil"),
        "{text}"
    );
}
