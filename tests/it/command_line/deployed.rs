//! The operator's commands on a deployed stack: the table, the queues and the bus that flags or the
//! environment name, reached by the real SDK.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::process::Output;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::post;
use posthaste_model::Timestamp;
use posthaste_store::{Allow, DeadLetter, DeadLetterFilter, Store};
use posthaste_testkit::{TABLE, Tenant, dynamodb, entropy};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::running::Running;
use crate::gateway::sqs::Sqs;

/// A stack with one account, `ann`, and nothing named in the environment but where AWS is.
struct Stack {
    store: Store,
    tenant: Tenant,
    queues: Sqs,
    bus: Bus,
    dynamodb: String,
}

impl Stack {
    async fn open() -> Self {
        let config = dynamodb().await;
        let store = Store::open(&config, TABLE);
        store.create_table().await.unwrap();
        Self {
            tenant: Tenant::new(&store, "ann", Timestamp(0)).await,
            dynamodb: config.endpoint_url().unwrap().to_owned(),
            queues: Sqs::start().await,
            bus: Bus::start().await,
            store,
        }
    }

    /// `posthaste WORDS --aws`, with these variables.
    fn run(&self, words: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = super::command();
        let (queues, bus) = (self.queues.endpoint(), self.bus.endpoint.as_str());
        command.args(words.split(' ')).args(["--aws", "--json"]);
        command.env_clear().envs([
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.as_str()),
            ("AWS_ENDPOINT_URL_SQS", queues.as_str()),
            ("AWS_ENDPOINT_URL_EVENTBRIDGE", bus),
        ]);
        command.envs(variables.iter().copied());
        tokio::task::block_in_place(|| command.output().unwrap())
    }

    /// The same on this stack's table, which must succeed; its JSON.
    fn done(&self, words: &str, variables: &[(&str, &str)]) -> Value {
        let out = self.run(&format!("{words} --table {TABLE}"), variables);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{words}: {said}");
        serde_json::from_slice(&out.stdout).unwrap()
    }
}

/// An EventBridge that takes every entry and keeps it.
struct Bus {
    endpoint: String,
    entries: Arc<Mutex<Vec<Value>>>,
}

impl Bus {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let entries = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&entries);
        let take = move |body: String| {
            let ask: Value = serde_json::from_str(&body).unwrap();
            let new = ask["Entries"].as_array().unwrap().clone();
            let ids: Vec<_> = new.iter().map(|_| json!({"EventId": "1"})).collect();
            kept.lock().unwrap().extend(new);
            let answer = json!({"FailedEntryCount": 0, "Entries": ids}).to_string();
            async move { ([("content-type", "application/x-amz-json-1.1")], answer) }
        };
        let router = Router::new().route("/", post(take));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { endpoint, entries }
    }

    fn drain(&self) -> Vec<Value> {
        std::mem::take(&mut self.entries.lock().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_is_told_where_the_flags_or_the_environment_say() {
    let stack = Stack::open().await;
    let events = stack.queues.url("events");
    let bus_and_queue = format!("--bus notices --events-queue {events}");
    let variables = [
        ("EVENTS_QUEUE_URL", events.as_str()),
        ("BUS_NAME", "notices"),
    ];
    for (words, variables, kind) in [
        (
            format!("account suspend ann {bus_and_queue}"),
            &[][..],
            "compliance_suspend",
        ),
        (
            "account resume ann".to_owned(),
            &variables[..],
            "account_reinstated",
        ),
    ] {
        let done = stack.done(&words, variables);
        assert_eq!(done["suspended"], kind == "compliance_suspend");
        let told = stack.queues.drain("events");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(kind), "{told:?}");
        let notices = stack.bus.drain();
        assert_eq!(notices.len(), 1, "{notices:?}");
        let notice = &notices[0];
        assert_eq!(
            (&notice["EventBusName"], &notice["DetailType"]),
            (&json!("notices"), &json!("Account Status Change"))
        );
        let detail: Value = serde_json::from_str(notice["Detail"].as_str().unwrap()).unwrap();
        assert_eq!(detail["type"], kind);
        assert_eq!(detail["account"], stack.tenant.account.id.as_str());
        assert!(told[0].contains(detail["id"].as_str().unwrap()));
    }

    // With nothing named the account is suspended all the same, and a repeat tells it.
    stack.done("account suspend ann", &[]);
    assert!(stack.queues.drain("events").is_empty());
    stack.done("account suspend ann", &variables);
    assert_eq!(stack.queues.drain("events").len(), 1);

    // A queue that is down is told by the exit code.
    stack.queues.set_broken(true);
    let words = format!("account resume ann --table {TABLE} --events-queue {events}");
    let out = stack.run(&words, &[]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("run it again"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_is_named_by_a_flag_or_by_the_environment() {
    let stack = Stack::open().await;
    let by_flag = stack.done("account list", &[]);
    assert_eq!(by_flag[0]["username"], "ann");
    // The flag wins over the environment.
    stack.done("account list", &[("TABLE_NAME", "another")]);
    let out = stack.run("account list", &[("TABLE_NAME", TABLE)]);
    let by_variable: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(by_variable, by_flag);
    for (variables, code, word) in [
        (&[][..], 2, "--table"),
        (&[("TABLE_NAME", "a b")], 2, "--table"),
        (
            &[("TABLE_NAME", TABLE), ("AWS_REGION", "")],
            2,
            "AWS_REGION",
        ),
        (
            &[("TABLE_NAME", "another")],
            1,
            "there is no table another in this account and region: name it with --table",
        ),
        (
            &[
                ("TABLE_NAME", TABLE),
                ("AWS_ACCESS_KEY_ID", ""),
                ("AWS_SECRET_ACCESS_KEY", ""),
                ("HOME", "/nowhere"),
            ],
            1,
            "set AWS_PROFILE, or AWS_ACCESS_KEY_ID",
        ),
        (
            &[
                ("TABLE_NAME", TABLE),
                ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1"),
            ],
            1,
            "the table cannot be reached",
        ),
    ] {
        let out = stack.run("account list", variables);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        // Nothing of the SDK's own form.
        assert!(said.contains(word) && !said.contains(" { "), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_webhook_did_not_take_is_put_on_its_way_again() {
    let stack = Stack::open().await;
    let (account, webhook) = (&stack.tenant.account.id, entropy().webhook_id());
    let message = json!({
        "v": 1,
        "retry": {"account": account, "webhook": webhook, "attempt": 9, "not_before": 1},
        "undelivered": {"plain": [
            {"id": "event-1", "account": account, "kind": "delivered", "at": 1,
                "email": "bob@example.net"},
        ]},
    });
    let letter = DeadLetter {
        account: account.clone(),
        webhook,
        first: Timestamp(1),
        last: Timestamp(1),
        events: 1,
        died_at: Timestamp(2),
        attempts: 9,
        reason: "500".into(),
        message: message.to_string(),
    };
    let kept = Timestamp(9_999_999_999);
    stack.store.put_dead_letter(&letter, kept).await.unwrap();
    let out = stack.run(&format!("dead-letters replay ann --table {TABLE}"), &[]);
    assert_eq!(out.status.code(), Some(4), "no queue is named");

    let url = stack.queues.url("retries");
    let done = stack.done(
        &format!("dead-letters replay ann --retries-queue {url}"),
        &[],
    );
    assert_eq!((&done["letters"], &done["events"]), (&json!(1), &json!(1)));
    let sent = stack.queues.drain("retries");
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains("event-1"), "{sent:?}");
    let wanted = DeadLetterFilter {
        limit: 10,
        ..DeadLetterFilter::default()
    };
    let left = stack.store.dead_letters(account, &wanted).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
    let again = stack.done("dead-letters replay ann", &[("RETRIES_QUEUE_URL", &url)]);
    assert_eq!(again["letters"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_erased_and_an_owner_let_in_again() {
    let stack = Stack::open().await;
    let words = "account erase ann bob@example.net";
    let out = stack.run(&format!("{words} --table {TABLE}"), &[]);
    assert_eq!(out.status.code(), Some(4), "no bucket is named");
    let done = stack.done(&format!("{words} --bucket bodies"), &[]);
    assert_eq!(
        (&done["erased"], &done["under_way"]),
        (&json!(0), &json!(0))
    );
    stack.done(words, &[("BUCKET_NAME", "bodies")]);

    let account = &stack.tenant.account.id;
    let nets = ["192.0.2.0/24".parse().unwrap()];
    let allowed = stack.store.allow_ips(account, &nets, Timestamp(0)).await;
    assert!(matches!(allowed, Ok(Allow::Added(_))), "{allowed:?}");
    assert_eq!(stack.done("access recover ann", &[])["removed"], 1);
    assert_eq!(stack.store.allowed_ips(account).await, Ok(vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_a_stack_is_whether_its_table_is_readable() {
    let stack = Stack::open().await;
    // Nothing listens where this was.
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    for (dynamodb, code, word) in [(&stack.dynamodb, 0, "ok"), (&nowhere, 1, "unavailable")] {
        let mut command = super::command();
        command.env_clear().envs([
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.as_str()),
            ("TABLE_NAME", TABLE),
            ("BUCKET_NAME", "bodies"),
            ("BOUNCE_DOMAIN", "bounce.example"),
            ("PUBLIC_URL", "https://post.example"),
        ]);
        command.env("STACK_SECRET", format!("1:{}", "A".repeat(43)));
        for queue in ["SEND", "RETRIES", "EVENTS", "INBOUND"] {
            let url = stack.queues.url(&queue.to_lowercase());
            command.env(format!("{queue}_QUEUE_URL"), url);
        }
        command.args(["--aws", "--port", "0", "--submission-port", "0"]);
        let host = tokio::task::block_in_place(|| Running::of(&mut command));
        let (_, port) = host.text("api").rsplit_once(':').unwrap();
        let checked = tokio::task::block_in_place(|| super::posthaste(&["health", "--port", port]));
        assert_eq!(checked.status.code(), Some(code), "{checked:?}");
        let said = if code == 0 {
            checked.stdout
        } else {
            checked.stderr
        };
        let said = String::from_utf8(said).unwrap();
        let (_, body) = said.split_at(said.find('{').unwrap());
        let body: Value = serde_json::from_str(body).unwrap();
        let want = json!({
            "status": word, "version": env!("CARGO_PKG_VERSION"), "checks": {"table": word},
        });
        assert_eq!(body, want);
        tokio::task::block_in_place(|| host.stop());
    }
}
