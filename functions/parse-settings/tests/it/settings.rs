//! Create, list, get, update, delete.

use posthaste_spam::Filter;
use posthaste_testkit::{Services, Tenant};
use serde_json::json;

use crate::{ALL, TestApp};

#[tokio::test]
async fn a_setting_is_created_read_changed_and_deleted() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let body = json!({"hostname": "In.Shop.example", "url": "https://api.example/in"});
    let made = app.api.post(ALL).key(key).json(&body).send().await;
    let want = json!({"hostname": "in.shop.example", "url": "https://api.example/in",
        "spam_check": false, "send_raw": false});
    assert_eq!(made.expect(201).json(), want);
    let one = format!("{ALL}/in.shop.example");
    assert_eq!(
        app.api.get(&one).key(key).send().await.expect(200).json(),
        want
    );
    let listed = app.api.get(ALL).key(key).send().await;
    assert_eq!(listed.expect(200).json(), json!({"result": [want]}));

    let patch = json!({"send_raw": true});
    let changed = app.api.patch(&one).key(key).json(&patch).send().await;
    let want = json!({"hostname": "in.shop.example", "url": "https://api.example/in",
        "spam_check": false, "send_raw": true});
    assert_eq!(changed.expect(200).json(), want);

    app.api.delete(&one).key(key).send().await.expect(204);
    app.api.delete(&one).key(key).send().await.expect(404);
    app.api.get(&one).key(key).send().await.expect(404);
    // The hostname is free again.
    app.api
        .post(ALL)
        .key(key)
        .json(&body)
        .send()
        .await
        .expect(201);
}

#[tokio::test]
async fn a_spam_check_that_no_filter_makes_says_so() {
    let mut answers = Vec::new();
    let filter = "spamd://127.0.0.1".parse::<Filter>().unwrap();
    for services in [
        Services::start().await,
        Services::start().await.part(filter),
    ] {
        let env = TestApp::on(services).await;
        let key = &env.tenant.key;
        let one = format!("{ALL}/in.shop.example");
        let body = json!({"hostname": "in.shop.example", "url": "https://api.example/in"});
        let made = env.api.post(ALL).key(key).json(&body).send().await;
        assert_eq!(made.expect(201).header("warning"), "");
        let patch = json!({"spam_check": true});
        let changed = env.api.patch(&one).key(key).json(&patch).send().await;
        answers.push(changed.expect(200));
        env.api.delete(&one).key(key).send().await.expect(204);
        let body = json!({"hostname": "in.shop.example", "url": "https://api.example/in",
            "spam_check": true});
        answers.push(
            env.api
                .post(ALL)
                .key(key)
                .json(&body)
                .send()
                .await
                .expect(201),
        );
    }
    let said: Vec<_> = answers
        .iter()
        .map(|answer| answer.header("warning"))
        .collect();
    let is_warning = |said: &&str| said.contains("no spam filter");
    assert!(said[..2].iter().all(is_warning), "{said:?}");
    assert_eq!(said[2..], ["", ""]);
    assert_eq!(answers[0].json().as_object().unwrap().len(), 4);
}

#[tokio::test]
async fn a_list_may_be_read_in_pages() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    for name in ["a", "b", "c"] {
        let hostname = format!("{name}.shop.example");
        let body = json!({"hostname": hostname, "url": "https://api.example/in"});
        let made = app.api.post(ALL).key(key).json(&body).send().await;
        made.expect(201);
    }
    for (query, want) in [
        ("", &["a", "b", "c"][..]),
        ("?limit=2", &["a", "b"]),
        ("?limit=2&offset=2", &["c"]),
        ("?offset=3", &[]),
        ("?limit=99&unknown=x", &["a", "b", "c"]),
    ] {
        let listed = app.api.get(&format!("{ALL}{query}")).key(key).send().await;
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
        let refused = app.api.get(&format!("{ALL}{query}")).key(key).send().await;
        let refused = refused.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{query}");
    }
}

#[tokio::test]
async fn every_problem_of_a_body_is_reported_at_once() {
    let app = TestApp::new().await;
    app.domain(&app.tenant, "unproven.example", false).await;
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
        let answer = app
            .api
            .post(ALL)
            .key(&app.tenant.key)
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
    let listed = app.api.get(ALL).key(&app.tenant.key).send().await;
    assert_eq!(listed.json(), json!({"result": []}));
}

#[tokio::test]
async fn a_hostname_is_one_accounts_alone() {
    let app = TestApp::new().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    app.authenticate(&other, "shop.example").await;
    let body = json!({"hostname": "shop.example", "url": "https://api.example/in"});
    app.api
        .post(ALL)
        .key(&app.tenant.key)
        .json(&body)
        .send()
        .await
        .expect(201);

    for key in [&app.tenant.key, &other.key] {
        let taken = app
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
    app.api.get(&one).key(&other.key).send().await.expect(404);
    app.api
        .patch(&one)
        .key(&other.key)
        .json(&json!({}))
        .send()
        .await
        .expect(404);
    app.api
        .delete(&one)
        .key(&other.key)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn who_lost_the_domain_makes_room_for_who_has_it() {
    let app = TestApp::new().await;
    let (owner, heir) = (
        &app.tenant,
        Tenant::new(&app.store, "heir", app.hand.now()).await,
    );
    let body = json!({"hostname": "in.shop.example", "url": "https://api.example/in"});
    let made = app.api.post(ALL).key(&owner.key).json(&body).send().await;
    made.expect(201);
    app.authenticate(&heir, "shop.example").await;
    let taken = app.api.post(ALL).key(&heir.key).json(&body).send().await;
    taken.expect(400);

    let lost = app.store.delete_domain(&owner.account.id, 1).await;
    assert!(lost.unwrap());
    let made = app.api.post(ALL).key(&heir.key).json(&body).send().await;
    made.expect(201);
    let holder = app.store.receiver("in.shop.example").await.unwrap();
    assert_eq!(holder.unwrap().account, heir.account.id);
    let one = format!("{ALL}/in.shop.example");
    for call in [app.api.get(&one), app.api.delete(&one)] {
        call.key(&owner.key).send().await.expect(404);
    }
    // An account that has the domain again does not get the hostname back.
    app.authenticate(owner, "shop.example").await;
    let taken = app.api.post(ALL).key(&owner.key).json(&body).send().await;
    taken.expect(400);
    let holder = app.store.receiver("in.shop.example").await.unwrap();
    assert_eq!(holder.unwrap().account, heir.account.id);
}

#[tokio::test]
async fn an_update_that_is_wrong_changes_nothing() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let body = json!({"hostname": "shop.example", "url": "https://api.example/in"});
    let made = app.api.post(ALL).key(key).json(&body).send().await.json();
    let one = format!("{ALL}/shop.example");
    for (patch, field) in [
        (json!({"url": null}), "url"),
        (json!({"url": "http://10.0.0.1/"}), "url"),
        (json!({"hostname": "in.shop.example"}), "hostname"),
        (json!({"spam_check": null, "send_raw": true}), "spam_check"),
    ] {
        let refused = app
            .api
            .patch(&one)
            .key(key)
            .json(&patch)
            .send()
            .await
            .expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{patch}");
    }
    assert_eq!(app.api.get(&one).key(key).send().await.json(), made);
}
