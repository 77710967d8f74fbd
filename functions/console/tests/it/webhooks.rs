//! Event webhooks: the list, one with its settings, its posts, and what it did not take.

use posthaste_model::{Event, EventKind, MessageId, Timestamp, WebhookId};
use posthaste_queue::{Retry, WebhookRetry};
use posthaste_store::{CopyState, WebhookPost};
use posthaste_testkit::entropy;
use serde_json::{Value, json};

use crate::TestApp;

const SETTINGS: &str = "/v3/user/webhooks/event/settings";

impl TestApp {
    async fn webhook(&self, body: &Value) -> WebhookId {
        let made = self.made(SETTINGS, body).await;
        WebhookId::parse(made["id"].as_str().unwrap()).unwrap()
    }

    /// Stores a post to a webhook, of one event of this mail.
    async fn post(&self, webhook: &WebhookId, status: Option<u16>, mail: &MessageId) {
        let account = self.tenant.account.id.clone();
        let id = Event::derived_id(mail, 0, EventKind::Delivered, 0);
        let to = "ann@example.com".to_owned();
        let now = self.hand.now();
        let mut event = Event::new(id, account.clone(), EventKind::Delivered, now, to);
        event.message = Some(mail.clone());
        let inside = WebhookRetry {
            retry: Retry {
                account: account.clone(),
                webhook: webhook.clone(),
                attempt: 0,
                not_before: Timestamp(0),
                last: String::new(),
            },
            events: vec![event],
        };
        let post = WebhookPost {
            account,
            webhook: webhook.clone(),
            at: now,
            attempt: 2,
            url: "https://hook.example/".to_owned(),
            accepted: status == Some(200),
            status,
            answer: "<b>what it said</b>".to_owned(),
            took_ms: status.map(|_| 7),
            signature: status.map(|_| "MEUC".to_owned()),
            message: inside.to_texts().unwrap().remove(0),
        };
        self.store.put_post(&post).await.unwrap();
        self.hand.advance(1);
    }
}

#[tokio::test]
async fn the_list_says_what_each_webhook_gets() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/webhooks", &session).await;
    assert!(page.contains("No webhook yet"), "{page}");
    assert!(
        page.contains("name=\"account_status_change\" data-as=\"flag\">"),
        "{page}"
    );
    let hook = |n: usize| json!({"url": format!("https://hook.example/{n}"), "delivered": true, "bounce": true});
    let first = app.webhook(&hook(0)).await;
    let page = app.page("/console/webhooks", &session).await;
    for words in [
        &format!(r#"href="/console/webhooks/{first}""#),
        "delivered, bounced",
        "1 of 5.",
        r#"<b class="pill warn">off</b>"#,
        "Create the webhook",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for n in 1..5 {
        app.webhook(&hook(n)).await;
    }
    let page = app.page("/console/webhooks", &session).await;
    assert!(page.contains("at most 5 webhooks"), "{page}");
    assert!(!page.contains("Create the webhook"), "{page}");
}

#[tokio::test]
async fn a_webhook_is_shown_with_its_posts_and_one_post_as_it_was_made() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let body = json!({"url": "https://hook.example/", "friendly_name": "<Shop>", "enabled": true, "open": true});
    let id = app.webhook(&body).await;
    let here = format!("/console/webhooks/{id}");
    let page = app.page(&here, &session).await;
    for words in [
        "No post is stored.",
        "Posts are not signed",
        "None: the receiver took all events",
        "&#60;Shop&#62;",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let (taken, failed) = (entropy().message_id(), entropy().message_id());
    app.post(&id, Some(200), &taken).await;
    app.post(&id, Some(503), &failed).await;
    app.post(&id, None, &failed).await;
    let page = app.page(&format!("{here}?status=failed"), &session).await;
    assert_eq!(page.matches(">1 event: delivered<").count(), 2, "{page}");
    assert!(
        page.contains(">503<") && page.contains(">no answer<"),
        "{page}"
    );
    let page = app.page(&format!("{here}?status=ok"), &session).await;
    let post = page.split("?post=").nth(1).unwrap();
    let post = post.split('"').next().unwrap();
    let page = app.page(&format!("{here}?post={post}"), &session).await;
    for words in [
        "&#60;b&#62;what it said&#60;/b&#62;",
        "X-Twilio-Email-Event-Webhook-Signature",
        "MEUC",
        &format!(r#"href="/console/activity/{taken}.posthaste-0.0.0""#),
        "Post again: delivered ann@example.com",
        "&#34;sg_event_id&#34;",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let page = app.page(&format!("{here}?post=nothing"), &session).await;
    assert!(page.contains("no such post"), "{page}");
    app.get("/console/webhooks/nothing", &session)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn a_mail_shows_the_posts_of_its_events_and_no_others() {
    let app = TestApp::new().await;
    let id = app.webhook(&json!({"url": "https://hook.example/"})).await;
    let mail = app.mail("ann@example.com", "Hello", CopyState::Delivered);
    let mail = mail.await;
    for status in [Some(503), None, Some(200)] {
        app.post(&id, status, &mail).await;
    }
    app.post(&id, Some(200), &entropy().message_id()).await;
    let path = format!("/console/activity/{mail}.posthaste-0.0.0");
    let page = app.page(&path, &app.by_link().await).await;
    let title = "Posted to a webhook: delivered";
    assert_eq!(page.matches(title).count(), 3, "{page}");
    for words in [
        "https://hook.example/ · answered 503 · 7 ms · attempt 2",
        "answered 200",
        "what it said",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("only the latest"), "{page}");
    for _ in 0..30 {
        app.post(&id, Some(503), &mail).await;
    }
    let page = app.page(&path, &app.by_link().await).await;
    assert_eq!(page.matches(title).count(), 30, "{page}");
    assert!(page.contains("only the latest"), "{page}");
    let key = app.tenant.restricted(&app.store, &["email_activity.read"]);
    let session = app.sign_in(&format!("key={}", key.await)).await;
    let page = app.page(&path, &session).await;
    assert!(!page.contains(title), "{page}");
}

#[tokio::test]
async fn the_log_has_pages() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let id = app.webhook(&json!({"url": "https://hook.example/"})).await;
    let here = format!("/console/webhooks/{id}");
    // The API names a next page where one is full.
    for (posts, shown, more) in [(24, 24, false), (2, 25, true)] {
        for _ in 0..posts {
            app.post(&id, Some(200), &entropy().message_id()).await;
        }
        let page = app.page(&here, &session).await;
        assert_eq!(page.matches("?post=").count(), shown, "{page}");
        assert_eq!(page.contains("rel=\"next\""), more, "{page}");
        if more {
            let next = page.split(r#"rel="next" href=""#).nth(1).unwrap();
            let next = next.split('#').next().unwrap().replace("&#38;", "&");
            let page = app.page(&next, &session).await;
            assert_eq!(page.matches("?post=").count(), 1, "{page}");
            assert!(page.contains("rel=\"first\""), "{page}");
        }
    }
}

#[tokio::test]
async fn a_signed_webhook_shows_its_key_and_a_reader_gets_no_forms() {
    let app = TestApp::new().await;
    let body = json!({"url": "https://hook.example/", "oauth_client_id": "client", "oauth_client_secret": "very secret",
        "oauth_token_url": "https://token.example/"});
    let id = app.webhook(&body).await;
    let path = format!("{SETTINGS}/signed/{id}");
    let ask = app.api.ask(axum::http::Method::PATCH, &path);
    let ask = ask.key(&app.tenant.key).json(&json!({"enabled": true}));
    let key = ask.send().await.expect(200).json();
    let here = format!("/console/webhooks/{id}");
    let page = app.page(&here, &app.by_link().await).await;
    let shown = key["public_key"].as_str().unwrap().replace('+', "&#43;");
    assert!(
        page.contains(&shown) || page.contains(key["public_key"].as_str().unwrap()),
        "{page}"
    );
    assert!(page.contains("convertPublicKeyToECDSA"), "{page}");
    assert!(page.contains("https://token.example/"), "{page}");
    assert!(!page.contains("very secret"), "{page}");
    let scopes = ["user.webhooks.event.settings.read"];
    let key = app.tenant.restricted(&app.store, &scopes).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page(&here, &session).await;
    for label in [
        ">Save<",
        "Post a test",
        "Post again",
        "Delete the",
        "Sign no more",
    ] {
        assert!(!page.contains(label), "{label}: {page}");
    }
    let key = app.tenant.restricted(&app.store, &["mail.send"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let list = app.page("/console/webhooks", &session).await;
    assert!(
        list.contains("lacks the scope user.webhooks.event.settings.read"),
        "{list}"
    );
    app.get(&here, &session).send().await.expect(403);
}
