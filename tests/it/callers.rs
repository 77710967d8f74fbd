//! Who may call: every route of every function, called as nobody, as a stranger, and oddly.

mod every_field;
mod every_route;
mod keys;
mod parameters;
mod strangers;
mod unknown_ids;

use posthaste::functions::FUNCTIONS;
use posthaste::{Host, HostSettings};
use posthaste_http::Route;
use posthaste_model::WebhookId;
use posthaste_runtime::{Env, Platform};
use posthaste_store::{ConsoleSession, ConsoleToken, SessionOrigin, WebhookPost};
use posthaste_testkit::{Tenant, TestClock, entropy};
use reqwest::header::HeaderMap;
use reqwest::{Client, Method};
use serde_json::Value;

use crate::template::read::Template;

/// Every route, as its function declares it.
pub(crate) async fn routes() -> Vec<Route> {
    let template = Template::read();
    let stanzas = template.functions();
    let mut all = Vec::new();
    for (name, kind) in FUNCTIONS {
        let variables = template.variables(&stanzas[name]);
        let platform = Platform::function(Env::new(move |name| variables.get(name).cloned()));
        let routes = kind.open(&platform).expect("a function that starts");
        all.extend(routes.iter().flat_map(|routes| routes.list()).cloned());
    }
    all
}

/// The whole service in this process, in memory, and somebody who calls it.
pub(crate) struct House {
    pub(crate) host: Host,
    client: Client,
}

/// An answer of the service.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl House {
    pub(crate) async fn open() -> Self {
        let settings = HostSettings::in_memory(TestClock::default().clock(), entropy());
        Self {
            host: Host::start(&settings).await.expect("the host starts"),
            client: Client::new(),
        }
    }

    /// Somebody else.
    pub(crate) async fn tenant(&self, name: &str) -> Tenant {
        Tenant::new(self.host.store(), name, TestClock::default().now()).await
    }

    /// The id of a session of the console of the first account.
    pub(crate) async fn session(&self) -> String {
        let token = ConsoleToken::generate(&self.host.account, &entropy());
        let from = SessionOrigin {
            agent: "a browser".to_owned(),
            ip: None,
        };
        let session = ConsoleSession::new(&token, None, &from, TestClock::default().now());
        let made = self.host.store().create_session(&session).await;
        made.expect("the table answers");
        session.id.to_string()
    }

    /// Waits until the first copy of a message of the first account has left.
    pub(crate) async fn delivered(&self, message: &str) {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
        let message = posthaste_model::MessageId::parse(message).expect("a message id");
        let ask = async {
            loop {
                let copy = self.host.store().recipient(&self.host.account, &message, 0);
                let copy = copy.await.expect("the table answers");
                if copy.is_some_and(|copy| copy.state == posthaste_store::CopyState::Delivered) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let left = tokio::time::timeout(PATIENCE, ask).await;
        left.expect("the mail leaves");
    }

    /// One call, with whatever headers.
    pub(crate) async fn ask(
        &self,
        method: &Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let url = format!("http://{}{path}", self.host.api);
        let mut call = self.client.request(method.clone(), url).body(body.to_vec());
        call = call.header("content-type", "application/json");
        for (name, value) in headers {
            call = call.header(*name, *value);
        }
        let answer = call.send().await.expect("the API answers");
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: answer.text().await.expect("a whole answer"),
        }
    }

    /// The key of the first account.
    pub(crate) fn key(&self) -> &str {
        self.host.key.as_deref().expect("a key")
    }

    /// One call with a key and a JSON body.
    pub(crate) async fn call(
        &self,
        method: &Method,
        path: &str,
        key: &str,
        body: &Value,
    ) -> Answer {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str())];
        self.ask(method, path, &headers, body.to_string().as_bytes())
            .await
    }

    /// A post to a webhook of the first account, as the worker stores it; its id.
    pub(crate) async fn posted(&self, webhook: &str) -> String {
        let post = WebhookPost {
            account: self.host.account.clone(),
            webhook: WebhookId::parse(webhook).expect("an id"),
            at: TestClock::default().now(),
            attempt: 1,
            url: "http://127.0.0.1:8099/theirs".to_owned(),
            accepted: true,
            status: Some(200),
            answer: String::new(),
            took_ms: Some(1),
            signature: None,
            message: String::new(),
        };
        let stored = self.host.store().put_post(&post).await;
        stored.expect("the table answers");
        let path = "/v3/user/webhooks/event/posts";
        let listed = self.made(Method::GET, path, &Value::Null).await;
        let id = listed["result"][0]["post_id"].as_str();
        id.expect("an id").to_owned()
    }

    /// A call with the first account's key that must succeed; its JSON.
    pub(crate) async fn made(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.call(&method, path, self.key(), body).await;
        assert!(answer.status < 300, "{method} {path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap_or(Value::Null)
    }
}

impl Answer {
    /// Asserts what every answer of the API promises: the rate limit's headers, and errors in
    /// the contract's shape.
    #[track_caller]
    pub(crate) fn keeps_the_contract(&self, asked: &str) {
        for name in ["limit", "remaining", "reset"] {
            let header = self.headers.get(format!("x-ratelimit-{name}"));
            assert!(header.is_some(), "{asked}: no X-RateLimit-{name}");
        }
        if self.status < 400 {
            return;
        }
        let json: Value = serde_json::from_str(&self.body).unwrap_or(Value::Null);
        let errors = json["errors"].as_array().map_or(&[][..], Vec::as_slice);
        let told = errors.iter().all(|error| error["message"].is_string());
        assert!(!errors.is_empty() && told, "{asked}: {}", self.body);
    }
}

/// A path with every capture filled in.
pub(crate) fn fill(path: &str, value: impl Fn(&str) -> String) -> String {
    let part = |part: &str| match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
        Some(name) => value(name),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
