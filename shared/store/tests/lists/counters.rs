//! Counters that several batches add to at the same moment.

use std::collections::BTreeMap;

use posthaste_model::AccountId;
use posthaste_store::{Store, StoreError, Tally};
use posthaste_testkit::{FaultProxy, entropy};

use crate::NOW;

const DAY: &str = "2027-01-15";

fn one_delivered() -> Tally {
    let place = (DAY.to_owned(), String::new());
    Tally {
        counters: BTreeMap::from([(place, BTreeMap::from([("delivered", 1)]))]),
        ..Tally::default()
    }
}

async fn delivered(store: &Store, account: &AccountId) -> i64 {
    let days = store.day_stats(account, DAY, DAY).await.unwrap();
    days.iter().map(|day| day.metric("delivered")).sum()
}

#[tokio::test]
async fn a_count_that_collides_is_made_again() {
    let meddler = FaultProxy::default();
    let store = meddler.table().await;
    let account = entropy().account_id();
    let tally = one_delivered();

    meddler.collide(2);
    for _ in 0..2 {
        let counted = store.count_batch(&account, "one", &tally, NOW);
        counted.await.unwrap();
    }

    assert_eq!(delivered(&store, &account).await, 1);
    // Two collisions, the count, and the one that found its mark.
    assert_eq!(meddler.calls("TransactWriteItems"), 4);
}

#[tokio::test]
async fn a_count_that_always_collides_ends_and_one_that_may_not_be_made_is_tried_once() {
    let meddler = FaultProxy::default();
    let store = meddler.table().await;
    let account = entropy().account_id();
    let tally = one_delivered();

    meddler.collide(1_000);
    let counted = store.count_batch(&account, "one", &tally, NOW);
    assert!(matches!(counted.await, Err(StoreError::Contended(_))));

    let before = meddler.calls("TransactWriteItems");
    meddler.deny("TransactWriteItems", 1);
    let counted = store.count_batch(&account, "one", &tally, NOW);
    assert!(matches!(counted.await, Err(StoreError::Unreachable(_))));
    assert_eq!(meddler.calls("TransactWriteItems"), before + 1);
    assert_eq!(delivered(&store, &account).await, 0);
}
