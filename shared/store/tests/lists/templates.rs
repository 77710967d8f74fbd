use posthaste_model::{AccountId, TemplateId, VersionId};
use posthaste_store::{Placed, Store, StoreError, Template, Version, VersionTexts};
use posthaste_testkit::entropy;

use crate::{NOW, new_account};

/// So many templates and versions the account may have in these tests.
const LIMIT: i64 = 5;

async fn template(store: &Store, account: &AccountId) -> TemplateId {
    let template = Template {
        id: entropy().dynamic_template_id(),
        account: account.clone(),
        name: "Letter".to_owned(),
        created_at: NOW,
        updated_at: NOW,
        versions: Vec::new(),
    };
    let made = store.create_template(&template, LIMIT).await.unwrap();
    assert_eq!(made, Placed::Done(()));
    template.id
}

fn version(number: u8, subject: &str) -> Version {
    let id = VersionId::from_bytes([number; 16]);
    Version {
        texts: id.clone(),
        id,
        name: String::new(),
        subject: subject.to_owned(),
        updated_at: NOW,
        active: false,
        generate_plain_content: true,
        editor: "code".to_owned(),
        has_content: true,
    }
}

async fn add(
    store: &Store,
    account: &AccountId,
    id: &TemplateId,
    version: &Version,
) -> Placed<Template> {
    let added = store.add_version(account, id, version, LIMIT).await;
    added.unwrap()
}

#[tokio::test]
async fn of_two_versions_made_active_at_once_one_is() {
    let (store, account) = new_account().await;
    let id = template(&store, &account).await;
    for number in 1..=3 {
        let added = add(&store, &account, &id, &version(number, "s")).await;
        assert!(matches!(added, Placed::Done(_)));
    }
    let unknown = || StoreError::Validation("unknown".to_owned());
    let activate = async |number| {
        let changed = store.change_template(&account, &id, |template| {
            let known = template.activate(&version(number, "s").id);
            known.then_some(()).ok_or_else(unknown)
        });
        changed.await
    };
    let (two, three) = tokio::join!(activate(2), activate(3));
    assert!(matches!(
        (two, three),
        (Ok(Placed::Done(_)), Ok(Placed::Done(_)))
    ));
    let now = store.template(&account, &id).await.unwrap().unwrap();
    let active = now.versions.iter().filter(|version| version.active);
    assert_eq!(active.count(), 1);
    assert_eq!(activate(9).await, Err(unknown()));
}

#[tokio::test]
async fn what_is_added_at_once_keeps_to_the_limit() {
    let (store, account) = new_account().await;
    let id = template(&store, &account).await;
    let fits = async |number| {
        let added = add(&store, &account, &id, &version(number, "s")).await;
        added != Placed::Full
    };
    let done = tokio::join!(fits(1), fits(2), fits(3), fits(4), fits(5), fits(6));
    let done: [bool; 6] = done.into();
    // The template itself is one of the five.
    assert_eq!(done.iter().filter(|done| **done).count(), 4);
    let now = store.template(&account, &id).await.unwrap().unwrap();
    assert_eq!(now.versions.len(), 4);

    let first = &now.versions[0].id;
    assert!(
        store
            .delete_version(&account, &id, first, NOW)
            .await
            .unwrap()
    );
    assert!(
        !store
            .delete_version(&account, &id, first, NOW)
            .await
            .unwrap()
    );
    assert!(fits(7).await && !fits(8).await);
    assert!(store.delete_template(&account, &id).await.unwrap());
    let gone = add(&store, &account, &id, &version(9, "s")).await;
    assert_eq!(gone, Placed::Missing);
    for _ in 0..LIMIT {
        template(&store, &account).await;
    }
}

#[tokio::test]
async fn the_heads_of_a_template_are_held_to_what_its_row_can_hold() {
    let (store, account) = new_account().await;
    let id = template(&store, &account).await;
    let half = "x".repeat(125_000);
    for (number, subject) in [(1, half.as_str()), (2, "short")] {
        let added = add(&store, &account, &id, &version(number, subject)).await;
        assert!(matches!(added, Placed::Done(_)));
    }
    let long = format!("{half}x");
    let added = add(&store, &account, &id, &version(3, &long)).await;
    assert_eq!(added, Placed::TooLong);
    let set = async |subject: &str| {
        let changed = store.change_template(&account, &id, |template| {
            template.versions[1].subject = subject.to_owned();
            Ok::<_, StoreError>(())
        });
        changed.await.unwrap()
    };
    assert!(matches!(set(&half).await, Placed::Done(_)));
    assert_eq!(set(&long).await, Placed::TooLong);
    let now = store.template(&account, &id).await.unwrap().unwrap();
    assert_eq!((now.versions.len(), &now.versions[1].subject), (2, &half));
}

#[tokio::test]
async fn texts_come_back_whole_or_not_at_all() {
    let (store, account) = new_account().await;
    let id = version(1, "s").texts;
    let texts = VersionTexts {
        html_content: "<p>ä€🌼</p>".repeat(70_000),
        plain_content: "x".to_owned(),
        test_data: String::new(),
    };
    store.put_texts(&account, &id, &texts).await.unwrap();
    assert_eq!(store.texts(&account, &id).await.unwrap(), Some(texts));
    store.delete_texts(&account, &id).await.unwrap();
    assert_eq!(store.texts(&account, &id).await.unwrap(), None);
}
