use posthaste_model::AccountId;
use posthaste_store::{Group, GroupChange, GroupSaved, Mark, Store, SuppressionList};

use crate::{NOW, new_account};

async fn make(store: &Store, account: &AccountId, name: &str, default: bool) -> Group {
    let made = store.create_group(account, (name, "about"), default).await;
    match made.unwrap() {
        GroupSaved::Done(group) => *group,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_name_is_held_once_and_given_back() {
    let (store, account) = new_account().await;
    let news = make(&store, &account, "News", false).await;
    let taken = store.create_group(&account, (" news ", "x"), false).await;
    assert_eq!(taken.unwrap(), GroupSaved::NameTaken);

    let offers = make(&store, &account, "Offers", false).await;
    let rename = |name: &str| GroupChange {
        name: Some(name.to_owned()),
        ..GroupChange::default()
    };
    let taken = store
        .change_group(&account, offers.id, &rename("NEWS"))
        .await;
    assert_eq!(taken.unwrap(), GroupSaved::NameTaken);
    let same = store.change_group(&account, news.id, &rename("NEWS")).await;
    assert!(matches!(same.unwrap(), GroupSaved::Done(group) if group.name == "NEWS"));
    let missing = store.change_group(&account, 99, &rename("Else")).await;
    assert_eq!(missing.unwrap(), GroupSaved::Missing);

    assert!(store.delete_group(&account, news.id).await.unwrap());
    assert!(!store.delete_group(&account, news.id).await.unwrap());
    let again = make(&store, &account, "news", false).await;
    assert!(again.id > offers.id, "an id is never given twice");
}

#[tokio::test]
async fn the_two_hundred_and_first_group_is_refused() {
    let (store, account) = new_account().await;
    for i in 0..200 {
        make(&store, &account, &format!("g{i}"), false).await;
    }
    let more = store.create_group(&account, ("more", ""), false).await;
    assert_eq!(more.unwrap(), GroupSaved::Full);
    // What was refused holds no name.
    let groups = store.groups(&account).await.unwrap();
    assert!(store.delete_group(&account, groups[0].id).await.unwrap());
    make(&store, &account, "more", false).await;
}

#[tokio::test]
async fn one_group_at_most_is_the_default() {
    let (store, account) = new_account().await;
    let (a, b) = (
        make(&store, &account, "a", true).await,
        make(&store, &account, "b", true).await,
    );
    let defaults = async || {
        let groups = store.groups(&account).await.unwrap();
        groups
            .iter()
            .map(|group| group.is_default)
            .collect::<Vec<_>>()
    };
    assert_eq!(defaults().await, [false, true]);
    let set = |is_default| GroupChange {
        is_default: Some(is_default),
        ..GroupChange::default()
    };
    let _ = store
        .change_group(&account, a.id, &set(true))
        .await
        .unwrap();
    assert_eq!(defaults().await, [true, false]);
    // Taking from one what it does not have changes nothing.
    let _ = store
        .change_group(&account, b.id, &set(false))
        .await
        .unwrap();
    assert_eq!(defaults().await, [true, false]);
    let _ = store
        .change_group(&account, a.id, &set(false))
        .await
        .unwrap();
    assert_eq!(defaults().await, [false, false]);
}

#[tokio::test]
async fn a_group_counts_who_left_it_and_forgets_them_when_it_goes() {
    let (store, account) = new_account().await;
    let group = make(&store, &account, "news", false).await;
    let list = SuppressionList::Group(group.id);
    let emails: Vec<String> = (0..5).map(|i| format!("r{i}@example.com")).collect();
    for _ in 0..2 {
        let mark = Mark::at(NOW);
        store
            .suppress_all(&account, &emails, list, &mark)
            .await
            .unwrap();
    }
    store
        .unsuppress_all(&account, &emails[..2], list)
        .await
        .unwrap();
    store
        .unsuppress_all(&account, &emails[..2], list)
        .await
        .unwrap();
    let counted = store.group(&account, group.id).await.unwrap().unwrap();
    assert_eq!(counted.unsubscribes, 3);

    store.delete_group(&account, group.id).await.unwrap();
    let found = store.suppressed_among(&account, &emails).await.unwrap();
    assert!(found.is_empty());
}

#[tokio::test]
async fn that_a_group_is_written_to_is_noted_once_a_day() {
    let (store, account) = new_account().await;
    let group = make(&store, &account, "news", false).await;
    for (now, want) in [
        (NOW, NOW),
        (NOW.plus(86_399), NOW),
        (NOW.plus(86_400), NOW.plus(86_400)),
    ] {
        store
            .note_group_mailed(&account, group.id, now)
            .await
            .unwrap();
        let noted = store.group(&account, group.id).await.unwrap().unwrap();
        assert_eq!(noted.mailed_at, Some(want));
    }
    store.note_group_mailed(&account, 99, NOW).await.unwrap();
    assert!(store.group(&account, 99).await.unwrap().is_none());
}
