//! Verified senders: the mail, the page, the rules.

use axum::http::Method;
use posthaste_model::EmailAddress;
use posthaste_store::{Account, AccountStatus, SenderAuthority};
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/verified_senders";

fn ann() -> Value {
    json!({"nickname": "Ann", "from_email": "Ann@Example.org", "reply_to": "app@example.org",
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
async fn a_sender_is_verified_by_the_button_on_the_page() {
    let app = TestApp::new().await;

    let sender = app.post(ALL, &ann(), 201).await;

    assert_eq!(
        (&sender["verified"], &sender["locked"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(sender["from_email"], "Ann@Example.org");
    assert_eq!(sender["address2"], "");
    let link = app.link();
    assert!(!app.may_send("ann@example.org").await);

    let page = app.api.get(&link).send().await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(html.contains("<b>Ann@Example.org</b>") && html.contains("method=\"post\""));
    assert!(
        !app.may_send("ann@example.org").await,
        "opening the page is not enough"
    );

    app.api.post(&link).send().await.expect(200);
    assert!(app.may_send("ANN@example.org").await);
    assert!(!app.may_send("bob@example.org").await);
    app.api.post(&link).send().await.expect(200);
    let steps = app.get(&format!("{ALL}/steps_completed"), 200).await;
    assert_eq!(
        steps,
        json!({"results": {"sender_verified": true, "domain_verified": false}})
    );
}

#[tokio::test]
async fn an_api_client_of_the_account_can_verify_too_and_no_other() {
    let app = TestApp::new().await;
    app.post(ALL, &ann(), 201).await;
    let link = app.link();
    let token = link.rsplit('/').next().unwrap();
    let path = format!("{ALL}/verify/{token}");
    let other = posthaste_testkit::Tenant::new(&app.store, "other", app.hand.now()).await;

    app.api.get(&path).send().await.expect(401);
    app.api.get(&path).key(&other.key).send().await.expect(404);
    assert!(!app.may_send("ann@example.org").await);
    app.get(&format!("{ALL}/verify/x"), 404).await;
    app.get(&path, 204).await;
    assert!(app.may_send("ann@example.org").await);
}

#[tokio::test]
async fn a_link_ends_after_two_days_and_when_a_new_one_is_mailed() {
    let app = TestApp::new().await;
    let sender = app.post(ALL, &ann(), 201).await;
    let first = app.link();
    let resend = format!("{ALL}/resend/{}", sender["id"]);
    app.hand.advance(600);
    app.post(&resend, &json!({}), 204).await;
    let second = app.link();

    app.api.post(&first).send().await.expect(404);
    app.hand.advance(48 * 3600 - 1);
    app.api.get(&second).send().await.expect(200);
    app.hand.advance(1);
    app.api.get(&second).send().await.expect(404);
    app.api.post(&second).send().await.expect(404);
    assert!(!app.may_send("ann@example.org").await);

    app.post(&resend, &json!({}), 204).await;
    app.api.post(&app.link()).send().await.expect(200);
    app.post(&resend, &json!({}), 400).await;
    app.post(&format!("{ALL}/resend/99"), &json!({}), 404).await;
}

#[tokio::test]
async fn an_address_of_an_authenticated_domain_needs_no_mail() {
    let app = TestApp::trusting().await;
    app.domain("example.org").await;
    let sender = app.post(ALL, &ann(), 201).await;
    assert_eq!(sender["verified"], true);
    assert!(app.mails().is_empty());
}

#[tokio::test]
async fn another_address_is_verified_anew_and_other_changes_are_not() {
    let app = TestApp::new().await;
    let sender = app.post(ALL, &ann(), 201).await;
    let old = app.link();
    app.api.post(&old).send().await.expect(200);
    let path = format!("{ALL}/{}", sender["id"]);

    let changed = app
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
    assert!(app.mails().is_empty());

    let moved = app
        .patch(&path, &json!({"from_email": "new@example.org"}), 200)
        .await;
    assert_eq!(moved["verified"], false);
    assert!(!app.may_send("ann@example.org").await && !app.may_send("new@example.org").await);
    let new = app.link();
    app.api.post(&old).send().await.expect(404);
    app.api.post(&new).send().await.expect(200);
    assert!(app.may_send("new@example.org").await && !app.may_send("ann@example.org").await);

    app.delete(&path, 204).await;
    app.delete(&path, 404).await;
    assert!(!app.may_send("new@example.org").await);
    app.patch(&path, &json!({"nickname": "A"}), 404).await;
}

#[tokio::test]
async fn an_address_is_on_an_account_once() {
    let app = TestApp::new().await;
    app.post(ALL, &ann(), 201).await;
    let answer = app.post(ALL, &ann(), 400).await;
    assert_eq!(
        answer["errors"][0],
        json!({"field": "from_email", "message": "already exists", "error_id": "invalid_from_email"})
    );
    let mut bob = ann();
    bob["from_email"] = json!("bob@example.org");
    let bob = app.post(ALL, &bob, 201).await;
    let path = format!("{ALL}/{}", bob["id"]);
    app.patch(&path, &json!({"from_email": "ann@example.org"}), 400)
        .await;
    assert_eq!(app.mails().len(), 2, "a refused request sends no mail");
}

#[tokio::test]
async fn wrong_requests_name_every_problem() {
    let app = TestApp::new().await;
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
        let answer = app.post(ALL, &body, 400).await;
        let found: Vec<_> = answer["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["field"].clone())
            .collect();
        assert_eq!(found, fields, "{body}");
    }
    assert_eq!(app.get(ALL, 200).await, json!({"results": []}));
}

#[tokio::test]
async fn every_error_about_senders_has_an_id() {
    let app = TestApp::new().await;
    let id = |answer: &Value| answer["errors"][0]["error_id"].clone();
    let resend = format!("{ALL}/resend/7");
    assert_eq!(id(&app.post(&resend, &json!({}), 404).await), "not_found");
    assert_eq!(
        id(&app.get(&format!("{ALL}?limit=x"), 400).await),
        "invalid_limit"
    );
    // Of errors before the handler too.
    let none = app.api.get(ALL).send().await.expect(401).json();
    assert_eq!(id(&none), "unauthorized");
    let broken = app.api.post(ALL).key(&app.tenant.key).body("{");
    assert_eq!(id(&broken.send().await.expect(400).json()), "bad_request");
    let domains = app.get("/v3/whitelabel/domains?limit=x", 400).await;
    assert_eq!(domains["errors"][0].get("error_id"), None);
}

#[tokio::test]
async fn the_list_is_paged_by_the_last_id_seen() {
    let app = TestApp::new().await;
    for name in ["a", "b", "c"] {
        let mut body = ann();
        body["from_email"] = json!(format!("{name}@example.org"));
        app.post(ALL, &body, 201).await;
    }
    for (query, want) in [
        ("", &["a", "b", "c"][..]),
        ("?limit=2", &["a", "b"]),
        ("?limit=2&lastSeenID=2", &["c"]),
        ("?id=2", &["b"]),
        ("?id=9", &[]),
    ] {
        let answer = app.get(&format!("{ALL}{query}"), 200).await;
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
    app.get(&format!("{ALL}?id=x"), 400).await;
    let domains = app.get(&format!("{ALL}/domains"), 200).await;
    assert!(
        domains["results"]["hard_failures"]
            .as_array()
            .unwrap()
            .contains(&json!("yahoo.com"))
    );
}

#[tokio::test]
async fn markup_in_an_address_stays_text() {
    let app = TestApp::new().await;
    let mut body = ann();
    body["from_email"] = json!("\"<script>'&\"@example.org");
    app.post(ALL, &body, 201).await;
    let page = app.api.get(&app.link()).send().await.expect(200);
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(
        !html.contains("<script>")
            && html.contains("&#34;&#60;script&#62;&#39;&#38;&#34;@example.org")
    );
}

#[tokio::test]
async fn a_verified_sender_is_what_allows_its_address() {
    let app = TestApp::new().await;
    app.post(ALL, &ann(), 201).await;
    app.api.post(&app.link()).send().await.expect(200);
    let address = EmailAddress::parse("ann@example.org").unwrap();
    let standing = app
        .store
        .standing(&app.tenant.account.id, &address)
        .await
        .unwrap();
    assert!(matches!(standing, Some(SenderAuthority::Sender(sender)) if sender.id == 1));
}

/// Its parent still acts for it, and its own key opens nothing.
#[tokio::test]
async fn an_account_that_may_not_send_causes_no_system_mail() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let ask = async |method: Method, path: &str, body: &Value, own: bool| {
        let ask = app.api.ask(method, path).json(body);
        let ask = if own {
            ask.key(&sub.key)
        } else {
            ask.key(&app.tenant.key).as_if("sub")
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
    app.mails();
    let suspend = |account: &mut Account| account.status = AccountStatus::Suspended;
    let id = &sub.account.id;
    app.store.update_account(id, suspend).await.unwrap();
    app.hand.advance(10);

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
    assert!(app.mails().is_empty());
    let (_, all) = ask(Method::GET, ALL, &Value::Null, false).await;
    assert_eq!(all["results"], json!([sender]), "a refusal changes nothing");
    // Its parent may still make changes that send no mail.
    let nickname = json!({"nickname": "A"});
    let (status, _) = ask(Method::PATCH, &one, &nickname, false).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn the_letter_is_a_notice_of_the_service() {
    let app = TestApp::new().await;
    app.post(ALL, &ann(), 201).await;
    assert!(app.mails()[0].notice);
}

#[tokio::test]
async fn no_local_part_speaks_in_a_letter() {
    let app = TestApp::new().await;
    let mut body = ann();
    body["from_email"] = json!("\"see http://evil.com/x now\"@example.org");
    app.post(ALL, &body, 201).await;
    let mail = app.mails().remove(0);
    let text = &mail.content[0].value;
    assert!(
        !text.contains("evil") && !mail.subject.unwrap().contains("evil"),
        "{text}"
    );
}
