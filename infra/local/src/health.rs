//! `GET /health`: whether the service can read its table, for containers and load balancers.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use posthaste_model::{Clock, Timestamp};
use posthaste_store::Store;
use serde_json::{Value, json};

/// Seconds for which an answer is repeated: a request needs no key, and each read of a deployed table costs.
const VALID: i64 = 5;

#[derive(Clone)]
struct Health {
    store: Store,
    clock: Clock,
    /// When the table was read last, and whether it could be.
    last: Arc<Mutex<Option<(Timestamp, bool)>>>,
}

/// The route.
pub(crate) fn routes(store: Store, clock: Clock) -> Router {
    let health = Health {
        store,
        clock,
        last: Arc::default(),
    };
    Router::new()
        .route("/health", get(answer))
        .with_state(health)
}

async fn answer(State(health): State<Health>) -> (StatusCode, Json<Value>) {
    let (status, word) = if health.is_well().await {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    };
    let version = env!("CARGO_PKG_VERSION");
    (status, Json(json!({"status": word, "version": version})))
}

impl Health {
    async fn is_well(&self) -> bool {
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
    use posthaste_testkit::{FailAfter, TABLE, TestClock, dynamodb};

    use super::*;

    #[tokio::test]
    async fn a_table_that_cannot_be_read_is_said_within_seconds() {
        let faults = FailAfter::default();
        let store = Store::open(&faults.around(&dynamodb().await), TABLE);
        store.create_table().await.unwrap();
        let clock = TestClock::default();
        let health = Health {
            store,
            clock: clock.clock(),
            last: Arc::default(),
        };
        assert!(health.is_well().await);
        faults.fail_after(0, false);
        assert!(health.is_well().await, "the answer of just now");
        clock.advance(VALID);
        assert!(!health.is_well().await);
        faults.restore();
        clock.advance(VALID);
        assert!(health.is_well().await);
    }
}
