//! The services that functions need, embedded in the test: a table, queues and a bucket in memory, and a clock
//! that the test moves. Functions are opened on them by their own `from_env`, as in every other process.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use axum::Router;
use axum::http::Extensions;
use posthaste_blob::Blob;
use posthaste_http::{Authorizer, RateLimits, Routes};
use posthaste_queue::Bus;
use posthaste_runtime::{Env, Error, LocalServices, Platform};
use posthaste_store::Store;
use tokio::net::TcpListener;

use crate::{Api, FailAfter, Queues, TestClock, entropy};

/// The name of the table that [`table`] makes.
pub const TABLE: &str = "posthaste";

/// What the template sets for every function that reads it.
const VARIABLES: [(&str, &str); 7] = [
    (
        "STACK_SECRET",
        "1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE",
    ),
    ("HOSTNAME_OF_SERVICE", "post.example"),
    ("MAIL_HOSTNAME", "mx.post.example"),
    ("MAIL_HOST", "mx.post.example"),
    ("BOUNCE_DOMAIN", "bounce.post.example"),
    ("SYSTEM_SENDER", "no-reply@post.example"),
    ("PUBLIC_URL", "https://post.example"),
];

/// Embedded services. Clones share them.
#[derive(Clone)]
pub struct Services {
    pub store: Store,
    pub clock: TestClock,
    /// A queue has the name of its variable: `send` for `SEND_QUEUE_URL`.
    pub queues: Queues,
    pub blob: Blob,
    vars: BTreeMap<String, String>,
    parts: Extensions,
    limits: RateLimits,
    any_sender: bool,
}

impl Services {
    /// Everything empty, and the variables of a stack at `post.example`.
    pub async fn start() -> Self {
        Self::on(table().await)
    }

    /// The same on a table of the test's own, whose rows expire by this clock.
    pub fn on(store: Store) -> Self {
        let vars = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let clock = TestClock::default();
        Self {
            store: store.with_clock(clock.clock()),
            clock,
            queues: Queues::start(),
            blob: Blob::memory(),
            vars: BTreeMap::from(vars),
            parts: Extensions::new(),
            limits: RateLimits::default(),
            any_sender: false,
        }
    }

    /// With a variable set, or not set if the value is empty.
    #[must_use]
    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With a part that a function takes instead of making it from its variables.
    #[must_use]
    pub fn part<T: Clone + Send + Sync + 'static>(mut self, part: T) -> Self {
        self.parts.insert(part);
        self
    }

    /// With these rate limits.
    #[must_use]
    pub fn limits(mut self, limits: RateLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With fresh queues that take nothing once the limit of calls is reached.
    #[must_use]
    pub fn failing_after(mut self, faults: FailAfter) -> Self {
        self.queues = Queues::failing_after(faults);
        self
    }

    /// Where mail may be sent from any address.
    #[must_use]
    pub fn any_sender(mut self) -> Self {
        self.any_sender = true;
        self
    }

    /// What a function is opened from.
    pub fn platform(&self) -> Platform {
        let (vars, queues) = (self.vars.clone(), self.queues.clone());
        let services = LocalServices {
            store: self.store.clone(),
            blob: self.blob.clone(),
            bus: Bus::log(),
            queue: Arc::new(move |variable| {
                let name = variable.trim_end_matches("_QUEUE_URL");
                queues.queue(&name.to_lowercase())
            }),
            limits: self.limits.clone(),
            any_sender: self.any_sender,
            process: "test".to_owned(),
            parts: self.parts.clone(),
        };
        let vars = Env::new(move |name| vars.get(name).cloned());
        Platform::local(vars, services, self.clock.clock(), entropy())
    }

    /// Opens a worker, or a function without its routes.
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn open<A, E: Into<Error>>(&self, open: impl FnOnce(&Platform) -> Result<A, E>) -> A {
        let opened = open(&self.platform()).map_err(Into::into);
        opened.expect("a function that starts")
    }

    /// The authorizer in front of a function.
    ///
    /// # Panics
    /// Never: the limits are values.
    pub fn gate(&self) -> Authorizer {
        self.platform().gate().expect("limits are values")
    }

    /// A function that answers HTTP: `services.api(App::from_env, routes)`.
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn api<A, E: Into<Error>>(
        &self,
        open: impl FnOnce(&Platform) -> Result<A, E>,
        routes: impl FnOnce(A, Authorizer) -> Routes,
    ) -> Api {
        Api::new(routes(self.open(open), self.gate()))
    }
}

/// A fresh, empty table. It lives as long as the test's runtime.
///
/// # Panics
/// When no embedded DynamoDB can be started.
pub async fn table() -> Store {
    let store = Store::open(&dynamodb().await, TABLE);
    store.create_table().await.expect("a table can be made");
    store
}

/// A fresh DynamoDB without tables, and the configuration that reaches it.
///
/// # Panics
/// When it cannot be started.
pub async fn dynamodb() -> SdkConfig {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port has an address");
    let database = dynoxide::Database::memory().expect("a database in memory");
    tokio::spawn(async move {
        let forever = std::future::pending();
        // Ends with the runtime of the test; an error has no receiver.
        let _ = dynoxide::server::serve_with_shutdown(listener, database, forever).await;
    });
    aws_at(format!("http://{address}"))
}

/// The configuration of clients of AWS that call this URL.
pub fn aws_at(url: impl Into<String>) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "testkit");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(url)
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

/// Serves these routes on loopback in place of a service of AWS; the configuration of its clients. It ends with the
/// runtime of the test.
///
/// # Panics
/// When it cannot be started.
pub async fn aws_stand_in(routes: Router) -> SdkConfig {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port has an address");
    tokio::spawn(async move { axum::serve(listener, routes).await.expect("served") });
    aws_at(format!("http://{address}"))
}
