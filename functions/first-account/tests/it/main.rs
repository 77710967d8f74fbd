//! The custom resource of a stack's first account, against what CloudFormation's guide says of requests and answers.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::put;
use first_account::{App, handle};
use posthaste_secrets::{SecretWrite, Secrets};
use posthaste_store::{
    Account, ConsoleSession, ConsoleToken, OWNER_LINK_LIFE, Secret, SessionOrigin,
};
use posthaste_testkit::{Services, entropy};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const ARN: &str = "arn:aws:secretsmanager:us-east-1:000000000000:secret:OwnerKey-Ab3d9f";
const REQUEST: &str = "c3f0cb1f-9b6a-4a0e-bb0f-d3b1c0f6a111";

/// Answers that were put, with their content type.
type Answers = Arc<Mutex<Vec<(Option<String>, Value)>>>;

struct Stack {
    app: App,
    answers: Answers,
    url: String,
}

impl Stack {
    async fn start() -> Self {
        let answers = Answers::default();
        let keep = |State(answers): State<Answers>, headers: HeaderMap, body: String| async move {
            let kind = headers.get("content-type");
            let kind = kind.map(|kind| kind.to_str().unwrap().to_owned());
            let answer = serde_json::from_str(&body).unwrap();
            answers.lock().unwrap().push((kind, answer));
            StatusCode::OK
        };
        let routes = Router::new().route("/answer", put(keep));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/answer?signed=1", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, routes.with_state(Arc::clone(&answers))).into_future());
        let services = Services::start()
            .await
            .var("OWNER_SECRET_ARN", ARN)
            .part(Secrets::in_memory());
        Self {
            app: services.open(App::from_env),
            answers,
            url,
        }
    }

    fn request(&self, kind: &str, username: &str) -> Value {
        json!({
            "RequestType": kind,
            "ServiceToken": "arn:aws:lambda:us-east-1:000000000000:function:first-account",
            "ResponseURL": self.url,
            "StackId": "arn:aws:cloudformation:us-east-1:000000000000:stack/posthaste/guid",
            "RequestId": REQUEST,
            "LogicalResourceId": "FirstAccount",
            "ResourceType": "Custom::FirstAccount",
            "ResourceProperties": {"ServiceToken": "…", "ServiceTimeout": "120", "Username": username,
                "BaseUrl": "https://post.example"},
        })
    }

    /// The answer to a request.
    async fn asked(&self, request: Value) -> Value {
        let before = self.answers.lock().unwrap().len();
        handle(&self.app, serde_json::from_value(request).unwrap())
            .await
            .unwrap();
        let answers = self.answers.lock().unwrap();
        assert_eq!(answers.len(), before + 1, "one answer");
        let (kind, answer) = answers.last().unwrap();
        // The URL is signed for an upload without one.
        assert_eq!(*kind, None);
        assert_eq!(answer["RequestId"], REQUEST);
        assert_eq!(answer["LogicalResourceId"], "FirstAccount");
        assert!(answer["StackId"].as_str().unwrap().contains("/posthaste/"));
        answer.clone()
    }

    async fn accounts(&self) -> Vec<Account> {
        self.app.store.accounts().await.unwrap()
    }

    async fn secret(&self) -> Option<String> {
        self.app.secrets.read(ARN, None).await.unwrap()
    }

    /// The key and the token of the link in the secret.
    async fn owner(&self) -> (Secret, ConsoleToken) {
        let text = self.secret().await.expect("a secret");
        let held: Value = serde_json::from_str(&text).unwrap();
        let link = held["console_link"].as_str().unwrap();
        let begin = "https://post.example/console/sign-in?token=";
        let token = link.strip_prefix(begin).expect("a link");
        let key = held["api_key"].as_str().unwrap();
        (
            Secret::parse(key).expect("an API key"),
            ConsoleToken::parse(token).expect("a token"),
        )
    }
}

#[tokio::test]
async fn the_account_is_created_once_and_its_key_is_in_the_secret_alone() {
    let stack = Stack::start().await;
    let answer = stack.asked(stack.request("Create", "owner")).await;
    assert_eq!(answer["Status"], "SUCCESS");
    let [account] = &stack.accounts().await[..] else {
        panic!("one account");
    };
    assert_eq!(account.username, "owner");
    let text = stack.secret().await.expect("a key");
    let (secret, _) = stack.owner().await;
    let keys = stack.app.store.keys(&account.id).await.unwrap();
    assert!(keys.len() == 1 && keys[0].is_opened_by(&secret));
    assert!(!answer.to_string().contains(&secret.expose()[4..]));

    // CloudFormation's calls may come twice, and later ones change nothing.
    let id = answer["PhysicalResourceId"].clone();
    for (kind, name) in [
        ("Create", "owner"),
        ("Update", "other"),
        ("Delete", "other"),
    ] {
        let mut request = stack.request(kind, name);
        request["PhysicalResourceId"] = id.clone();
        let answer = stack.asked(request).await;
        assert_eq!(answer["Status"], "SUCCESS", "{kind}");
        assert_eq!(answer["PhysicalResourceId"], id, "{kind}");
        assert_eq!(stack.accounts().await.len(), 1, "{kind}");
        assert_eq!(stack.secret().await.as_ref(), Some(&text), "{kind}");
    }
}

#[tokio::test]
async fn the_link_opens_one_session_within_a_day() {
    let stack = Stack::start().await;
    stack.asked(stack.request("Create", "owner")).await;
    let account = &stack.accounts().await[0];
    let (secret, link) = stack.owner().await;
    assert_eq!(link.account(), &account.id);
    let (store, made) = (&stack.app.store, stack.app.clock.now());
    let opens = |at| store.is_sign_in_link(&link, made.plus(at));
    assert_eq!(opens(OWNER_LINK_LIFE).await, Ok(false));
    assert_eq!(opens(OWNER_LINK_LIFE - 1).await, Ok(true));
    let token = ConsoleToken::generate(&account.id, &entropy());
    let from = SessionOrigin {
        agent: String::new(),
        ip: None,
    };
    let session = ConsoleSession::new(&token, None, &from, made);
    assert_eq!(store.redeem_link(&link, &session).await, Ok(true));
    assert_eq!(opens(0).await, Ok(false));

    // A repeated call makes no other link, and neither part of the secret is in an answer.
    let answer = stack.asked(stack.request("Create", "owner")).await;
    assert_eq!(opens(0).await, Ok(false));
    let answer = answer.to_string();
    for text in [secret.expose(), link.expose()] {
        assert!(!answer.contains(&text[text.len() - 20..]));
    }
}

#[tokio::test]
async fn a_crash_after_the_secret_leaves_a_link_that_the_next_call_makes_good() {
    let stack = Stack::start().await;
    stack.asked(stack.request("Create", "owner")).await;
    let text = stack.secret().await.unwrap();
    // The same secret beside an empty table.
    let other = Stack::start().await;
    let written = other.app.secrets.write(ARN, REQUEST, &text).await;
    assert_eq!(written, Ok(SecretWrite::Done));
    other.asked(other.request("Create", "owner")).await;
    let (_, link) = other.owner().await;
    assert_eq!(other.accounts().await[0].id, *link.account());
    let now = other.app.clock.now();
    assert_eq!(other.app.store.is_sign_in_link(&link, now).await, Ok(true));
}

#[tokio::test]
async fn a_call_that_ended_between_secret_and_table_is_finished_by_the_next() {
    let stack = Stack::start().await;
    let secret = Secret::generate(&entropy());
    let written = stack.app.secrets.write(ARN, REQUEST, secret.expose()).await;
    assert_eq!(written, Ok(SecretWrite::Done));
    let answer = stack.asked(stack.request("Create", "owner")).await;
    assert_eq!(answer["Status"], "SUCCESS");
    let account = &stack.accounts().await[0];
    let keys = stack.app.store.keys(&account.id).await.unwrap();
    assert!(keys[0].is_opened_by(&secret));
}

#[tokio::test]
async fn two_calls_at_the_same_moment_make_one_account() {
    let stack = Stack::start().await;
    let call = || {
        let request = serde_json::from_value(stack.request("Create", "owner")).unwrap();
        handle(&stack.app, request)
    };
    let (one, other) = tokio::join!(call(), call());
    assert!(one.is_ok() && other.is_ok());
    for (_, answer) in stack.answers.lock().unwrap().iter() {
        assert_eq!(answer["Status"], "SUCCESS", "{answer}");
    }
    let [account] = &stack.accounts().await[..] else {
        panic!("one account");
    };
    let (secret, link) = stack.owner().await;
    assert_eq!(link.account(), &account.id);
    let keys = stack.app.store.keys(&account.id).await.unwrap();
    assert!(keys.len() == 1 && keys[0].is_opened_by(&secret));
}

#[tokio::test]
async fn an_account_that_exists_is_left_alone() {
    let stack = Stack::start().await;
    let app = &stack.app;
    let account = Account::new(app.entropy.account_id(), "Owner", app.clock.now());
    assert!(app.store.create_account(&account).await.unwrap());
    let answer = stack.asked(stack.request("Create", "owner")).await;
    assert_eq!(answer["Status"], "SUCCESS");
    assert_eq!(stack.accounts().await.len(), 1);
    assert!(app.store.keys(&account.id).await.unwrap().is_empty());
    assert_eq!(stack.secret().await, None);
}

#[tokio::test]
async fn what_cannot_be_made_fails_the_deployment_with_a_reason() {
    let stack = Stack::start().await;
    for name in ["", "stats", "a/b", "..", &"x".repeat(65)] {
        let answer = stack.asked(stack.request("Create", name)).await;
        assert_eq!(answer["Status"], "FAILED", "{name}");
        let reason = answer["Reason"].as_str().unwrap();
        assert!(reason.contains("Owner is no user name"), "{reason}");
        assert_eq!(answer["PhysicalResourceId"], "first-account");
    }
    let written = stack.app.secrets.write(ARN, "by hand", "hello").await;
    assert_eq!(written, Ok(SecretWrite::Done));
    let answer = stack.asked(stack.request("Create", "owner")).await;
    assert_eq!(answer["Status"], "FAILED");
    assert!(!answer.to_string().contains("hello"));
    assert!(stack.accounts().await.is_empty());
}

#[tokio::test]
async fn an_answer_that_cannot_be_delivered_is_an_error_without_its_url() {
    let stack = Stack::start().await;
    let mut request = stack.request("Create", "owner");
    request["ResponseURL"] = json!(stack.url.replace("/answer", "/elsewhere"));
    let request = serde_json::from_value(request).unwrap();
    let error = handle(&stack.app, request).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("signed"), "{error}");
}
