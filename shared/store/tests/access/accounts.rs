use std::collections::BTreeMap;

use posthaste_model::{AccountId, KeyId};
use posthaste_store::{
    Account, AccountStatus, AuditEntry, AuditWindow, Borrower, ChangedBy, GroupSaved, Lent,
    ListWindow, Mark, ParseSetting, RateWindow, Region, Renamed, SettingCreation, SuppressionList,
    Tally,
};
use posthaste_testkit::{Tenant, entropy};

use crate::{NOW, new_account};

fn under(parent: &Account, username: &str) -> Account {
    Account {
        parent: Some(parent.id.clone()),
        ..Account::new(entropy().account_id(), username, NOW)
    }
}

#[tokio::test]
async fn a_subusers_name_is_unique_under_its_parent_whatever_its_case() {
    let (store, parent) = new_account().await;
    let other = Tenant::new(&store, "ann", NOW).await.account;
    assert!(store.create_account(&under(&parent, "Sub")).await.unwrap());
    assert!(!store.create_account(&under(&parent, "sUB")).await.unwrap());
    assert!(store.create_account(&under(&other, "sub")).await.unwrap());
    // A customer account goes by its id.
    let customer = Account {
        customer: true,
        ..under(&parent, "Sub")
    };
    assert!(store.create_account(&customer).await.unwrap());
    let names: Vec<_> = store.subusers(&parent.id).await.unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(store.accounts().await.unwrap().len(), 5);
}

#[tokio::test]
async fn the_customer_accounts_of_a_parent_are_listed_by_id_in_pages() {
    let (store, parent) = new_account().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let customer = Account {
            customer: true,
            ..under(&parent, "same")
        };
        assert!(store.create_account(&customer).await.unwrap());
        ids.push(customer.id);
    }
    assert!(store.create_account(&under(&parent, "sub")).await.unwrap());
    ids.sort_unstable();
    let list = async |after, limit| -> Vec<AccountId> {
        let found = store.customers(&parent.id, after, limit).await.unwrap();
        found.into_iter().map(|account| account.id).collect()
    };
    assert_eq!(list(None, 100).await, ids);
    assert_eq!(list(None, 2).await, ids[..2]);
    assert_eq!(list(Some(&ids[1]), 2).await, ids[2..]);
    let gone = store.account(&ids[0]).await.unwrap().unwrap();
    store.delete_account(&gone).await.unwrap();
    assert_eq!(list(None, 100).await, ids[1..]);
}

#[tokio::test]
async fn a_customer_account_of_an_earlier_release_is_listed_too() {
    let (store, parent) = new_account().await;
    // As it was stored: without a row under its parent.
    let orphan = Account::new(entropy().account_id(), "old", NOW);
    assert!(store.create_account(&orphan).await.unwrap());
    let done = store.update_account(&orphan.id, |account| {
        account.parent = Some(parent.id.clone());
        account.customer = true;
    });
    assert!(done.await.unwrap().is_some());
    for _ in 0..2 {
        let found = store.customers(&parent.id, None, 10).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id, orphan.id);
    }
}

#[tokio::test]
async fn a_renamed_subuser_is_found_by_its_new_name_alone() {
    let (store, parent) = new_account().await;
    let (one, two) = (under(&parent, "one"), under(&parent, "two"));
    for account in [&one, &two] {
        assert!(store.create_account(account).await.unwrap());
    }
    let rename = async |id, name| store.rename_account(id, name).await.unwrap();
    assert_eq!(rename(&one.id, "TWO").await, Renamed::Taken);
    let renamed = rename(&one.id, "three").await;
    assert!(matches!(renamed, Renamed::Done(account) if account.username == "three"));
    let found = async |name| store.subuser_id(&parent.id, name).await.unwrap();
    assert_eq!(found("one").await, None);
    assert_eq!(found("Three").await, Some(one.id.clone()));
    assert_eq!(found("two").await, Some(two.id.clone()));
    let unknown = entropy().account_id();
    assert_eq!(rename(&unknown, "x").await, Renamed::Missing);
}

#[tokio::test]
async fn of_two_who_want_a_name_at_once_one_gets_it() {
    let (store, parent) = new_account().await;
    let (one, two) = (under(&parent, "sub"), under(&parent, "sub"));
    let (a, b) = tokio::join!(store.create_account(&one), store.create_account(&two));
    assert!(a.unwrap() ^ b.unwrap());
    let winner = store.subuser_id(&parent.id, "SUB").await.unwrap().unwrap();
    assert!(store.account(&winner).await.unwrap().is_some());
    let all = store.accounts().await.unwrap();
    assert_eq!(all.len(), 2, "the loser left nothing behind");
}

#[tokio::test]
async fn changes_of_an_account_that_meet_are_both_kept() {
    let (store, account) = new_account().await;
    let nets = ["192.0.2.0/24".parse().unwrap()];
    let (status, region, listed) = tokio::join!(
        store.update_account(&account.id, |a| a.status = AccountStatus::Disabled),
        store.update_account(&account.id, |a| a.region = Region::Eu),
        store.allow_ips(&account.id, &nets, NOW),
    );
    assert!(status.unwrap().is_some() && region.unwrap().is_some() && listed.is_ok());
    let now = store.account(&account.id).await.unwrap().unwrap();
    let seen = (now.status, now.region, now.allow_list);
    assert_eq!(seen, (AccountStatus::Disabled, Region::Eu, 1));
    let nobody = AccountId::from_bytes([0; 10]);
    assert_eq!(store.update_account(&nobody, |_| {}).await, Ok(None));
}

#[tokio::test]
async fn a_deleted_account_leaves_nothing_behind() {
    let (store, parent) = new_account().await;
    let parent = Tenant {
        account: parent,
        key: String::new(),
    };
    let sub = parent.subuser(&store, "sub").await;
    let id = &sub.account.id;
    let nets: Vec<_> = (0..60)
        .map(|i| format!("192.0.2.{i}/32").parse().unwrap())
        .collect();
    let _added = store.allow_ips(id, &nets, NOW).await.unwrap();
    let seen = posthaste_store::AccessRecord {
        ip: [192, 0, 2, 1].into(),
        auth_method: "bearer",
        allowed: true,
        at: NOW,
    };
    store.record_attempt(id, seen).await.unwrap();
    let entry = AuditEntry {
        at: NOW.millis(),
        method: "POST".to_owned(),
        path: "/v3/api_keys".to_owned(),
        status: 201,
        created: None,
        by: ChangedBy::ApiKey,
        name: "key".to_owned(),
        key: None,
        acting_account: None,
        ip: None,
    };
    let until = NOW.plus(86_400);
    store
        .record_change(id, "request", &entry, until)
        .await
        .unwrap();
    let all = AuditWindow {
        limit: 10,
        ..AuditWindow::default()
    };
    let page = store.audit_page(id, &all).await.unwrap();
    assert_eq!(page.entries, [entry]);
    let key = KeyId::parse(sub.key.get(3..25).unwrap()).unwrap();
    assert!(store.key_by_id(&key).await.unwrap().is_some());

    store.delete_account(&sub.account).await.unwrap();
    assert_eq!(store.account(id).await, Ok(None));
    assert_eq!(store.key_by_id(&key).await, Ok(None));
    assert_eq!(store.keys(id).await, Ok(vec![]));
    assert_eq!(store.allowed_ips(id).await, Ok(vec![]));
    assert_eq!(store.attempts(id, NOW).await, Ok(vec![]));
    let page = store.audit_page(id, &all).await.unwrap();
    assert_eq!(page.entries, []);
    assert_eq!(store.subuser_id(&parent.account.id, "sub").await, Ok(None));
    assert_eq!(store.accounts().await.unwrap().len(), 1);
    // Again, as after a failure half way.
    store.delete_account(&sub.account).await.unwrap();
}

#[tokio::test]
async fn a_deleted_account_gives_back_what_it_held_elsewhere() {
    let (store, parent) = new_account().await;
    let tenant = Tenant {
        account: parent.clone(),
        key: String::new(),
    };
    let sub = tenant.subuser(&store, "sub").await.account;
    let parse = |account: &Account| ParseSetting {
        account: account.id.clone(),
        hostname: "in.example.com".into(),
        url: "https://example.com/in".into(),
        target: "https://example.com/in".into(),
        spam_check: false,
        send_raw: false,
        created_at: NOW,
        security_policy: None,
    };
    tenant.domain(&store, "example.com").await;
    let borrower = Borrower {
        account: sub.id.clone(),
        username: sub.username.clone(),
        user_id: sub.user_id,
    };
    let lent = store.lend_domain(&parent.id, 1, &borrower).await;
    assert!(matches!(lent, Ok(Lent::Done(_))), "{lent:?}");
    assert_eq!(
        store.create_parse(&parse(&sub)).await,
        Ok(SettingCreation::Stored)
    );
    assert_eq!(
        store.create_parse(&parse(&parent)).await,
        Ok(SettingCreation::Taken)
    );
    store.count_received(&sub.id, NOW).await.unwrap();
    let made = store.create_group(&sub.id, ("news", "News"), false).await;
    assert!(matches!(made, Ok(GroupSaved::Done(_))), "{made:?}");
    let emails = ["a@example.net".to_owned(), "b@example.net".to_owned()];
    for list in [
        SuppressionList::Bounces,
        SuppressionList::Unsubscribes,
        SuppressionList::Group(1),
    ] {
        let mark = Mark::at(NOW);
        let put = store.suppress_all(&sub.id, &emails, list, &mark);
        put.await.unwrap();
    }
    let counters = BTreeMap::from([("delivered", 1)]);
    let tally = Tally {
        counters: BTreeMap::from([((NOW.day(), String::new()), counters)]),
        bounces: BTreeMap::from([((NOW.day(), "Content".into(), "a.example".into()), 1)]),
        ..Tally::default()
    };
    let counted = store.count_batch(&sub.id, "batch", &tally, NOW);
    counted.await.unwrap();

    store.delete_account(&sub).await.unwrap();

    assert_eq!(
        store.create_parse(&parse(&parent)).await,
        Ok(SettingCreation::Stored)
    );
    let day = NOW.day();
    let received = store.received(&sub.id, &day, &day).await;
    assert!(received.unwrap().is_empty());
    let domain = store.domain(&parent.id, 1).await.unwrap().unwrap();
    assert_eq!(domain.subusers, []);
    let lists = store.suppressed_among(&sub.id, &emails).await.unwrap();
    assert_eq!(lists, []);
    let window = ListWindow::first(10);
    for list in [
        SuppressionList::Bounces,
        SuppressionList::Unsubscribes,
        SuppressionList::Group(1),
    ] {
        let listed = store.list_page(&sub.id, list, &window, |_| true).await;
        assert_eq!(listed, Ok(vec![]), "{list:?}");
    }
    let stats = store.day_stats(&sub.id, &day, &day).await.unwrap();
    assert_eq!(stats, []);
    let bounces = store.day_bounces(&sub.id, &day, &day).await.unwrap();
    assert_eq!(bounces, []);
}

#[tokio::test]
async fn every_permit_of_a_window_is_given_once() {
    let (store, account) = new_account().await;
    let window = |number, endpoint| RateWindow {
        account: &account.id,
        endpoint,
        number,
        end: NOW,
    };
    let leases = (0..20).map(|_| store.lease(window(7, "GET /a"), 5));
    let mut taken: Vec<_> = futures_util::future::try_join_all(leases).await.unwrap();
    taken.sort_unstable();
    let want: Vec<i64> = (1..=20).map(|i| i * 5).collect();
    assert_eq!(taken, want);
    assert_eq!(store.lease(window(8, "GET /a"), 1).await, Ok(1));
    assert_eq!(store.lease(window(7, "GET /b"), 1).await, Ok(1));
}
