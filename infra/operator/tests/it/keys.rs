use clap::Parser as _;
use posthaste_model::{AccountId, Event, EventKind, Timestamp, WebhookId};
use posthaste_queue::{Retry, WebhookRetry};
use posthaste_store::{ConsoleToken, DeadLetter, LINK_LIFE, Secret};

use crate::TestApp;

#[tokio::test]
async fn keys_of_every_kind_are_created_listed_and_revoked() {
    let app = TestApp::new().await;
    app.run("account create ann --no-key").await.unwrap();
    for (flags, kind, holds, lacks) in [
        ("", "full", "mail.send", "billing.read"),
        ("--billing", "billing", "billing.read", "mail.send"),
        (
            "--scopes mail.send,alerts.read",
            "restricted",
            "alerts.read",
            "alerts.create",
        ),
    ] {
        let made = app
            .run(&format!("key create ann --name {kind} {flags}"))
            .await
            .unwrap();
        let secret = Secret::parse(made.json["api_key"].as_str().unwrap()).unwrap();
        let key = app
            .tools
            .store
            .key_by_id(secret.id())
            .await
            .unwrap()
            .unwrap();
        assert!(key.holds(holds) && !key.holds(lacks), "{kind}");
        app.hand.advance(1);
    }
    let list = app.run("key list ann").await.unwrap();
    let kinds: Vec<_> = list
        .json
        .as_array()
        .unwrap()
        .iter()
        .map(|k| &k["kind"])
        .collect();
    assert_eq!(kinds, ["full", "billing", "restricted"]);
    let id = list.json[0]["api_key_id"].as_str().unwrap();
    assert_eq!(app.exit_code(&format!("key revoke ann {id}")).await, 0);
    assert_eq!(app.exit_code(&format!("key revoke ann {id}")).await, 3);
    assert_eq!(app.exit_code("key revoke ann x").await, 3);
    for bad in ["nonsense", "billing.read", "validations.email.create"] {
        let words = format!("key create ann --scopes {bad}");
        assert_eq!(app.exit_code(&words).await, 2, "{bad}");
    }
    let words = "posthaste key create ann --scopes mail.send,";
    assert!(crate::Line::try_parse_from(words.split(' ')).is_err());
    for _ in 0..98 {
        app.run("key create ann").await.unwrap();
    }
    assert_eq!(app.exit_code("key create ann").await, 4);
}

/// One event that nobody took, which happened `i` seconds after second 1000.
fn letter(account: &AccountId, webhook: &WebhookId, i: u8, died_at: Timestamp) -> DeadLetter {
    let happened = Timestamp(1_000 + i64::from(i));
    let event = Event::new(
        format!("e{i}"),
        account.clone(),
        EventKind::Open,
        happened,
        "a@example.com".to_owned(),
    );
    let undelivered = WebhookRetry {
        retry: Retry {
            account: account.clone(),
            webhook: webhook.clone(),
            attempt: 9,
            not_before: happened,
            last: "500".to_owned(),
        },
        events: vec![event],
    };
    let mut texts = undelivered.to_texts().expect("an event has a form");
    DeadLetter {
        account: account.clone(),
        webhook: webhook.clone(),
        first: happened,
        last: happened,
        events: 1,
        died_at,
        attempts: 9,
        reason: "500".to_owned(),
        message: texts.remove(0),
    }
}

#[tokio::test]
async fn dead_letters_are_listed_and_replayed_once() {
    let app = TestApp::new().await;
    let ann = app.run("account create ann --no-key").await.unwrap().json;
    let account = AccountId::parse(ann["id"].as_str().unwrap()).unwrap();
    let hooks = [
        WebhookId::from_bytes([1; 16]),
        WebhookId::from_bytes([2; 16]),
    ];
    for i in 0..150_u8 {
        let letter = letter(&account, &hooks[usize::from(i % 2)], i, app.hand.now());
        let expires = app.hand.now().plus(1_000);
        app.tools
            .store
            .put_dead_letter(&letter, expires)
            .await
            .unwrap();
    }
    let count = async |words: &str| {
        let list = app
            .run(&format!("dead-letters list ann {words}"))
            .await
            .unwrap();
        list.json.as_array().unwrap().len()
    };
    assert_eq!(count("").await, 150);
    assert_eq!(count(&format!("--webhook {}", hooks[0])).await, 75);
    assert_eq!(count("--since 1010 --until 1019").await, 10);

    let done = app
        .run("dead-letters replay ann --until 1099")
        .await
        .unwrap();
    assert_eq!(done.json["events"], 100);
    assert_eq!(app.queues.drain("retries").len(), 100);
    assert_eq!(count("").await, 50);
    app.run("dead-letters replay ann").await.unwrap();
    let sent = app.queues.drain("retries");
    let retries: Vec<_> = sent
        .iter()
        .map(|sent| WebhookRetry::from_text(&sent.0).unwrap().retry)
        .collect();
    assert!(
        retries
            .iter()
            .all(|r| r.attempt == 0 && r.not_before == app.hand.now())
    );
    assert_eq!((retries.len(), count("").await), (50, 0));
    let mut tools = app.tools.clone();
    tools.retries = None;
    let app = TestApp { tools, ..app };
    assert_eq!(app.exit_code("dead-letters replay ann").await, 4);
}

#[tokio::test]
async fn a_link_of_the_console_opens_a_session_of_its_account_for_a_quarter_of_an_hour() {
    let app = TestApp::new().await;
    app.run("account create ann --no-key").await.unwrap();
    assert_eq!(app.exit_code("console link ann").await, 2, "no address");
    let wrong = app.exit_code("console link ann --url post.example");
    assert_eq!(wrong.await, 2, "no scheme");
    let none = app.exit_code("console link bob --url https://post.example");
    assert_eq!(none.await, 3);
    let made = app.run("console link ann --url https://post.example/");
    let made = made.await.unwrap();
    let url = made.json["url"].as_str().unwrap();
    assert!(made.text.ends_with(url), "{}", made.text);
    let token = url.strip_prefix("https://post.example/console/sign-in?token=");
    let token = ConsoleToken::parse(token.unwrap()).unwrap();
    assert_eq!(token.account().to_string(), made.json["account"]);
    let opens = || app.tools.store.is_sign_in_link(&token, app.hand.now());
    assert_eq!(opens().await, Ok(true));
    app.hand.advance(LINK_LIFE);
    assert_eq!(opens().await, Ok(false));
}
