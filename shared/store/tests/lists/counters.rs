//! Counters that several batches add to at the same moment.

use std::collections::BTreeMap;

use posthaste_model::{AccountId, Timestamp};
use posthaste_store::{MailEnd, SendingRates, Store, StoreError, Tally};
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
async fn the_figures_of_an_account_are_read_without_its_categories() {
    let store = posthaste_testkit::table().await;
    let account = entropy().account_id();
    let mut tally = one_delivered();
    let of_category = |name: usize| (DAY.to_owned(), format!("order {name}"));
    let category = |name| (of_category(name), BTreeMap::from([("delivered", 1)]));
    tally.counters.extend((0..40).map(category));
    let counted = store.count_batch(&account, "one", &tally, NOW);
    counted.await.unwrap();
    let days = ["2027-01-14", DAY, "2027-01-16"].map(str::to_owned);
    let found = store.account_day_stats(&account, days).await.unwrap();
    let [day] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((day.category.as_str(), day.metric("delivered")), ("", 1));
    assert_eq!(store.day_stats(&account, DAY, DAY).await.unwrap().len(), 41);
}

#[tokio::test]
async fn days_that_end_before_they_begin_hold_nothing() {
    let store = posthaste_testkit::table().await;
    let account = entropy().account_id();
    let (first, last) = (DAY, "2000-01-01");
    assert!(
        store
            .day_stats(&account, first, last)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        store
            .day_bounces(&account, first, last)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        store
            .received(&account, first, last)
            .await
            .unwrap()
            .is_empty()
    );
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

#[tokio::test]
async fn writers_that_meet_count_in_rows_of_their_own_and_readers_add_them_up() {
    let proxy = FaultProxy::default();
    let store = proxy.table().await;
    let account = entropy().account_id();
    let mut tally = one_delivered();
    let bounce = (
        DAY.to_owned(),
        "Invalid Address".to_owned(),
        "b.co".to_owned(),
    );
    tally.bounces.insert(bounce, 1);
    let noon = Timestamp(1_800_014_400);
    assert_eq!(noon.day(), DAY);
    tally.hours.add(noon, MailEnd::Delivered);
    tally.hours.add(noon, MailEnd::Bounced);
    for (batch, collisions) in [("one", 0), ("two", 1), ("three", 1), ("four", 3)] {
        proxy.collide(collisions);
        let counted = store.count_batch(&account, batch, &tally, NOW);
        counted.await.unwrap();
    }
    let rows = store.day_stats(&account, DAY, DAY).await.unwrap();
    assert!(rows.len() > 1 && rows.iter().all(|row| row.day == DAY));
    assert_eq!(delivered(&store, &account).await, 4);
    let bounces = store.day_bounces(&account, DAY, DAY).await.unwrap();
    assert_eq!(bounces.iter().map(|row| row.count).sum::<i64>(), 4);
    let rates = store
        .sending_rates(&account, Timestamp(0), noon)
        .await
        .unwrap();
    let want = SendingRates {
        mails: 8,
        bounces: 4,
        complaints: 0,
    };
    assert_eq!(rates, want);
    // Of the days around it, none is read.
    for day in ["2027-01-14", "2027-01-16"] {
        assert!(
            store
                .day_stats(&account, day, day)
                .await
                .unwrap()
                .is_empty()
        );
        assert!(
            store
                .day_bounces(&account, day, day)
                .await
                .unwrap()
                .is_empty()
        );
    }
}
