//! Entries of lists and groups that are taken over from another service.

use posthaste_model::Timestamp;
use posthaste_store::{GroupSaved, ListEntry, ListWindow, Mark, SuppressionList};

use crate::{NOW, new_account};

fn entry(name: &str, list: SuppressionList, at: i64) -> ListEntry {
    ListEntry {
        folded: format!("{name}@example.com"),
        list,
        mark: Mark {
            reason: Some(format!("since {at}")),
            ..Mark::at(Timestamp(at))
        },
    }
}

#[tokio::test]
async fn many_entries_are_written_once_and_counted() {
    const GROUP: SuppressionList = SuppressionList::Group(1);
    let (store, account) = new_account().await;
    let made = store.create_group(&account, ("News", ""), false).await;
    assert!(matches!(made.unwrap(), GroupSaved::Done(_)));
    // Past two transactions, and some addresses on two lists.
    let mut entries: Vec<ListEntry> = (0..120)
        .map(|i| entry(&format!("a{i}"), GROUP, 1_000 + i))
        .collect();
    entries.extend((0..30).map(|i| entry(&format!("a{i}"), SuppressionList::Bounces, 50)));
    for added in [150, 0] {
        let put = store.suppress_many(&account, entries.clone()).await;
        assert_eq!(put.unwrap(), added);
        let group = store.group(&account, 1).await.unwrap().unwrap();
        assert_eq!(group.unsubscribes, 120);
        let window = ListWindow::first(500);
        for (list, count) in [(GROUP, 120), (SuppressionList::Bounces, 30)] {
            let page = store.list_page(&account, list, &window, |_| true).await;
            assert_eq!(page.unwrap().len(), count, "{list:?}");
        }
    }
}

#[tokio::test]
async fn a_later_entry_takes_the_place_of_an_earlier_one() {
    const LIST: SuppressionList = SuppressionList::Bounces;
    let (store, account) = new_account().await;
    for (at, added, want) in [(20, 1, 20), (10, 0, 20), (30, 1, 30)] {
        let put = store.suppress_many(&account, vec![entry("a", LIST, at)]);
        assert_eq!(put.await.unwrap(), added);
        let window = ListWindow::first(10);
        let page = store.list_page(&account, LIST, &window, |_| true).await;
        let page = page.unwrap();
        assert_eq!(page.len(), 1, "an entry of an earlier time is left");
        assert_eq!(page[0].mark.at, Timestamp(want));
        assert_eq!(page[0].mark.reason, Some(format!("since {want}")));
    }
}

#[tokio::test]
async fn addresses_that_others_change_meanwhile_keep_both_changes() {
    let (store, account) = new_account().await;
    let entries: Vec<ListEntry> = (0..60)
        .map(|i| entry(&format!("a{i}"), SuppressionList::Bounces, 5))
        .collect();
    let left: Vec<String> = entries.iter().map(|entry| entry.folded.clone()).collect();
    let mark = Mark::at(NOW);
    let other = store.suppress_all(&account, &left, SuppressionList::Unsubscribes, &mark);
    let (put, other) = tokio::join!(store.suppress_many(&account, entries.clone()), other);
    put.unwrap();
    other.unwrap();
    for folded in &left {
        let lists = store.suppressed(&account, folded).await.unwrap();
        assert_eq!(lists.count(), 2, "{folded}");
    }
}

#[tokio::test]
async fn a_group_keeps_a_free_id_and_later_ones_are_higher() {
    let (store, account) = new_account().await;
    let place = |id, name: &'static str| store.place_group(&account, id, (name, ""), false);
    assert!(matches!(place(7, "News").await.unwrap(), GroupSaved::Done(group) if group.id == 7));
    assert_eq!(place(7, "Other").await.unwrap(), GroupSaved::IdTaken);
    assert_eq!(place(8, "news").await.unwrap(), GroupSaved::NameTaken);
    assert!(matches!(place(3, "Early").await.unwrap(), GroupSaved::Done(group) if group.id == 3));
    let next = store.create_group(&account, ("Next", ""), false).await;
    assert!(matches!(next.unwrap(), GroupSaved::Done(group) if group.id == 9));
}
