//! Create, list, get, update, delete.

use posthaste_testkit::Tenant;
use serde_json::json;

use crate::{ALL, TestApp};

#[tokio::test]
async fn a_setting_is_created_read_changed_and_deleted() {
    let desk = TestApp::new().await;
    let key = &desk.tenant.key;
    let body = json!({"hostname": "In.Shop.example", "url": "https://api.example/in"});
    let made = desk.api.post(ALL).key(key).json(&body).send().await;
    let want = json!({"hostname": "in.shop.example", "url": "https://api.example/in",
        "spam_check": false, "send_raw": false});
    assert_eq!(made.expect(201).json(), want);
    let one = format!("{ALL}/in.shop.example");
    assert_eq!(
        desk.api.get(&one).key(key).send().await.expect(200).json(),
        want
    );
    let listed = desk.api.get(ALL).key(key).send().await;
    assert_eq!(listed.expect(200).json(), json!({"result": [want]}));

    let patch = json!({"send_raw": true});
    let changed = desk.api.patch(&one).key(key).json(&patch).send().await;
    let want = json!({"hostname": "in.shop.example", "url": "https://api.example/in",
        "spam_check": false, "send_raw": true});
    assert_eq!(changed.expect(200).json(), want);

    desk.api.delete(&one).key(key).send().await.expect(204);
    desk.api.delete(&one).key(key).send().await.expect(404);
    desk.api.get(&one).key(key).send().await.expect(404);
    // The hostname is free again.
    desk.api
        .post(ALL)
        .key(key)
        .json(&body)
        .send()
        .await
        .expect(201);
}

#[tokio::test]
async fn a_list_may_be_read_in_pages() {
    let desk = TestApp::new().await;
    let key = &desk.tenant.key;
    for name in ["a", "b", "c"] {
        let hostname = format!("{name}.shop.example");
        let body = json!({"hostname": hostname, "url": "https://api.example/in"});
        let made = desk.api.post(ALL).key(key).json(&body).send().await;
        made.expect(201);
    }
    for (query, want) in [
        ("", &["a", "b", "c"][..]),
        ("?limit=2", &["a", "b"]),
        ("?limit=2&offset=2", &["c"]),
        ("?offset=3", &[]),
        ("?limit=99&unknown=x", &["a", "b", "c"]),
    ] {
        let listed = desk.api.get(&format!("{ALL}{query}")).key(key).send().await;
        let listed = listed.expect(200).json();
        let all = listed["result"].as_array().unwrap();
        let names = all
            .iter()
            .map(|one| &one["hostname"].as_str().unwrap()[..1]);
        assert_eq!(names.collect::<Vec<_>>(), want, "{query}");
    }
    for (query, field) in [
        ("?limit=0", "limit"),
        ("?limit=x", "limit"),
        ("?limit=-1", "limit"),
        ("?offset=-1", "offset"),
        ("?offset=", "offset"),
    ] {
        let refused = desk.api.get(&format!("{ALL}{query}")).key(key).send().await;
        let refused = refused.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{query}");
    }
}

#[tokio::test]
async fn every_problem_of_a_body_is_told_at_once() {
    let desk = TestApp::new().await;
    desk.domain(&desk.tenant, "unproven.example", false).await;
    for (body, want) in [
        (json!({}), vec!["url", "hostname"]),
        (
            json!({"hostname": null, "url": null}),
            vec!["url", "hostname"],
        ),
        (
            json!({"hostname": "in.other.example", "url": "ftp://x"}),
            vec!["url", "hostname"],
        ),
        (
            json!({"hostname": "in.unproven.example", "url": "http://127.0.0.1/x"}),
            vec!["url", "hostname"],
        ),
        (
            json!({"hostname": "in.shop.example", "url": "http://169.254.169.254/"}),
            vec!["url"],
        ),
        (
            json!({"hostname": "a@shop.example", "url": "https://a.example", "send_raw": null}),
            vec!["hostname", "send_raw"],
        ),
        (
            json!({"hostname": "notshop.example", "url": "https://a.example", "spam_check": null}),
            vec!["hostname", "spam_check"],
        ),
    ] {
        let answer = desk
            .api
            .post(ALL)
            .key(&desk.tenant.key)
            .json(&body)
            .send()
            .await;
        let answer = answer.expect(400).json();
        let errors = answer["errors"].as_array().unwrap();
        let fields: Vec<_> = errors
            .iter()
            .map(|e| e["field"].as_str().unwrap())
            .collect();
        assert_eq!(fields, want, "{body}: {answer}");
    }
    let listed = desk.api.get(ALL).key(&desk.tenant.key).send().await;
    assert_eq!(listed.json(), json!({"result": []}));
}

#[tokio::test]
async fn a_hostname_is_one_accounts_alone() {
    let desk = TestApp::new().await;
    let other = Tenant::new(&desk.store, "other", desk.hand.now()).await;
    desk.authenticate(&other, "shop.example").await;
    let body = json!({"hostname": "shop.example", "url": "https://api.example/in"});
    desk.api
        .post(ALL)
        .key(&desk.tenant.key)
        .json(&body)
        .send()
        .await
        .expect(201);

    for key in [&desk.tenant.key, &other.key] {
        let taken = desk
            .api
            .post(ALL)
            .key(key)
            .json(&body)
            .send()
            .await
            .expect(400);
        assert_eq!(taken.error().0.as_deref(), Some("hostname"));
    }
    let one = format!("{ALL}/shop.example");
    desk.api.get(&one).key(&other.key).send().await.expect(404);
    desk.api
        .patch(&one)
        .key(&other.key)
        .json(&json!({}))
        .send()
        .await
        .expect(404);
    desk.api
        .delete(&one)
        .key(&other.key)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn who_lost_the_domain_makes_room_for_who_has_it() {
    let desk = TestApp::new().await;
    let (owner, heir) = (
        &desk.tenant,
        Tenant::new(&desk.store, "heir", desk.hand.now()).await,
    );
    let body = json!({"hostname": "in.shop.example", "url": "https://api.example/in"});
    let made = desk.api.post(ALL).key(&owner.key).json(&body).send().await;
    made.expect(201);
    desk.authenticate(&heir, "shop.example").await;
    let taken = desk.api.post(ALL).key(&heir.key).json(&body).send().await;
    taken.expect(400);

    let lost = desk.store.delete_domain(&owner.account.id, 1).await;
    assert!(lost.unwrap());
    let made = desk.api.post(ALL).key(&heir.key).json(&body).send().await;
    made.expect(201);
    let holder = desk.store.receiver("in.shop.example").await.unwrap();
    assert_eq!(holder.unwrap().account, heir.account.id);
    let one = format!("{ALL}/in.shop.example");
    for call in [desk.api.get(&one), desk.api.delete(&one)] {
        call.key(&owner.key).send().await.expect(404);
    }
    // Who has the domain again cannot take the hostname back.
    desk.authenticate(owner, "shop.example").await;
    let taken = desk.api.post(ALL).key(&owner.key).json(&body).send().await;
    taken.expect(400);
    let holder = desk.store.receiver("in.shop.example").await.unwrap();
    assert_eq!(holder.unwrap().account, heir.account.id);
}

#[tokio::test]
async fn an_update_that_is_wrong_changes_nothing() {
    let desk = TestApp::new().await;
    let key = &desk.tenant.key;
    let body = json!({"hostname": "shop.example", "url": "https://api.example/in"});
    let made = desk.api.post(ALL).key(key).json(&body).send().await.json();
    let one = format!("{ALL}/shop.example");
    for (patch, field) in [
        (json!({"url": null}), "url"),
        (json!({"url": "http://10.0.0.1/"}), "url"),
        (json!({"hostname": "in.shop.example"}), "hostname"),
        (json!({"spam_check": null, "send_raw": true}), "spam_check"),
    ] {
        let refused = desk
            .api
            .patch(&one)
            .key(key)
            .json(&patch)
            .send()
            .await
            .expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{patch}");
    }
    assert_eq!(desk.api.get(&one).key(key).send().await.json(), made);
}
