//! `GET /health`: whether the parts work that the service cannot do without, for containers and load balancers.
//!
//! The answer holds the version and one word for each part. Nothing in it is secret, so it needs no key.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use posthaste_model::{Clock, Timestamp};
use posthaste_queue::Local;
use posthaste_store::Store;
use serde_json::{Value, json};

/// Seconds for which an answer is repeated: a request needs no key, and each read of a deployed table costs.
const VALID: i64 = 5;

#[derive(Clone)]
struct Health {
    store: Store,
    /// A queue of the embedded engine. What may send to SQS may not read its state, so that of a stack is left out.
    queues: Option<Local>,
    clock: Clock,
    /// When the table was read last, and whether it could be.
    last: Arc<Mutex<Option<(Timestamp, bool)>>>,
}

/// The route, for a table and, where the queues are embedded, one of them.
pub(crate) fn routes(store: Store, queues: Option<Local>, clock: Clock) -> Router {
    let health = Health {
        store,
        queues,
        clock,
        last: Arc::default(),
    };
    Router::new()
        .route("/health", get(answer))
        .with_state(health)
}

async fn answer(State(health): State<Health>) -> (StatusCode, Json<Value>) {
    let mut parts = BTreeMap::from([("table", health.is_table_readable().await)]);
    if let Some(queues) = &health.queues {
        parts.insert("queues", !queues.is_closed());
    }
    let is_well = parts.values().all(|well| *well);
    let status = if is_well {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let checks: BTreeMap<_, _> = parts
        .into_iter()
        .map(|(part, well)| (part, word(well)))
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    let body = json!({"status": word(is_well), "version": version, "checks": checks});
    (status, Json(body))
}

fn word(is_well: bool) -> &'static str {
    if is_well { "ok" } else { "unavailable" }
}

impl Health {
    async fn is_table_readable(&self) -> bool {
        let now = self.clock.now();
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, well)) = last
            && (0..VALID).contains(&now.since(at))
        {
            return well;
        }
        let read = self.store.first_account().await;
        if let Err(error) = &read {
            tracing::warn!(%error, "the table cannot be read: {error}");
        }
        let well = read.is_ok();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, well));
        well
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use posthaste_testkit::{FailAfter, TABLE, TestClock, dynamodb};
    use tower::ServiceExt as _;

    use super::*;
    use crate::engine::{Engine, SEND};

    async fn asked(routes: &Router) -> (StatusCode, Value) {
        let request = Request::get("/health").body(Body::empty()).unwrap();
        let answer = routes.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 1_000).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn expected(status: &str, checks: &Value) -> Value {
        json!({"status": status, "version": env!("CARGO_PKG_VERSION"), "checks": checks})
    }

    #[tokio::test]
    async fn a_table_that_cannot_be_read_is_said_within_seconds() {
        let faults = FailAfter::default();
        let store = Store::open(&faults.around(&dynamodb().await), TABLE);
        store.create_table().await.unwrap();
        let clock = TestClock::default();
        let routes = routes(store, None, clock.clock());
        let well = (StatusCode::OK, expected("ok", &json!({"table": "ok"})));
        assert_eq!(asked(&routes).await, well);
        faults.fail_after(0, false);
        assert_eq!(asked(&routes).await, well, "the answer of just now");
        clock.advance(VALID);
        let ill = expected("unavailable", &json!({"table": "unavailable"}));
        assert_eq!(
            asked(&routes).await,
            (StatusCode::SERVICE_UNAVAILABLE, ill.clone())
        );
        faults.restore();
        assert_eq!(asked(&routes).await.1, ill, "the answer of just now");
        clock.advance(VALID);
        assert_eq!(asked(&routes).await, well);
    }

    #[tokio::test]
    async fn queues_that_have_stopped_are_said_at_once() {
        let store = Store::open(&dynamodb().await, TABLE);
        store.create_table().await.unwrap();
        let clock = TestClock::default();
        let engine = Engine::start(None, clock.clock()).unwrap();
        // An engine ends when its last handle is gone, so this queue belongs to an inbox that is dropped.
        let (commands, inbox) = tokio::sync::mpsc::unbounded_channel();
        let running = routes(store.clone(), Some(engine.local(SEND)), clock.clock());
        let ended = routes(store, Some(Local::new(SEND, commands)), clock.clock());
        drop(inbox);
        let both = |queues: &str| json!({"table": "ok", "queues": queues});
        assert_eq!(
            asked(&running).await,
            (StatusCode::OK, expected("ok", &both("ok")))
        );
        let want = expected("unavailable", &both("unavailable"));
        assert_eq!(asked(&ended).await, (StatusCode::SERVICE_UNAVAILABLE, want));
        drop(running);
        engine.stop();
    }
}
