//! Writes that meet a transaction on the same row.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use posthaste_model::AccountId;
use posthaste_store::{
    Embedded, Mark, RateWindow, Store, StoreError, SuppressionList, TableResponse,
};
use posthaste_testkit::{Scale, Tenant};
use serde_json::json;

use crate::NOW;

/// A table whose next writes collide.
#[derive(Clone, Debug)]
struct Colliding {
    table: Scale,
    left: Arc<AtomicUsize>,
}

impl Colliding {
    async fn open() -> (Self, Store) {
        let (table, _) = Scale::table().await;
        let left = Arc::default();
        let colliding = Self { table, left };
        let store = Store::embedded(Arc::new(colliding.clone()), "posthaste");
        (colliding, store)
    }

    fn collide(&self, times: usize) {
        self.left.store(times, Ordering::SeqCst);
    }
}

impl Embedded for Colliding {
    fn call(&self, operation: &str, body: &[u8]) -> BoxFuture<'static, Option<TableResponse>> {
        let answer = match operation {
            "PutItem" | "UpdateItem" | "DeleteItem" => json!({
                "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
                "message": "Transaction is ongoing for the item",
            }),
            "TransactWriteItems" => json!({
                "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
                "message": "Transaction cancelled",
                "CancellationReasons": [{"Code": "TransactionConflict"}],
            }),
            _ => return self.table.call(operation, body),
        };
        let take = |left: usize| left.checked_sub(1);
        let collides = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        if collides.is_err() {
            return self.table.call(operation, body);
        }
        let body = answer.to_string();
        ready(Some(TableResponse { status: 400, body })).boxed()
    }
}

fn window<'a>(account: &'a AccountId, number: i64) -> RateWindow<'a> {
    RateWindow {
        account,
        endpoint: "GET /v3/scopes",
        number,
        end: NOW.plus(60),
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_meets_a_transaction_is_made_after_it() {
    let (table, store) = Colliding::open().await;
    let account = Tenant::new(&store, "ann", NOW).await.account.id;
    for times in [1, 11] {
        table.collide(times);
        let number = i64::try_from(times).unwrap();
        let leased = store.lease(window(&account, number), 5).await;
        assert_eq!(leased, Ok(5), "{times}");

        table.collide(times);
        let (list, mark) = (SuppressionList::Bounces, Mark::at(NOW));
        let email = [format!("{times}@example.net")];
        let listed = store.suppress_all(&account, &email, list, &mark).await;
        assert_eq!(listed, Ok(()), "{times}");
        let found = store.suppressed(&account, &email[0]).await.unwrap();
        assert!(found.on(list).is_some(), "{times}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_that_stays_busy_is_refused_as_one_that_may_be_tried_later() {
    let (table, store) = Colliding::open().await;
    let account = Tenant::new(&store, "ann", NOW).await.account.id;
    table.collide(1_000);
    let refused = store.lease(window(&account, 1), 5).await;
    assert!(
        matches!(refused, Err(StoreError::Throttled(_))),
        "{refused:?}"
    );
    let mark = Mark::at(NOW);
    let email = ["a@example.net".to_owned()];
    let refused = store.suppress_all(&account, &email, SuppressionList::Bounces, &mark);
    let refused = refused.await;
    assert!(
        matches!(refused, Err(StoreError::Contended(_))),
        "{refused:?}"
    );
    table.collide(0);
    assert_eq!(store.lease(window(&account, 1), 5).await, Ok(5));
}
