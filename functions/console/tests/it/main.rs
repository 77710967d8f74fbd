//! The pages, as a browser asks for them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod activity;
mod audit_log;
mod composed;
mod domains;
mod inbound;
mod overview;
mod scheduled;
mod settings;
mod sign_in;
mod statistics;
mod subusers;
mod suppressions;
mod templates;
mod texts;
mod webhooks;

use std::ops::Deref;

use console::{App, routes};
use posthaste_http::{Authorizer, Routes};
use posthaste_runtime::{Error, Platform};
use posthaste_store::{ConsoleToken, Store};
use posthaste_testkit::{Ask, FailAfter, Response, Services, TABLE, dynamodb, entropy};
use serde_json::Value;

const HOST: &str = "127.0.0.1:3000";
const ORIGIN: &str = "http://127.0.0.1:3000";

/// The policy of a frame's document, in which nothing of a mail runs.
pub(crate) fn sandbox_of(part: &Response) -> &str {
    let policy = part.header("content-security-policy");
    assert!(
        policy.starts_with("sandbox; default-src 'none';"),
        "{policy}"
    );
    assert!(
        !policy.contains("allow-") && !policy.contains("script-src"),
        "{policy}"
    );
    policy
}

pub(crate) struct TestApp(posthaste_testkit::TestApp);

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::on(Services::start().await).await
    }

    pub(crate) async fn on(services: Services) -> Self {
        let services = services.var("SEARCH_DAYS", "30");
        Self(posthaste_testkit::TestApp::on(services, open, routes_with_api).await)
    }

    /// What the API answers to a `POST` of the account's own key.
    pub(crate) async fn made(&self, path: &str, body: &Value) -> Value {
        let ask = self.api.post(path).key(&self.tenant.key);
        ask.json(body).send().await.expect(201).json()
    }

    /// On a table whose calls are counted.
    pub(crate) async fn counted(calls: &FailAfter) -> Self {
        let store = Store::open(&calls.around(&dynamodb().await), TABLE);
        store.create_table().await.unwrap();
        let services = Services::on(store).var("SEARCH_DAYS", "30");
        Self(posthaste_testkit::TestApp::on(services, open, routes_with_api).await)
    }

    /// The token of a new link of the account.
    pub(crate) async fn link(&self) -> String {
        let token = ConsoleToken::generate(&self.tenant.account.id, &entropy());
        let made = self.store.create_sign_in_link(&token, self.hand.now());
        made.await.unwrap();
        token.expose().to_owned()
    }

    /// A form of a page of this origin.
    pub(crate) fn form(&self, path: &str, fields: &str) -> Ask<'_> {
        let ask = self.api.post(path).header("host", HOST);
        ask.header("origin", ORIGIN).body(fields.to_owned())
    }

    /// Signs in, and gives back the cookie.
    pub(crate) async fn sign_in(&self, fields: &str) -> String {
        let answer = self.form("/console/sign-in", fields).send().await;
        cookie(&answer.expect(303))
    }

    pub(crate) async fn by_link(&self) -> String {
        let token = self.link().await;
        self.sign_in(&format!("token={token}")).await
    }

    pub(crate) fn get(&self, path: &str, cookie: &str) -> Ask<'_> {
        let ask = self.api.get(path).header("host", HOST);
        ask.header("cookie", cookie)
    }

    /// The HTML of a page.
    pub(crate) async fn page(&self, path: &str, cookie: &str) -> String {
        html(&self.get(path, cookie).send().await.expect(200))
    }
}

/// The pages, and the functions that tests call beside them.
type Opened = (
    App,
    event_settings::App,
    sender_identity::App,
    ::templates::App,
);

fn open(platform: &Platform) -> Result<Opened, Error> {
    let pages = App::from_env(platform)?;
    let webhooks = event_settings::App::from_env(platform)?;
    let senders = sender_identity::App::from_env(platform)?;
    let templates = ::templates::App::from_env(platform)?;
    Ok((pages, webhooks, senders, templates))
}

fn routes_with_api((pages, webhooks, senders, templates): Opened, gate: Authorizer) -> Routes {
    routes(pages, gate.clone())
        .merge(event_settings::routes(webhooks, gate.clone()))
        .merge(sender_identity::routes(senders, gate.clone()))
        .merge(::templates::routes(templates, gate))
}

/// The cookie that a browser sends after this answer.
pub(crate) fn cookie(answer: &Response) -> String {
    let set = answer.header("set-cookie");
    set.split(';').next().unwrap().to_owned()
}

pub(crate) fn html(answer: &Response) -> String {
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    String::from_utf8(answer.body.to_vec()).unwrap()
}
