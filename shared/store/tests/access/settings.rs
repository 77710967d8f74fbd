//! Mail and tracking settings beside the account's own row.

use posthaste_store::{AccountSettings, StoreError};
use posthaste_testkit::entropy;

use crate::new_account;

#[tokio::test]
async fn an_account_knows_how_often_its_settings_changed() {
    let (store, account) = new_account().await;
    assert_eq!(
        store.settings(&account.id).await.unwrap(),
        AccountSettings::default()
    );
    for changes in 1..=3 {
        let changed = store.change_settings(&account.id, |settings| {
            settings.defaults.open.enable = !settings.defaults.open.enable;
            Ok::<_, StoreError>(())
        });
        let now = changed.await.unwrap().unwrap();
        assert_eq!(now.defaults.open.enable, changes % 2 == 1);
        assert_eq!(store.settings(&account.id).await.unwrap(), now);
        let account = store.account(&account.id).await.unwrap().unwrap();
        assert_eq!(account.settings, changes);
    }
    let refused = store.change_settings(&account.id, |settings| {
        settings.defaults.click.enable = true;
        Err(StoreError::Validation("no".to_owned()))
    });
    let error = refused.await.unwrap_err();
    assert_eq!(error, StoreError::Validation("no".to_owned()));
    let now = store.settings(&account.id).await.unwrap();
    assert!(!now.defaults.click.enable);
}

#[tokio::test]
async fn settings_go_with_their_account_and_do_not_come_without_one() {
    let (store, account) = new_account().await;
    let nobody = entropy().account_id();
    let switch = async |id| {
        let changed = store.change_settings(id, |settings| {
            settings.spam_check.max_score = 7;
            settings.whitelist.list = vec!["example.com".to_owned()];
            settings.landing.url = "https://example.com/".to_owned();
            Ok::<_, StoreError>(())
        });
        changed.await.unwrap()
    };
    assert_eq!(switch(&nobody).await, None);
    assert!(switch(&account.id).await.is_some());
    store.delete_account(&account).await.unwrap();
    assert_eq!(
        store.settings(&account.id).await.unwrap(),
        AccountSettings::default()
    );
    assert_eq!(switch(&account.id).await, None);
}
