//! What happens when two do it at once.

use serde_json::json;

use crate::{TestApp, instance};

#[tokio::test]
async fn the_hundred_and_first_key_is_refused_even_when_two_come_at_once() {
    let app = TestApp::new().await;
    for _ in 0..98 {
        app.made(&["mail.send"]).await;
    }
    // Ninety-nine are there: of eight at once, one finds the last place.
    let body = json!({"name": "last"});
    let instances: Vec<_> = (0..8).map(|_| instance(&app)).collect();
    let mut asks = tokio::task::JoinSet::new();
    for api in instances {
        let (key, body) = (app.tenant.key.clone(), body.clone());
        asks.spawn(async move { api.post("/v3/api_keys").key(&key).json(&body).send().await });
    }
    let answers = asks.join_all().await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 1);
    let refused = answers
        .into_iter()
        .find(|answer| answer.status != 201)
        .unwrap();
    let want = "Cannot create more than 100 API Keys";
    assert_eq!(refused.expect(403).error(), (None, want.to_owned()));

    // A key that goes makes room for one.
    let keys = app.store.keys(&app.tenant.account.id).await.unwrap();
    assert_eq!(keys.len(), 100);
    let path = format!("/v3/api_keys/{}", keys.last().unwrap().id);
    app.api
        .delete(&path)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(204);
    assert_eq!(app.create(&app.tenant.key, &body).await.status, 201);
    assert_eq!(app.create(&app.tenant.key, &body).await.status, 403);
}

#[tokio::test]
async fn a_rename_never_undoes_a_narrowing() {
    let app = TestApp::new().await;
    for _ in 0..20 {
        let (id, made) = app.made(&["mail.send", "templates.read"]).await;
        let (path, key) = (format!("/v3/api_keys/{id}"), &app.tenant.key);
        let less = json!({"name": "less", "scopes": ["mail.send"]});
        let name = json!({"name": "other"});
        let (put, patch) = tokio::join!(
            app.api.put(&path).key(key).json(&less).send(),
            app.api.patch(&path).key(key).json(&name).send(),
        );
        assert_eq!((put.status.as_u16(), patch.status.as_u16()), (200, 200));
        assert_eq!(app.scopes_of(&made).await, ["mail.send"]);
        app.api.delete(&path).key(key).send().await.expect(204);
    }
}

#[tokio::test]
async fn a_change_that_meets_a_revocation_does_not_bring_the_key_back() {
    let app = TestApp::new().await;
    for _ in 0..20 {
        let (id, made) = app.made(&["mail.send"]).await;
        let (path, key) = (format!("/v3/api_keys/{id}"), &app.tenant.key);
        let name = json!({"name": "other"});
        let (gone, patch) = tokio::join!(
            app.api.delete(&path).key(key).send(),
            app.api.patch(&path).key(key).json(&name).send(),
        );
        assert_eq!(gone.status, 204);
        assert!([200, 404].contains(&patch.status.as_u16()), "{patch:?}");
        app.api.get(&path).key(key).send().await.expect(404);
        instance(&app)
            .get("/v3/scopes")
            .key(&made)
            .send()
            .await
            .expect(401);
    }
}

#[tokio::test]
async fn a_revoked_key_creates_no_other_where_it_is_still_cached() {
    let app = TestApp::new().await;
    let scopes = ["api_keys.create", "api_keys.update", "mail.send"];
    let (id, maker) = app.made(&scopes).await;
    let (spare, spare_key) = app.made(&["mail.send"]).await;
    let other = instance(&app);
    let asks = other.get("/v3/scopes").key(&maker).send().await;
    asks.expect(200);
    let path = format!("/v3/api_keys/{id}");
    let gone = app.api.delete(&path).key(&app.tenant.key).send().await;
    gone.expect(204);

    // The other instance still accepts the cached key, and creates no key with it.
    let wider = json!({"name": "x", "scopes": scopes});
    let mint = other.post("/v3/api_keys").key(&maker).json(&wider);
    let path = format!("/v3/api_keys/{spare}");
    let widen = other.put(&path).key(&maker).json(&wider);
    let (read, minted) = (other.get("/v3/scopes").key(&maker), mint.send().await);
    minted.expect(401);
    widen.send().await.expect(401);
    read.send().await.expect(401);

    assert_eq!(
        app.store.keys(&app.tenant.account.id).await.unwrap().len(),
        2
    );
    assert_eq!(app.scopes_of(&spare_key).await, ["mail.send"]);
}

#[tokio::test]
async fn a_narrowed_key_grants_what_it_holds_now() {
    let app = TestApp::new().await;
    let more = ["api_keys.create", "mail.send", "templates.read"];
    let (id, maker) = app.made(&more).await;
    let (path, key) = (format!("/v3/api_keys/{id}"), &app.tenant.key);
    let narrow = async |scopes: &[&str]| {
        let body = json!({"name": "less", "scopes": scopes});
        let put = app.api.put(&path).key(key).json(&body).send().await;
        put.expect(200);
    };
    // An instance that remembers the key as it was.
    let remembering = async || {
        let other = instance(&app);
        other.get("/v3/scopes").key(&maker).send().await.expect(200);
        other
    };
    let bare = json!({"name": "x"});

    let other = remembering().await;
    let less = ["api_keys.create", "mail.send"];
    narrow(&less).await;
    let made = other.post("/v3/api_keys").key(&maker).json(&bare);
    assert_eq!(made.send().await.expect(201).json()["scopes"], json!(less));

    let other = remembering().await;
    let named = json!({"name": "x", "scopes": ["mail.send"]});
    narrow(&["api_keys.create"]).await;
    let made = other.post("/v3/api_keys").key(&maker).json(&named);
    let error = made.send().await.expect(403).error();
    assert_eq!(error.0.as_deref(), Some("scopes.0"));

    let other = remembering().await;
    narrow(&["mail.send"]).await;
    let made = other.post("/v3/api_keys").key(&maker).json(&bare);
    assert_eq!(made.send().await.expect(403).error().1, "access forbidden");
}
