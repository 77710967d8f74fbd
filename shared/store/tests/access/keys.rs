//! Keys that are made with other keys.

use posthaste_model::KeyId;
use posthaste_store::{ApiKey, Granted, KeyKind, Maker, Regranted, Secret, Store};
use posthaste_testkit::entropy;

use crate::{NOW, new_account};

/// A key that is the account's first, as it would make others.
async fn maker(store: &Store, account: &posthaste_model::AccountId) -> Maker {
    let first = store.keys(account).await.unwrap().remove(0);
    store.maker(account, &first.id).await.unwrap().unwrap()
}

fn made_by(maker: &Maker) -> ApiKey {
    let secret = Secret::generate(&entropy());
    ApiKey {
        id: secret.id().clone(),
        name: "made".to_owned(),
        kind: KeyKind::Restricted,
        scopes: vec!["mail.send".to_owned()],
        hash: secret.hash(),
        created_at: NOW,
        is_test: false,
        used_at: None,
        ..maker.key.clone()
    }
}

#[tokio::test]
async fn a_maker_that_changed_since_it_was_read_makes_nothing() {
    let (store, account) = new_account().await;
    let old = maker(&store, &account.id).await;
    let key = made_by(&old);
    assert_eq!(store.grant_key(&key, 100, &old).await, Ok(Granted::Done));
    let rename = |key: &mut ApiKey| key.name = "other".to_owned();
    let renamed = store.update_key(&account.id, &old.key.id, rename).await;
    assert!(renamed.unwrap().is_some());

    let more = made_by(&old);
    let outdated = store.grant_key(&more, 100, &old).await;
    assert_eq!(outdated, Ok(Granted::Outdated));
    let wider = |key: &mut ApiKey| key.scopes.push("templates.read".to_owned());
    for id in [&key.id, &old.key.id] {
        let outdated = store.regrant_key(&account.id, id, &old, wider).await;
        assert_eq!(outdated, Ok(Regranted::Outdated));
    }
    assert_eq!(store.keys(&account.id).await.unwrap().len(), 2);
    assert_eq!(store.key_by_id(&more.id).await, Ok(None));

    // Read again it does; and it may change itself.
    let now = store
        .maker(&account.id, &old.key.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(store.grant_key(&more, 3, &now).await, Ok(Granted::Done));
    let full = store.grant_key(&made_by(&now), 3, &now).await;
    assert_eq!(full, Ok(Granted::Full));
    for id in [&key.id, &old.key.id] {
        let done = store.regrant_key(&account.id, id, &now, wider).await;
        assert!(matches!(done, Ok(Regranted::Done(_))), "{done:?}");
    }
    let nobody = KeyId::from_bytes([0; 16]);
    let now = store
        .maker(&account.id, &old.key.id)
        .await
        .unwrap()
        .unwrap();
    let missing = store.regrant_key(&account.id, &nobody, &now, wider).await;
    assert_eq!(missing, Ok(Regranted::Missing));
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_once_an_hour_and_stays_when_it_is_renamed() {
    let (store, account) = new_account().await;
    let seen = async || store.keys_with_use(&account.id).await.unwrap()[0].used_at;
    let key = store.keys(&account.id).await.unwrap().remove(0);
    assert_eq!(seen().await, None);
    assert_eq!(store.touch_key(&key, NOW).await, Ok(true));
    assert_eq!(seen().await, Some(NOW));
    // Another process that read the key before, and this one for the rest of the hour.
    assert_eq!(store.touch_key(&key, NOW.plus(3_599)).await, Ok(false));
    let used = store.key_by_id(&key.id).await.unwrap().unwrap();
    assert!(!used.is_use_due(NOW.plus(3_599)) && used.is_use_due(NOW.plus(3_600)));
    let rename = |key: &mut ApiKey| key.name = "other".to_owned();
    let renamed = store.update_key(&account.id, &key.id, rename).await;
    assert!(renamed.unwrap().is_some());
    assert_eq!(seen().await, Some(NOW));
    assert_eq!(store.touch_key(&used, NOW.plus(3_600)).await, Ok(true));
    assert_eq!(seen().await, Some(NOW.plus(3_600)));
    // Its row in the account was never written, so keys that it makes meanwhile are made.
    assert_eq!(store.keys(&account.id).await.unwrap()[0].used_at, None);

    assert_eq!(store.delete_key(&account.id, &key.id).await, Ok(true));
    assert_eq!(store.touch_key(&key, NOW.plus(9_000)).await, Ok(false));
    assert_eq!(store.key_by_id(&key.id).await, Ok(None));
}

#[tokio::test]
async fn a_revoked_maker_makes_nothing() {
    let (store, account) = new_account().await;
    let old = maker(&store, &account.id).await;
    assert_eq!(store.delete_key(&account.id, &old.key.id).await, Ok(true));
    let outdated = store.grant_key(&made_by(&old), 100, &old).await;
    assert_eq!(outdated, Ok(Granted::Outdated));
    assert_eq!(store.keys(&account.id).await, Ok(vec![]));
    let gone = store.maker(&account.id, &old.key.id).await;
    assert!(gone.unwrap().is_none());
}
