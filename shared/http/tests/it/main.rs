//! The gate from outside: small routes behind it, an embedded table under it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod attacks;
mod audit;
mod bodies;
mod callers;
mod doors;
mod drill;
mod last_use;
mod limits;
mod sessions;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use posthaste_http::{
    Access, Authorizer, BrowserRequest, Caller, ClientIp, Dialect, JsonBody, PathParams,
    RateLimits, Rejection, Routes, SignIn,
};
use posthaste_store::Store;
use posthaste_testkit::{Api, FailAfter, TABLE, Tenant, TestClock, dynamodb, entropy};
use serde_json::{Value, json};

/// An instance over a table whose calls are counted, and an account to call it with.
pub(crate) struct TestApp {
    pub(crate) store: Store,
    pub(crate) faults: FailAfter,
    pub(crate) hand: TestClock,
    pub(crate) gate: Authorizer,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with(RateLimits::default()).await
    }

    pub(crate) async fn with(limits: RateLimits) -> Self {
        let (faults, hand) = (FailAfter::default(), TestClock::default());
        let store = Store::open(&faults.around(&dynamodb().await), TABLE);
        store.create_table().await.unwrap();
        let tenant = Tenant::new(&store, "parent", hand.now()).await;
        let gate = Authorizer::new(store.clone(), hand.clock(), limits);
        Self {
            api: api(&gate, &store, &hand),
            gate,
            store,
            faults,
            hand,
            tenant,
        }
    }

    /// An instance over the same table on a stack that names the address of the EU's.
    pub(crate) fn with_eu_elsewhere(&self, eu: &str) -> Api {
        let (store, clock) = (self.store.clone(), self.hand.clock());
        let gate = Authorizer::new(store, clock, RateLimits::default());
        let gate = gate.with_eu_elsewhere(Some(eu.parse().unwrap()));
        api(&gate, &self.store, &self.hand)
    }

    /// One more instance over the same table, with caches of its own.
    pub(crate) fn instance(&self, limits: RateLimits) -> Api {
        let gate = Authorizer::new(self.store.clone(), self.hand.clock(), limits);
        api(&gate, &self.store, &self.hand)
    }
}

/// Limits of this many requests a minute.
pub(crate) fn per_minute(requests: u32) -> RateLimits {
    RateLimits {
        requests,
        mail_send: requests,
        period: 60,
        ..RateLimits::default()
    }
}

fn api(gate: &Authorizer, store: &Store, hand: &TestClock) -> Api {
    let console = SignInTo {
        gate: gate.clone(),
        store: store.clone(),
        hand: hand.clone(),
    };
    let (with_key, with_link, out) = (console.clone(), console.clone(), console);
    let by_key = async move |visit: BrowserRequest, key: String| {
        with_key.sign_in(&visit, SignIn::Key(&key)).await
    };
    let by_link = async move |visit: BrowserRequest, link: String| {
        with_link.sign_in(&visit, SignIn::Link(&link)).await
    };
    let sign_out = async move |visit: BrowserRequest| out.sign_out(&visit).await;
    let routes = Routes::new(gate.clone())
        .at(Method::POST, "/in/key", Access::Public, by_key)
        .at(Method::POST, "/in/link", Access::Public, by_link)
        .at(Method::POST, "/out", Access::Public, sign_out)
        .at(
            Method::GET,
            "/v3/templates",
            Access::Scope("templates.read"),
            who,
        )
        .at(
            Method::POST,
            "/v3/templates",
            Access::Scope("templates.create"),
            echo,
        )
        .at(
            Method::GET,
            "/v3/templates/{id}",
            Access::Scope("templates.read"),
            one,
        )
        .at(
            Method::GET,
            "/v3/loose/{id}",
            Access::Scope("templates.read"),
            loose,
        )
        .at(Method::GET, "/v3/scopes", Access::AnyKey, who)
        .at(
            Method::DELETE,
            "/v3/templates",
            Access::Scope("templates.delete"),
            panics,
        )
        .at(Method::GET, "/pixel", Access::Public, pixel)
        .dialect(Dialect::Mail)
        .at(
            Method::POST,
            "/v3/mail/send",
            Access::Scope("mail.send"),
            sent,
        );
    Api::new(routes.with_state(()))
}

type SetCookie = [(HeaderName, HeaderValue); 1];

/// Sessions as the console opens and ends them.
#[derive(Clone)]
struct SignInTo {
    gate: Authorizer,
    store: Store,
    hand: TestClock,
}

impl SignInTo {
    async fn sign_in(
        &self,
        visit: &BrowserRequest,
        with: SignIn<'_>,
    ) -> Result<SetCookie, Rejection> {
        let entry = self.gate.enter(visit, with).await?;
        let (token, session) = entry.session(&entropy(), self.hand.now());
        match entry.link() {
            None => self.store.create_session(&session).await?,
            Some(link) => assert!(self.store.redeem_link(link, &session).await?),
        }
        Ok([(header::SET_COOKIE, entry.cookie(&token))])
    }

    async fn sign_out(&self, visit: &BrowserRequest) -> Result<SetCookie, Rejection> {
        let (session, cookie) = self.gate.leave(visit).await?;
        if let Some(session) = session {
            let ended = self.store.end_session(&session.account, &session.id).await;
            assert_eq!(ended, Ok(true));
            self.gate.forget_session(&session.id);
        }
        Ok([(header::SET_COOKIE, cookie)])
    }
}

async fn who(caller: Caller, ip: ClientIp) -> Json<Value> {
    Json(json!({
        "account": caller.account.username,
        "on_behalf": caller.is_on_behalf(),
        "ip": ip.0.map(|ip| ip.to_string()),
    }))
}

async fn echo(JsonBody(body): JsonBody<Value>) -> Json<Value> {
    Json(body)
}

/// As a handler does that reads its path by the router's own means.
async fn loose(axum::extract::Path(id): axum::extract::Path<String>) -> String {
    id
}

async fn one(PathParams(id): PathParams<String>) -> String {
    id
}

async fn pixel() -> StatusCode {
    StatusCode::OK
}

async fn sent(caller: Caller) -> (StatusCode, String) {
    (StatusCode::ACCEPTED, caller.account.username.clone())
}

async fn panics() -> StatusCode {
    panic!("a handler that nobody tested")
}
