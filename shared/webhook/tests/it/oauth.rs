//! Tokens: fetched once, kept, renewed, and missed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::{HeaderMap, StatusCode};
use posthaste_model::{Clock, Millis};
use posthaste_testkit::{Receiver, Reply};
use posthaste_webhook::{
    ClientConfig, Guard, OauthCredentials, Post, PostOutcome, TokenProblem, Tokens, WebhookClient,
    check_url,
};

use crate::SOON;

struct Stage {
    tokens: Tokens,
    seconds: Arc<AtomicI64>,
    client: WebhookClient,
    server: Receiver,
    hook: Receiver,
    credentials: OauthCredentials,
}

impl Stage {
    async fn set() -> Self {
        let seconds = Arc::new(AtomicI64::new(1_000));
        let hand = seconds.clone();
        let clock = Clock::new(move || Millis(hand.load(Ordering::SeqCst) * 1000));
        let server = Receiver::start().await.unwrap();
        let url = format!("{}token", server.url());
        Self {
            tokens: Tokens::new(clock),
            seconds,
            client: WebhookClient::open(ClientConfig {
                guard: Guard::with_loopback(),
                ..ClientConfig::default()
            })
            .unwrap(),
            hook: Receiver::start().await.unwrap(),
            credentials: OauthCredentials {
                client_id: "cli:ent".into(),
                client_secret: "s&cret".into(),
                token_url: check_url(&url, &Guard::with_loopback()).unwrap(),
                scopes: Vec::new(),
            },
            server,
        }
    }

    async fn post(&self) -> PostOutcome {
        let post = Post {
            url: self.hook.url().parse().unwrap(),
            headers: HeaderMap::new(),
            body: "[]".into(),
        };
        self.tokens
            .post(&self.client, "hook-1", &self.credentials, post)
            .await
    }

    fn later(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// What the hook saw as authorization, in order.
    fn shown(&self) -> Vec<String> {
        let posts = self.hook.posts();
        let shown = posts
            .iter()
            .map(|post| post.header("authorization").to_owned());
        shown.collect()
    }
}

fn grant(token: &str, life: u32) -> Reply {
    let body = format!(r#"{{"access_token":"{token}","token_type":"bearer","expires_in":{life}}}"#);
    Reply::with_body(200, body)
}

#[tokio::test]
async fn a_token_is_asked_for_as_rfc_6749_says() {
    let stage = Stage::set().await;
    stage.server.always(grant("t1", 3600));

    assert!(stage.post().await.is_success());

    let asked = stage.server.next(SOON).await.unwrap();
    assert_eq!(asked.target, "/token");
    assert_eq!(asked.body, "grant_type=client_credentials");
    assert_eq!(
        asked.header("content-type"),
        "application/x-www-form-urlencoded"
    );
    // The base64 of `cli%3Aent:s%26cret`: both halves are form-encoded first.
    assert_eq!(
        asked.header("authorization"),
        "Basic Y2xpJTNBZW50OnMlMjZjcmV0"
    );
    assert_eq!(stage.shown(), ["Bearer t1"]);
}

#[tokio::test]
async fn a_token_is_kept_until_shortly_before_it_runs_out() {
    let stage = Stage::set().await;
    stage.server.script([grant("t1", 3600), grant("t2", 3600)]);

    for wait in [0, 1, 3538, 1] {
        stage.later(wait);
        assert!(stage.post().await.is_success());
    }

    assert_eq!(stage.server.posts().len(), 2);
    assert_eq!(
        stage.shown(),
        ["Bearer t1", "Bearer t1", "Bearer t1", "Bearer t2"]
    );
}

#[tokio::test]
async fn a_401_gets_one_fresh_token_and_no_second() {
    let stage = Stage::set().await;
    stage
        .server
        .script([grant("t1", 3600), grant("t2", 3600), grant("t3", 3600)]);
    stage.hook.script([Reply::status(401), Reply::status(200)]);
    assert!(stage.post().await.is_success());
    assert_eq!(stage.shown(), ["Bearer t1", "Bearer t2"]);

    stage.hook.always(Reply::status(401));
    let outcome = stage.post().await;
    assert_eq!(outcome.status(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(stage.shown()[2..], ["Bearer t2", "Bearer t3"]);
    assert_eq!(stage.server.posts().len(), 3);
}

#[tokio::test]
async fn a_refusal_that_names_the_token_gets_a_fresh_one_and_another_refusal_does_not() {
    for (status, body, wants_fresh) in [
        (400, r#"{"error":"invalid_request"}"#, true),
        (403, "Bearer error=insufficient_scope", true),
        (400, "no such hostname", false),
        (403, "", false),
        (404, "invalid_token", false),
        (503, "invalid_request", false),
    ] {
        let stage = Stage::set().await;
        stage.server.script([grant("t1", 3600), grant("t2", 3600)]);
        let refused = Reply::with_body(status, body);
        stage.hook.script([refused, Reply::status(200)]);
        let outcome = stage.post().await;
        assert_eq!(outcome.is_success(), wants_fresh, "{status} {body}");
        let posts = 1 + usize::from(wants_fresh);
        assert_eq!(stage.shown().len(), posts, "{status} {body}");
        assert_eq!(stage.server.posts().len(), posts, "{status} {body}");
    }
}

#[tokio::test]
async fn scopes_are_asked_for_and_others_are_another_token() {
    let mut stage = Stage::set().await;
    stage.server.script([grant("t1", 3600), grant("t2", 3600)]);
    stage.credentials.scopes = vec!["webhooks:write".to_owned(), "a&b".to_owned()];
    assert!(stage.post().await.is_success());
    stage.credentials.scopes.pop();
    assert!(stage.post().await.is_success());
    let forms: Vec<_> = stage
        .server
        .posts()
        .iter()
        .map(|p| p.body.clone())
        .collect();
    assert_eq!(
        forms,
        [
            "grant_type=client_credentials&scope=webhooks%3Awrite+a%26b",
            "grant_type=client_credentials&scope=webhooks%3Awrite"
        ]
    );
    assert_eq!(stage.shown(), ["Bearer t1", "Bearer t2"]);
}

#[tokio::test]
async fn changed_credentials_are_used_at_once() {
    let mut stage = Stage::set().await;
    stage
        .server
        .script([grant("old", 3600), grant("new", 3600), grant("newer", 3600)]);
    assert!(stage.post().await.is_success());
    stage.credentials.client_secret = "changed".into();
    assert!(stage.post().await.is_success());
    stage.tokens.forget("hook-1");
    assert!(stage.post().await.is_success());
    assert_eq!(stage.shown(), ["Bearer old", "Bearer new", "Bearer newer"]);
}

#[tokio::test]
async fn many_posts_at_once_fetch_one_token() {
    let stage = Stage::set().await;
    stage.server.always(grant("t", 3600));
    let (a, b, c) = tokio::join!(stage.post(), stage.post(), stage.post());
    assert!([a, b, c].iter().all(PostOutcome::is_success));
    assert_eq!(stage.server.posts().len(), 1);
}

#[tokio::test]
async fn without_a_token_nothing_is_posted_and_the_reason_is_told() {
    for (reply, want) in [
        (
            Reply::status(403),
            "no OAuth token: the token URL answered 403",
        ),
        (
            Reply::status(302),
            "no OAuth token: the token URL answered 302",
        ),
        (
            Reply::with_body(200, "<html>"),
            "no OAuth token: the token URL's answer is not the JSON of RFC 6749, section 5.1",
        ),
        (
            Reply::with_body(200, "{}"),
            "no OAuth token: the token URL's answer has no access_token",
        ),
    ] {
        let stage = Stage::set().await;
        stage.server.always(reply);
        assert_eq!(stage.post().await.to_string(), want);
        assert_eq!(stage.hook.posts().len(), 0);
    }
}

#[tokio::test]
async fn a_private_token_url_is_refused_by_the_guard() {
    let mut stage = Stage::set().await;
    stage.credentials.token_url = "http://169.254.169.254/token".parse().unwrap();
    let outcome = stage.post().await;
    let PostOutcome::NoToken(TokenProblem::Unanswered(detail)) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(detail.contains("metadata"), "{detail}");
}

#[tokio::test]
async fn a_dead_token_url_is_not_asked_for_every_post() {
    let stage = Stage::set().await;
    stage.server.script([Reply::status(500), grant("t", 3600)]);
    for _ in 0..3 {
        let outcome = stage.post().await;
        assert!(matches!(outcome, PostOutcome::NoToken(_)), "{outcome:?}");
    }
    assert_eq!(stage.server.posts().len(), 1);

    stage.later(5);
    assert!(stage.post().await.is_success());
    assert_eq!(stage.server.posts().len(), 2);
}
