use posthaste_model::{BounceType, Event, EventKind, Timestamp};
use posthaste_store::{EXAMINED_ENTRIES, ListWindow, Mark, Suppressed, SuppressionList};

use crate::{NOW, new_account};

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[tokio::test]
async fn an_address_may_be_on_several_lists_and_leave_each_alone() {
    let (store, account) = new_account().await;
    let ann = texts(&["ann@example.com"]);
    for list in [
        SuppressionList::Bounces,
        SuppressionList::Group(7),
        SuppressionList::Group(12),
    ] {
        let mark = Mark::at(NOW);
        store
            .suppress_all(&account, &ann, list, &mark)
            .await
            .unwrap();
    }

    let other = texts(&["bob@example.com", "ann@example.com", "ann@example.com"]);
    let found = store.suppressed_among(&account, &other).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].groups().collect::<Vec<_>>(), [12, 7]);
    assert!(
        found[0].on(SuppressionList::Bounces).is_some()
            && found[0].on(SuppressionList::Group(1)).is_none()
    );

    for list in [
        SuppressionList::Bounces,
        SuppressionList::Group(12),
        SuppressionList::Blocks,
    ] {
        store.unsuppress_all(&account, &ann, list).await.unwrap();
    }
    let left = store.suppressed(&account, &ann[0]).await.unwrap();
    assert_eq!(left.groups().collect::<Vec<_>>(), [7]);
    assert!(left.on(SuppressionList::Bounces).is_none());
    store
        .unsuppress_all(&account, &ann, SuppressionList::Group(7))
        .await
        .unwrap();
    let left = store.suppressed(&account, &ann[0]).await.unwrap();
    assert_eq!(left, Suppressed::none("ann@example.com"));
}

#[tokio::test]
async fn a_list_is_read_latest_first_by_time_offset_and_wish() {
    let (store, account) = new_account().await;
    // Across every partition, and more than one slice of each.
    for i in 0..60_i64 {
        let email = texts(&[&format!("r{i:02}@example.com")]);
        let mark = Mark::at(NOW.plus(i));
        store
            .suppress_all(&account, &email, SuppressionList::Blocks, &mark)
            .await
            .unwrap();
    }
    let read = async |window: ListWindow, offset, limit, end: &str| {
        let window = ListWindow {
            offset,
            limit,
            ..window
        };
        let wanted = |listed: &posthaste_store::SuppressedAddress| listed.email.ends_with(end);
        let page = store
            .list_page(&account, SuppressionList::Blocks, &window, wanted)
            .await
            .unwrap();
        page.into_iter()
            .map(|listed| listed.mark.at.since(NOW))
            .collect::<Vec<_>>()
    };
    let all = ListWindow::first(0);
    assert_eq!(
        read(all, 0, 500, "").await,
        (0..60).rev().collect::<Vec<_>>()
    );
    assert_eq!(read(all, 57, 500, "").await, [2, 1, 0]);
    assert_eq!(read(all, 3, 2, "").await, [56, 55]);
    assert_eq!(read(all, 60, 5, "").await, [] as [i64; 0]);
    assert_eq!(read(all, 1, 3, "5@example.com").await, [45, 35, 25]);
    let window = ListWindow {
        from: Some(NOW.plus(10)),
        to: Some(NOW.plus(12)),
        ..all
    };
    assert_eq!(read(window, 0, 500, "").await, [12, 11, 10]);

    store
        .clear_list(&account, SuppressionList::Blocks)
        .await
        .unwrap();
    assert_eq!(read(all, 0, 500, "").await, [] as [i64; 0]);
    let one = store.suppressed(&account, "r07@example.com").await.unwrap();
    assert!(one.on(SuppressionList::Blocks).is_none());
}

#[tokio::test]
async fn an_address_is_taken_off_more_lists_than_one_transaction_holds() {
    let (store, account) = new_account().await;
    let ann = texts(&["ann@example.com"]);
    for list in (1..=120)
        .map(SuppressionList::Group)
        .chain([SuppressionList::Bounces])
    {
        let mark = Mark::at(NOW);
        let put = store.suppress_all(&account, &ann, list, &mark);
        put.await.unwrap();
    }
    for count in [121, 0] {
        let gone = store.unsuppress_everywhere(&account, &ann[0]).await;
        assert_eq!(gone.unwrap(), count);
    }
    let left = store.suppressed(&account, &ann[0]).await.unwrap();
    assert_eq!(left, Suppressed::none("ann@example.com"));
    for list in [
        SuppressionList::Group(1),
        SuppressionList::Group(120),
        SuppressionList::Bounces,
    ] {
        let window = ListWindow::first(9);
        let page = store.list_page(&account, list, &window, |_| true).await;
        assert_eq!(page.unwrap(), []);
    }
}

#[tokio::test]
async fn what_an_event_means_is_learnt_once() {
    let (store, account) = new_account().await;
    let event = |kind, at| {
        let email = "Ann@Example.COM".to_owned();
        let mut event = Event::new("id".into(), account.clone(), kind, Timestamp(at), email);
        event.bounce_type = Some(BounceType::Bounce);
        event.reason = Some(format!("550 at {at}"));
        event.asm_group_id = Some(3);
        event
    };
    let events = [
        event(EventKind::Delivered, 5),
        event(EventKind::Bounce, 10),
        event(EventKind::Bounce, 10),
        event(EventKind::Bounce, 7),
        event(EventKind::GroupUnsubscribe, 11),
        event(EventKind::SpamReport, 12),
    ];
    for _ in 0..2 {
        store.apply_suppressions(&events).await.unwrap();
    }
    let ann = store.suppressed(&account, "ann@example.com").await.unwrap();
    assert_eq!(
        ann.on(SuppressionList::Bounces).unwrap().reason.as_deref(),
        Some("550 at 10")
    );
    assert!(
        ann.on(SuppressionList::SpamReports).is_some()
            && ann.on(SuppressionList::Unsubscribes).is_none()
    );
    assert_eq!(ann.groups().collect::<Vec<_>>(), [3]);

    // A later bounce takes the place of the earlier one; the list has the address once.
    store
        .apply_suppressions(&[event(EventKind::Bounce, 20)])
        .await
        .unwrap();
    let page = store
        .list_page(
            &account,
            SuppressionList::Bounces,
            &ListWindow::first(9),
            |_| true,
        )
        .await
        .unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].mark.at, Timestamp(20));
}

#[tokio::test]
async fn changes_at_once_are_all_made() {
    let (store, account) = new_account().await;
    let join = |group| {
        let (store, account) = (store.clone(), account.clone());
        async move {
            let lists = store.change_suppressed(&account, "ann@example.com", |lists| {
                lists.put_once(SuppressionList::Group(group), Mark::at(NOW));
            });
            lists.await.unwrap();
        }
    };
    tokio::join!(join(1), join(2), join(3), join(4));
    let ann = store.suppressed(&account, "ann@example.com").await.unwrap();
    assert_eq!(ann.groups().count(), 4);
}

#[tokio::test]
async fn a_page_behind_a_place_examines_so_many_entries_and_the_next_goes_on() {
    let (_, store) = posthaste_testkit::Scale::table().await;
    let account = posthaste_testkit::entropy().account_id();
    let list = SuppressionList::Unsubscribes;
    let emails = |numbers: std::ops::Range<usize>| -> Vec<String> {
        numbers.map(|n| format!("r{n:04}@example.com")).collect()
    };
    let all = EXAMINED_ENTRIES + 100;
    // All of the same second.
    for first in (0..all).step_by(100) {
        let some = emails(first..first + 100);
        let mark = Mark::at(NOW);
        let listed = store.suppress_all(&account, &some, list, &mark);
        listed.await.unwrap();
    }
    let window = ListWindow::first(900);
    let read = async |window: &ListWindow, after, end: &str| {
        let wanted = |listed: &posthaste_store::SuppressedAddress| listed.email.ends_with(end);
        let part = store.list_part((&account, list), window, after, wanted);
        let part = part.await.unwrap();
        let rows = part.rows.into_iter().map(|listed| listed.email);
        (rows.collect::<Vec<_>>(), part.next)
    };
    let (mut found, mut after, mut pages) = (Vec::new(), None, 0);
    loop {
        let (rows, next) = read(&window, after, "").await;
        found.extend(rows);
        pages += 1;
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((found, pages), (emails(0..all), 3));
    let (none, next) = read(&window, None, "@nowhere.example").await;
    assert!(none.is_empty() && next.is_some());
    assert_eq!(read(&window, next, "@nowhere.example").await, (none, None));
    // A place outside of the window is one end of it.
    let past = ListWindow {
        to: Some(NOW.plus(-1)),
        ..window
    };
    let early = ListWindow {
        from: Some(NOW.plus(1)),
        ..window
    };
    let place = Some(format!("{}#r0001@example.com", 9_999_999_999_i64 - NOW.0));
    for window in [past, early] {
        assert_eq!(read(&window, place.clone(), "").await, (Vec::new(), None));
    }
}
