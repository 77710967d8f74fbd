use posthaste_model::{AccountId, EventKind};
use posthaste_queue::EventBatch;
use posthaste_store::{Account, AccountStatus, Secret};
use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn an_account_is_created_with_a_key_that_opens() {
    let app = TestApp::new().await;
    let made = app
        .run("account create ann --email ann@example.com --region eu")
        .await
        .unwrap();
    let secret = made.json["api_key"].as_str().unwrap();
    assert!(
        made.text.ends_with(&format!("shown this once:\n{secret}")),
        "{}",
        made.text
    );
    let secret = Secret::parse(secret).unwrap();
    let key = app
        .tools
        .store
        .key_by_id(secret.id())
        .await
        .unwrap()
        .unwrap();
    assert!(key.is_opened_by(&secret) && key.holds("mail.send") && !key.holds("billing.read"));
    assert_eq!(made.json["region"], "eu");
    let bare = app.run("account create bob --no-key").await.unwrap();
    assert_eq!(bare.json.get("api_key"), None);
}

#[tokio::test]
async fn accounts_are_listed_and_found_by_id_or_name() {
    let app = TestApp::new().await;
    let ann = app.run("account create ann --no-key").await.unwrap().json;
    app.hand.advance(1);
    app.run("account create sub --no-key --subuser-of ann")
        .await
        .unwrap();
    app.hand.advance(1);
    app.run("account create shop --no-key --customer-of ann")
        .await
        .unwrap();

    let list = app.run("account list").await.unwrap();
    let names: Vec<_> = list
        .json
        .as_array()
        .unwrap()
        .iter()
        .map(|a| &a["username"])
        .collect();
    assert_eq!(names, ["ann", "sub", "shop"]);
    assert_eq!(list.text.lines().count(), 4, "{}", list.text);
    assert!(list.text.starts_with("ID"), "{}", list.text);

    let id = ann["id"].as_str().unwrap();
    for named in ["ann", id] {
        let show = app.run(&format!("account show {named}")).await.unwrap();
        assert_eq!(show.json, ann);
    }
    let sub = app.run("account show sub").await.unwrap();
    assert!(sub.text.contains("kind        subuser"), "{}", sub.text);
    assert_eq!(
        (&sub.json["parent"], &sub.json["customer"]),
        (&ann["id"], &json!(false))
    );
    let shop = app.run("account show shop").await.unwrap().json;
    assert_eq!(
        (&shop["parent"], &shop["customer"]),
        (&ann["id"], &json!(true))
    );
    // A name that two have is not guessed at.
    app.run("account create ann --no-key --subuser-of ann")
        .await
        .unwrap();
    assert_eq!(app.exit_code("account show ann").await, 4);
}

#[tokio::test]
async fn what_cannot_be_created_is_refused() {
    let app = TestApp::new().await;
    app.run("account create ann --no-key").await.unwrap();
    app.run("account create sub --no-key --subuser-of ann")
        .await
        .unwrap();
    for (words, code) in [
        ("account create SUB --no-key --subuser-of ann", 4),
        ("account create x --no-key --subuser-of nobody", 3),
        ("account create sub --no-key --customer-of ann", 4),
        ("account create ann --no-key", 4),
        ("account create ANN --no-key", 4),
        ("account create a/b --no-key", 2),
        ("account create ä --no-key", 2),
        ("account create . --no-key", 2),
        ("account create .. --no-key", 2),
        ("account create Stats --no-key --subuser-of ann", 2),
        ("account create x --email y --no-key", 2),
        ("account show nobody", 3),
        ("account suspend nobody", 3),
        ("account suspend aaaaaaaaaa", 3),
        ("key list nobody", 3),
        ("access recover nobody", 3),
        ("credits show nobody", 3),
        ("dead-letters list nobody", 3),
    ] {
        assert_eq!(app.exit_code(words).await, code, "{words}");
    }
    assert_eq!(app.tools.store.accounts().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_name_that_is_taken_is_shown_when_that_is_asked_for() {
    let app = TestApp::new().await;
    let first = app.run("account create ann --if-absent").await.unwrap();
    assert!(first.json["api_key"].is_string(), "{}", first.json);
    let refused = app.run("account create ann").await.unwrap_err();
    assert!(refused.to_string().contains("--if-absent"), "{refused}");
    let ann = app.run("account show ann").await.unwrap().json;
    let again = app.run("account create ann --if-absent").await.unwrap();
    assert_eq!(again.json, ann);
    assert!(again.text.contains(" exists;"), "{}", again.text);
    let keys = app.run("key list ann").await.unwrap().json;
    assert_eq!(keys.as_array().unwrap().len(), 1);
    assert_eq!(app.tools.store.accounts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_suspension_and_its_end_are_told_to_webhooks_once() {
    let app = TestApp::new().await;
    let ann = app.run("account create ann --no-key").await.unwrap().json;
    let id = AccountId::parse(ann["id"].as_str().unwrap()).unwrap();
    let status = async || app.tools.store.account(&id).await.unwrap().unwrap().status;
    for (word, want, kind) in [
        ("suspend", AccountStatus::Suspended, "compliance_suspend"),
        ("resume", AccountStatus::Active, "account_reinstated"),
    ] {
        let report = app.run(&format!("account {word} ann")).await.unwrap();
        assert!(
            report.text.contains("its webhooks are notified"),
            "{}",
            report.text
        );
        assert_eq!(status().await, want);
        let again = app.run(&format!("account {word} ann")).await.unwrap();
        assert!(again.text.contains("already"), "{}", again.text);
        let sent = app.queues.drain("events");
        let events: Vec<_> = sent
            .iter()
            .flat_map(|sent| EventBatch::from_text(&sent.0).unwrap().events)
            .collect();
        assert_eq!(events.len(), 1, "{events:?}");
        let event = &events[0];
        assert_eq!(
            (event.kind, &event.account),
            (EventKind::AccountStatusChange, &id)
        );
        assert_eq!(
            (event.reason.as_deref(), event.at),
            (Some(kind), app.hand.now())
        );
        assert!(event.id.len() <= 100, "{}", event.id);
        app.hand.advance(1);
    }
}

#[tokio::test]
async fn neither_the_operator_nor_a_parent_undoes_what_the_other_decided() {
    let app = TestApp::new().await;
    let ann = app.run("account create ann --no-key").await.unwrap().json;
    let id = AccountId::parse(ann["id"].as_str().unwrap()).unwrap();
    let status = async || app.tools.store.account(&id).await.unwrap().unwrap().status;
    let disable = |account: &mut Account| account.status = account.status.disabled(true);
    app.tools.store.update_account(&id, disable).await.unwrap();
    assert_eq!(app.exit_code("account resume ann").await, 4);

    let both = app.run("account suspend ann").await.unwrap();
    assert_eq!(status().await, AccountStatus::DisabledAndSuspended);
    let facts = (&both.json["disabled"], &both.json["suspended"]);
    assert_eq!(facts, (&json!(true), &json!(true)));
    let resumed = app.run("account resume ann").await.unwrap();
    assert_eq!(status().await, AccountStatus::Disabled);
    let kept = "its parent keeps it disabled";
    assert!(resumed.text.ends_with(kept), "{}", resumed.text);
    assert_eq!(app.exit_code("account resume ann").await, 4);
}

#[tokio::test]
async fn what_was_not_told_is_told_by_a_repeat_under_the_same_id() {
    let mut app = TestApp::new().await;
    app.run("account create ann --no-key").await.unwrap();
    let told = |app: &TestApp| {
        let sent = app.queues.drain("events").into_iter();
        let events = sent.flat_map(|(text, _)| EventBatch::from_text(&text).unwrap().events);
        events.map(|event| (event.id, event.at)).collect::<Vec<_>>()
    };
    let at = app.hand.now();
    app.queues.set_broken(true);
    let failed = app.run("account suspend ann").await.unwrap_err();
    assert_eq!(failed.exit_code(), 1);
    assert!(failed.to_string().contains("run it again"), "{failed}");
    let ann = app.run("account show ann").await.unwrap();
    assert_eq!(ann.json["status"], "suspended");
    app.hand.advance(60);
    assert_eq!(app.exit_code("account suspend ann").await, 1);
    app.queues.set_broken(false);
    app.run("account suspend ann").await.unwrap();
    let first = told(&app);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0].1, at, "it happened when it was said first");
    app.run("account suspend ann").await.unwrap();
    assert_eq!(told(&app), []);

    // Another suspension, within the same second, is another event.
    app.run("account resume ann").await.unwrap();
    app.run("account suspend ann").await.unwrap();
    let ids: Vec<_> = told(&app).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 2);
    assert!(!ids.contains(&first[0].0), "{ids:?}");

    // Without a queue no webhook is notified, until one is named.
    let queue = app.tools.events.take();
    let quiet = app.run("account resume ann").await.unwrap();
    assert!(quiet.text.contains("no events queue"), "{}", quiet.text);
    app.tools.events = queue;
    let again = app.run("account resume ann").await.unwrap();
    assert!(again.text.contains("are notified"), "{}", again.text);
    assert_eq!(told(&app).len(), 1);
}

#[tokio::test]
async fn a_locked_out_owner_is_let_in_again() {
    let app = TestApp::new().await;
    let ann = app.run("account create ann --no-key").await.unwrap().json;
    let id = AccountId::parse(ann["id"].as_str().unwrap()).unwrap();
    let open = app.run("access show ann").await.unwrap();
    assert!(
        open.text.ends_with("is open to every address"),
        "{}",
        open.text
    );
    let nets = [
        "192.0.2.0/24".parse().unwrap(),
        "10.0.0.1/32".parse().unwrap(),
    ];
    let _added = app
        .tools
        .store
        .allow_ips(&id, &nets, app.hand.now())
        .await
        .unwrap();
    let shown = app.run("access show ann").await.unwrap();
    assert_eq!(shown.json[0]["ip"], "192.0.2.0/24");
    let done = app.run("access recover ann").await.unwrap();
    assert_eq!(done.json["removed"], 2);
    assert_eq!(app.tools.store.allowed_ips(&id).await, Ok(vec![]));
    assert_eq!(
        app.run("access recover ann").await.unwrap().json["removed"],
        0
    );
}

#[tokio::test]
async fn gzip_and_allowances_are_the_operators_switches() {
    let app = TestApp::new().await;
    app.run("account create ann --no-key").await.unwrap();
    let off = app.run("account gzip ann off").await.unwrap();
    assert_eq!(off.json["gzip"], false);
    assert_eq!(
        app.run("account gzip ann on").await.unwrap().json["gzip"],
        true
    );

    let free = app.run("credits show ann").await.unwrap();
    assert_eq!(free.json["credits"], json!(null));
    let set = app.run("credits set ann 500 --every month").await.unwrap();
    assert_eq!(set.json["credits"]["remain"], 500);
    assert_eq!(set.json["credits"]["frequency"], "monthly");
    assert!(
        set.text.contains("may send 500 more of 500 mails"),
        "{}",
        set.text
    );
    assert_eq!(
        app.run("account show ann").await.unwrap().json["metered"],
        true
    );
    let free = app.run("credits unlimited ann").await.unwrap();
    assert!(free.text.ends_with("as much as it likes"), "{}", free.text);
}

#[tokio::test]
async fn an_address_is_forgotten() {
    use posthaste_store::{AttemptOutcome, Claimant, CopyState, Described, Mark, SuppressionList};
    let app = TestApp::new().await;
    app.run("account create ann --no-key").await.unwrap();
    let account = app.tools.store.accounts().await.unwrap().remove(0).id;
    let (store, now) = (&app.tools.store, app.hand.now());
    let who = Claimant {
        owner: "test",
        single_process: true,
        now,
        lease: 60,
        retention: 86_400,
    };
    let what = Described {
        email: "bob@example.com",
        from: "me@example.com",
        subject: "Hello",
        accepted_at: now,
    };
    let message = posthaste_testkit::entropy().message_id();
    let copy = (&account, &message, 0);
    let _ = store.claim(copy, 0, who, &what).await.unwrap();
    let told = app.run("account erase ann bob@example.com").await.unwrap();
    assert!(told.print(false).contains("under way"));
    let outcome = AttemptOutcome {
        state: CopyState::Delivered,
        now,
        events: &[],
    };
    store.record(copy, 0, &outcome).await.unwrap();
    let bob = ["bob@example.com".to_owned()];
    let mark = Mark::at(now);
    let put = store.suppress_all(&account, &bob, SuppressionList::Bounces, &mark);
    put.await.unwrap();

    let told = app.run("account erase ann Bob@Example.com").await.unwrap();
    let json: serde_json::Value = serde_json::from_str(&told.print(true)).unwrap();
    assert_eq!(
        (&json["erased"], &json["under_way"]),
        (&1.into(), &0.into())
    );
    assert!(
        store
            .recipient(&account, &message, 0)
            .await
            .unwrap()
            .is_none()
    );
    let lists = store.suppressed(&account, &bob[0]).await.unwrap();
    assert_eq!(lists.count(), 1);
    app.run("account erase ann bob@example.com --suppressions")
        .await
        .unwrap();
    let lists = store.suppressed(&account, &bob[0]).await.unwrap();
    assert_eq!(lists.count(), 0);

    assert_eq!(app.exit_code("account erase ann nonsense").await, 2);
    assert_eq!(
        app.exit_code("account erase nobody bob@example.com").await,
        3
    );
}
