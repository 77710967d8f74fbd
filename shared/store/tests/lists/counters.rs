//! Counters that several batches add to at the same moment.

use std::collections::BTreeMap;

use posthaste_model::{AccountId, Segment, Segmentation, Timestamp};
use posthaste_store::{METRICS, MailEnd, SegmentCounts, SendingRates, Store, StoreError, Tally};
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
async fn a_span_of_an_account_is_read_whole_however_many_categories_it_has() {
    let store = posthaste_testkit::table().await;
    let days = ["2027-01-14", DAY, "2027-01-16"].map(str::to_owned);
    for categories in [3, 600] {
        let account = entropy().account_id();
        let mut tally = Tally::default();
        for day in [&days[0], &days[1]] {
            let names = (0..=categories).map(|n| match n {
                0 => String::new(),
                n => format!("order {n}"),
            });
            let counts = names.map(|name| {
                let counts = BTreeMap::from([("delivered", 1)]);
                ((day.clone(), name), counts)
            });
            tally.counters.extend(counts);
        }
        let counted = store.count_batch(&account, "one", &tally, NOW);
        counted.await.unwrap();
        let found = store.account_span_stats(&account, days.to_vec());
        let found = found.await.unwrap();
        let mut seen: Vec<_> = found
            .iter()
            .map(|day| (day.day.as_str(), day.category.as_str()))
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [("2027-01-14", ""), (DAY, "")], "{categories}");
        // A day that is not asked for ends the span.
        let first = store.account_span_stats(&account, days[..1].to_vec());
        assert_eq!(first.await.unwrap().len(), 1, "{categories}");
    }
    let account = entropy().account_id();
    let none = store.account_span_stats(&account, Vec::new()).await;
    assert_eq!(none, Ok(Vec::new()));
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

/// Every counter that there is, once: the end of a mail in each hour, and each metric of each segment.
fn everything() -> Tally {
    let counters = METRICS.map(|metric| (metric, 1));
    let mut tally = Tally {
        counters: BTreeMap::from([((DAY.to_owned(), String::new()), BTreeMap::from(counters))]),
        ..Tally::default()
    };
    let midnight = Timestamp(NOW.0 - NOW.0 % 86_400);
    assert_eq!(midnight.day(), DAY);
    for hour in 0..24 {
        for end in [
            MailEnd::Delivered,
            MailEnd::Bounced,
            MailEnd::Blocked,
            MailEnd::Complained,
        ] {
            tally.hours.add(midnight.plus(hour * 3_600), end);
        }
    }
    for by in Segmentation::ALL {
        for segment in by.segments() {
            for metric in by.metrics() {
                tally.segments.add(DAY, segment, metric);
            }
        }
    }
    tally
}

#[tokio::test]
async fn a_batch_of_every_counter_is_counted_once_and_fits_every_update() {
    let faults = FaultProxy::default();
    let store = faults.table().await;
    let account = entropy().account_id();
    let tally = everything();
    for _ in 0..2 {
        let counted = store.count_batch(&account, "all", &tally, NOW);
        counted.await.unwrap();
    }
    let days = store.day_stats(&account, DAY, DAY).await.unwrap();
    assert_eq!(days.len(), 4, "rows");
    for metric in METRICS {
        assert_eq!(
            days.iter().map(|day| day.metric(metric)).sum::<i64>(),
            1,
            "{metric}"
        );
    }
    for by in Segmentation::ALL {
        let counters = days.iter().flat_map(|day| day.segments(by));
        let counters: Vec<_> = counters.map(|(_, _, count)| count).collect();
        assert_eq!(counters.len(), by.segments().len() * by.metrics().len());
        assert!(counters.iter().all(|count| *count == 1), "{by:?}");
    }
}

/// A row is billed by each KB. Most accounts have a few providers and clients, and every update of their row adds to it.
#[tokio::test]
async fn the_row_of_a_day_of_an_ordinary_account_has_at_most_two_kilobytes() {
    let store = posthaste_testkit::table().await;
    let account = entropy().account_id();
    let mut tally = everything();
    tally.segments = SegmentCounts::default();
    for provider in [
        "gmail.com",
        "outlook.com",
        "yahoo.com",
        "icloud.com",
        "example.com",
    ] {
        let provider = Segment::provider(&format!("ann@{provider}"));
        for metric in provider.by.metrics() {
            tally.segments.add(DAY, provider, metric);
        }
    }
    for by in [
        Segmentation::Client,
        Segmentation::Device,
        Segmentation::Browser,
    ] {
        for segment in by.segments().into_iter().take(6) {
            for metric in by.metrics() {
                tally.segments.add(DAY, segment, metric);
            }
        }
    }
    let counted = store.count_batch(&account, "all", &tally, NOW);
    counted.await.unwrap();
    let days = store.day_stats(&account, DAY, DAY).await.unwrap();
    // A number of six digits has four bytes (DynamoDB Developer Guide, "Item sizes and formats").
    let counters = days.iter().flat_map(|day| day.counters.keys());
    let size: usize = 150 + counters.map(|name| name.len() + 4).sum::<usize>();
    assert!((1_024..=2_048).contains(&size), "{size} bytes");
}
