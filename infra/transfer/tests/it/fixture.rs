//! A service with an account, and what an owner has in one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use clap::Parser as _;
use posthaste_http::{Authorizer, Routes};
use posthaste_model::Timestamp;
use posthaste_store::{ApiKey, ListEntry, Mark, SuppressionList};
use posthaste_testkit::{Api, Services, Tenant, TestClock, entropy};
use posthaste_transfer::{
    Export, Import, Pause, Progress, TransferError, TransferReport, TransferTools, export, import,
};
use serde_json::{Value, json};

/// A second at which things were listed: some months before the clock of tests.
pub(crate) const THEN: i64 = 1_790_000_000;

/// A service with one account.
pub(crate) struct Service {
    pub(crate) services: Services,
    pub(crate) tenant: Tenant,
}

/// All functions that an account's things belong to.
fn routes(services: &Services) -> Routes {
    let gate: Authorizer = services.gate();
    let platform = services.platform();
    let g = || gate.clone();
    Routes::new(g())
        .merge(account_settings::routes(
            account_settings::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(api_keys::routes(
            api_keys::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(event_settings::routes(
            event_settings::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(parse_settings::routes(
            parse_settings::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(sender_identity::routes(
            sender_identity::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(subusers::routes(
            subusers::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(suppressions::routes(
            suppressions::App::from_env(&platform).unwrap(),
            g(),
        ))
        .merge(templates::routes(
            templates::App::from_env(&platform).unwrap(),
            g(),
        ))
}

impl Service {
    pub(crate) async fn start(username: &str) -> Self {
        Self::of(Services::start().await.any_sender(), username).await
    }

    /// One whose domains are valid once their records are published.
    pub(crate) async fn strict(username: &str) -> Self {
        Self::of(Services::start().await, username).await
    }

    async fn of(services: Services, username: &str) -> Self {
        let tenant = Tenant::new(&services.store, username, services.clock.now()).await;
        Self { services, tenant }
    }

    pub(crate) fn router(&self) -> Router {
        routes(&self.services).into_router()
    }

    pub(crate) fn tools(&self) -> TransferTools {
        self.tools_with(|_| ())
    }

    /// Tools whose waits move the clock of the test on, and whose progress goes to `show`.
    pub(crate) fn tools_with(
        &self,
        show: impl Fn(String) + Send + Sync + 'static,
    ) -> TransferTools {
        let clock: TestClock = self.services.clock.clone();
        TransferTools {
            account: Arc::new(self.tenant.account.clone()),
            store: self.services.store.clone(),
            clock: clock.clock(),
            entropy: entropy(),
            api: self.router(),
            pause: Pause::new(move |wait: Duration| {
                clock.advance_ms(i64::try_from(wait.as_millis()).unwrap());
                Box::pin(tokio::task::yield_now())
            }),
            progress: Progress::new(show),
        }
    }

    pub(crate) async fn export(&self, folder: &Path) -> TransferReport {
        let name = self.tenant.account.username.clone();
        let args = Export {
            folder: folder.to_owned(),
            account: name,
        };
        export(&args, &self.tools()).await.unwrap()
    }

    pub(crate) async fn import(&self, flags: &str) -> Result<TransferReport, TransferError> {
        import(&args(flags), &self.tools()).await
    }

    /// A call of the owner's, which succeeds.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        self.call_as("", method, path, body).await
    }

    pub(crate) async fn call_as(
        &self,
        subuser: &str,
        method: &str,
        path: &str,
        body: Value,
    ) -> Value {
        let api = Api::new(routes(&self.services));
        let ask = api.ask(method.parse().unwrap(), path).key(&self.tenant.key);
        let ask = if body.is_null() { ask } else { ask.json(&body) };
        let ask = if subuser.is_empty() {
            ask
        } else {
            ask.as_if(subuser)
        };
        let answer = ask.send().await;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status.is_success(), "{method} {path}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The status of a `GET` with this key.
    pub(crate) async fn status_with(&self, key: &str, path: &str) -> u16 {
        let api = Api::new(routes(&self.services));
        api.get(path).key(key).send().await.status.as_u16()
    }

    /// The names of the account's keys, without its owner's.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let store = &self.services.store;
        let keys = store.keys(&self.tenant.account.id).await.unwrap();
        let own = |key: &ApiKey| self.tenant.key.contains(key.id.as_str());
        let others = keys.into_iter().filter(|key| !own(key));
        let mut names: Vec<String> = others.map(|key| key.name).collect();
        names.sort_unstable();
        names
    }

    /// Puts addresses on a list, each a second after the other.
    pub(crate) async fn suppress(&self, list: SuppressionList, name: &str, count: i64) {
        let account = &self.tenant.account.id;
        let entry = |i: i64| ListEntry {
            folded: format!("{name}{i}@example.org"),
            list,
            mark: Mark {
                at: Timestamp(THEN + i),
                reason: Some(format!("550 5.1.1 no \"{name}\", {i}")),
                status: Some("5.1.1".to_owned()),
                ip: Some("192.0.2.7".to_owned()),
            },
        };
        let entries = (0..count).map(entry).collect();
        self.services
            .store
            .suppress_many(account, entries)
            .await
            .unwrap();
    }

    /// What an owner has, of every part.
    #[expect(clippy::too_many_lines, reason = "one thing of each part")]
    pub(crate) async fn fill(&self) {
        self.call(
            "POST",
            "/v3/whitelabel/domains",
            json!({"domain": "example.com", "subdomain": "em1", "default": true}),
        )
        .await;
        let sender = json!({"nickname": "Ada", "from_email": "ada@example.com",
            "reply_to": "ada@example.com", "city": "London"});
        self.call("POST", "/v3/verified_senders", sender).await;
        for (name, is_default) in [("Gone", false), ("News", true), ("Offers", false)] {
            let body = json!({"name": name, "description": format!("{name}, weekly"), "is_default": is_default});
            self.call("POST", "/v3/asm/groups", body).await;
        }
        self.call("DELETE", "/v3/asm/groups/1", Value::Null).await;
        self.suppress(SuppressionList::Group(2), "left", 5).await;
        self.suppress(SuppressionList::Group(3), "left", 3).await;
        self.suppress(SuppressionList::Bounces, "bounced", 603)
            .await;
        self.suppress(SuppressionList::Blocks, "blocked", 2).await;
        self.suppress(SuppressionList::InvalidEmails, "bad", 2)
            .await;
        self.suppress(SuppressionList::SpamReports, "spam", 2).await;
        self.suppress(SuppressionList::Unsubscribes, "left", 4)
            .await;
        for (name, generation, html, data) in [
            ("Receipt", "dynamic", "<p>{{name}}</p>", r#"{"name":"Ada"}"#),
            ("Wrapper", "legacy", "<p><%body%></p>", ""),
        ] {
            let body = json!({"name": name, "generation": generation});
            let template = self.call("POST", "/v3/templates", body).await;
            let versions = format!(
                "/v3/templates/{}/versions",
                template["id"].as_str().unwrap()
            );
            for (version, active) in [("first", 0), ("second", 1), ("third", 0)] {
                let mut body = json!({"name": version, "subject": "ü", "html_content": html,
                    "active": active});
                if !data.is_empty() {
                    body["test_data"] = data.into();
                }
                self.call("POST", &versions, body).await;
            }
        }
        let hook = json!({"url": "https://hooks.example.com/a", "enabled": true, "bounce": true,
            "friendly_name": "Main"});
        let hook = self
            .call("POST", "/v3/user/webhooks/event/settings", hook)
            .await;
        let signed = format!(
            "/v3/user/webhooks/event/settings/signed/{}",
            hook["id"].as_str().unwrap()
        );
        self.call("PATCH", &signed, json!({"enabled": true})).await;
        let parse = json!({"hostname": "in.example.com", "url": "https://hooks.example.com/in",
            "send_raw": true});
        self.call("POST", "/v3/user/webhooks/parse/settings", parse)
            .await;
        let footer = json!({"enabled": true, "html_content": "<p>Bye</p>", "plain_content": "Bye"});
        self.call("PATCH", "/v3/mail_settings/footer", footer).await;
        let kept = json!({"enabled": true, "days": 3});
        self.call("PATCH", "/v3/mail_settings/kept_mail", kept)
            .await;
        let click = json!({"enabled": true});
        self.call("PATCH", "/v3/tracking_settings/click", click)
            .await;
        let alert = json!({"type": "usage_limit", "percentage": 90, "email_to": "ada@example.com"});
        self.call("POST", "/v3/alerts", alert).await;
        for (name, scopes) in [
            ("Shop", vec!["mail.send", "templates.read"]),
            ("Shop", vec!["mail.send"]),
            ("Page", vec!["mail.send"]),
            ("Letters", vec!["alerts.read"]),
        ] {
            let key = json!({"name": name, "scopes": scopes});
            self.call("POST", "/v3/api_keys", key).await;
        }
        let subuser =
            json!({"username": "shop", "email": "shop@example.com", "password": "x", "ips": []});
        self.call("POST", "/v3/subusers", subuser).await;
        let credits = json!({"type": "recurring", "reset_frequency": "daily", "total": 50});
        self.call("PUT", "/v3/subusers/shop/credits", credits).await;
        let group = json!({"name": "Shop's", "description": "of the subuser"});
        self.call_as("shop", "POST", "/v3/asm/groups", group).await;
        let left = json!({"recipient_emails": ["eve@example.org"]});
        let members = "/v3/asm/groups/1/suppressions";
        self.call_as("shop", "POST", members, left.clone()).await;
        self.call_as("shop", "POST", "/v3/asm/suppressions/global", left)
            .await;
        let domains = "/v3/whitelabel/domains";
        let lent = format!("{domains}/1/subuser");
        self.call("POST", &lent, json!({"username": "shop"})).await;
        for (path, body) in [
            (
                domains,
                json!({"domain": "shop.example.com", "subdomain": "em2"}),
            ),
            (
                "/v3/verified_senders",
                json!({"nickname": "Shop", "from_email": "a@shop.example.com",
                "reply_to": "a@shop.example.com"}),
            ),
            (
                "/v3/templates",
                json!({"name": "Shop's", "generation": "dynamic"}),
            ),
            (
                "/v3/user/webhooks/event/settings",
                json!({"url": "https://hooks.example.com/shop", "enabled": true}),
            ),
            (
                "/v3/user/webhooks/parse/settings",
                json!({"hostname": "in.shop.example.com",
                "url": "https://hooks.example.com/in"}),
            ),
            (
                "/v3/alerts",
                json!({"type": "usage_limit", "percentage": 80, "email_to": "shop@example.com"}),
            ),
            (
                "/v3/api_keys",
                json!({"name": "Shop's", "scopes": ["mail.send"]}),
            ),
        ] {
            self.call_as("shop", "POST", path, body).await;
        }
        for (path, body) in [
            (
                "/v3/mail_settings/footer",
                json!({"enabled": true, "plain_content": "Shop"}),
            ),
            ("/v3/tracking_settings/open", json!({"enabled": true})),
        ] {
            self.call_as("shop", "PATCH", path, body).await;
        }
    }
}

/// The flags of an import from a service.
pub(crate) fn from_service(address: &str, key: &str, state: &Path) -> String {
    format!("--from {address} --key {key} --state {}", state.display())
}

/// The flags of an import from a folder.
pub(crate) fn from_folder(folder: &Path) -> String {
    format!("--from {}", folder.display())
}

/// Flags as a command line has them.
pub(crate) fn args(flags: &str) -> Import {
    #[derive(clap::Parser)]
    struct ImportLine {
        #[command(flatten)]
        import: Import,
    }
    let line = format!("import --account x {flags}");
    ImportLine::parse_from(line.split_whitespace()).import
}
