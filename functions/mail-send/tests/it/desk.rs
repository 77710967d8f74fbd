//! The function in memory: a table, a queue, one account with a key.

use mail_send::{App, SendLimits, Senders, routes};
use posthaste_blob::Blob;
use posthaste_http::Authorizer;
use posthaste_store::{Store, Template, Version, VersionTexts};
use posthaste_testkit::{Api, Ask, FailAfter, Queues, Response, Tenant, TestClock, entropy, table};
use serde_json::Value;

pub(crate) struct TestApp {
    pub(crate) store: Store,
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
    pub(crate) tenant: Tenant,
    pub(crate) api: Api,
    /// Burns between the handler and its queue.
    pub(crate) fuse: FailAfter,
}

impl TestApp {
    pub(crate) async fn new(senders: Senders) -> Self {
        let (store, hand, fuse) = (table().await, TestClock::default(), FailAfter::default());
        let queues = Queues::with_fuse(fuse.clone());
        let app = App {
            store: store.clone(),
            queue: queues.queue("send"),
            blob: Blob::memory(),
            clock: hand.clock(),
            entropy: entropy(),
            limits: SendLimits::default(),
            senders,
            templates: mail_send::Templates::default(),
        };
        let gate = Authorizer::new(
            store.clone(),
            hand.clock(),
            posthaste_http::RateLimits::default(),
        );
        Self {
            tenant: Tenant::new(&store, "owner", hand.now()).await,
            api: Api::new(routes(app, gate)),
            store,
            hand,
            queues,
            fuse,
        }
    }

    /// A request with the account's key, still without a body.
    pub(crate) fn ask(&self) -> Ask<'_> {
        self.api.post("/v3/mail/send").key(&self.tenant.key)
    }

    pub(crate) async fn send(&self, body: &Value) -> Response {
        self.ask().json(body).send().await
    }

    /// A template whose active version has neither a subject nor content; its id.
    pub(crate) async fn bare_template(&self) -> String {
        self.template("").await
    }

    /// A template whose active version has this HTML and nothing else; its id.
    pub(crate) async fn template(&self, html: &str) -> String {
        let (id, version, now) = (
            entropy().dynamic_template_id(),
            entropy().version_id(),
            self.hand.now(),
        );
        let texts = VersionTexts {
            html_content: html.to_owned(),
            ..VersionTexts::default()
        };
        let account = &self.tenant.account.id;
        let put = self.store.put_texts(account, &version, &texts).await;
        put.unwrap();
        let template = Template {
            id: id.clone(),
            account: self.tenant.account.id.clone(),
            name: "Bare".to_owned(),
            created_at: now,
            updated_at: now,
            versions: vec![Version {
                texts: version.clone(),
                id: version,
                name: "first".to_owned(),
                subject: String::new(),
                updated_at: now,
                active: true,
                generate_plain_content: false,
                editor: "code".to_owned(),
                has_content: !html.is_empty(),
            }],
        };
        let _ = self.store.create_template(&template, 10).await.unwrap();
        id.to_string()
    }
}
