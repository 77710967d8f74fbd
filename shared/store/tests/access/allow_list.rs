use ipnet::IpNet;
use posthaste_model::AccountId;
use posthaste_store::{Allow, Disallow};

use crate::{NOW, new_account};

fn nets(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn entries_have_ids_that_are_never_given_again() {
    let (store, account) = new_account().await;
    let id = &account.id;
    let two = nets(&["192.0.2.1/32", "198.51.100.0/24"]);
    let Allow::Added(added) = store.allow_ips(id, &two, NOW).await.unwrap() else {
        panic!("not added");
    };
    assert_eq!(added.iter().map(|e| e.id).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(store.allowed_ips(id).await.unwrap(), added);
    assert_eq!(store.disallow_ips(id, &[2]).await, Ok(Disallow::Removed));
    let third = nets(&["203.0.113.0/24"]);
    let Allow::Added(added) = store.allow_ips(id, &third, NOW.plus(5)).await.unwrap() else {
        panic!("not added");
    };
    assert_eq!((added[0].id, added[0].created_at), (3, NOW.plus(5)));
    // Every change moved the mark that tells the gates to read anew.
    assert_eq!(store.account(id).await.unwrap().unwrap().allow_list, 3);
}

#[tokio::test]
async fn a_twin_is_refused_and_nothing_is_added() {
    let (store, account) = new_account().await;
    let id = &account.id;
    let one = nets(&["192.0.2.1/32"]);
    let _added = store.allow_ips(id, &one, NOW).await.unwrap();
    let mixed = nets(&["203.0.113.0/24", "192.0.2.1/32", "203.0.113.0/24"]);
    let twins = store.allow_ips(id, &mixed, NOW).await;
    assert_eq!(twins, Ok(Allow::Taken(vec![1, 2])));
    assert_eq!(store.allowed_ips(id).await.unwrap().len(), 1);
    let nobody = AccountId::from_bytes([0; 10]);
    let none = store.allow_ips(&nobody, &one, NOW).await;
    assert_eq!(none, Ok(Allow::NoAccount));
    assert_eq!(store.allowed_ips(&nobody).await, Ok(vec![]));
}

#[tokio::test]
async fn of_two_who_add_the_same_network_at_once_one_does() {
    let (store, account) = new_account().await;
    let one = nets(&["203.0.113.0/24"]);
    let add = || store.allow_ips(&account.id, &one, NOW);
    let (a, b, c) = tokio::join!(add(), add(), add());
    let all = [a.unwrap(), b.unwrap(), c.unwrap()];
    let added = all.iter().filter(|a| matches!(a, Allow::Added(_))).count();
    let taken = all.iter().filter(|a| **a == Allow::Taken(vec![0])).count();
    assert_eq!((added, taken), (1, 2));
    assert_eq!(store.allowed_ips(&account.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_unknown_id_keeps_the_others_on_the_list() {
    let (store, account) = new_account().await;
    let id = &account.id;
    let two = nets(&["192.0.2.1/32", "198.51.100.0/24"]);
    let _added = store.allow_ips(id, &two, NOW).await.unwrap();
    let unknown = store.disallow_ips(id, &[1, 7, 2, -1]).await;
    assert_eq!(unknown, Ok(Disallow::Unknown(vec![1, 3])));
    assert_eq!(store.allowed_ips(id).await.unwrap().len(), 2);
    // The same id twice is one entry.
    assert_eq!(store.disallow_ips(id, &[1, 1]).await, Ok(Disallow::Removed));
}

#[tokio::test]
async fn a_long_list_is_added_and_cleared_in_pieces() {
    let (store, account) = new_account().await;
    let id = &account.id;
    let many: Vec<IpNet> = (0..250_u8)
        .map(|i| IpNet::new([198, 51, 100, i].into(), 32).unwrap())
        .collect();
    let added = store.allow_ips(id, &many, NOW).await.unwrap();
    assert!(matches!(added, Allow::Added(added) if added.len() == 250));
    assert_eq!(store.clear_allowed_ips(id).await, Ok(250));
    assert_eq!(store.allowed_ips(id).await, Ok(vec![]));
    assert_eq!(store.clear_allowed_ips(id).await, Ok(0));
}
