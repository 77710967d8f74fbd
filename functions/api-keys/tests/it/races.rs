//! What happens when two do it at once.

use serde_json::json;

use crate::{Desk, instance};

#[tokio::test]
async fn the_hundred_and_first_key_is_refused_even_when_two_come_at_once() {
    let desk = Desk::new().await;
    for _ in 0..98 {
        desk.made(&["mail.send"]).await;
    }
    // Ninety-nine are there: of eight at once, one finds the last place.
    let body = json!({"name": "last"});
    let instances: Vec<_> = (0..8).map(|_| instance(&desk.store, &desk.hand)).collect();
    let mut asks = tokio::task::JoinSet::new();
    for api in instances {
        let (key, body) = (desk.tenant.key.clone(), body.clone());
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
    let keys = desk.store.keys(&desk.tenant.account.id).await.unwrap();
    assert_eq!(keys.len(), 100);
    let path = format!("/v3/api_keys/{}", keys.last().unwrap().id);
    desk.api
        .delete(&path)
        .key(&desk.tenant.key)
        .send()
        .await
        .expect(204);
    assert_eq!(desk.create(&desk.tenant.key, &body).await.status, 201);
    assert_eq!(desk.create(&desk.tenant.key, &body).await.status, 403);
}

#[tokio::test]
async fn a_rename_never_undoes_a_narrowing() {
    let desk = Desk::new().await;
    for _ in 0..20 {
        let (id, made) = desk.made(&["mail.send", "templates.read"]).await;
        let (path, key) = (format!("/v3/api_keys/{id}"), &desk.tenant.key);
        let less = json!({"name": "less", "scopes": ["mail.send"]});
        let name = json!({"name": "other"});
        let (put, patch) = tokio::join!(
            desk.api.put(&path).key(key).json(&less).send(),
            desk.api.patch(&path).key(key).json(&name).send(),
        );
        assert_eq!((put.status.as_u16(), patch.status.as_u16()), (200, 200));
        assert_eq!(desk.scopes_of(&made).await, ["mail.send"]);
        desk.api.delete(&path).key(key).send().await.expect(204);
    }
}

#[tokio::test]
async fn a_change_that_meets_a_revocation_does_not_bring_the_key_back() {
    let desk = Desk::new().await;
    for _ in 0..20 {
        let (id, made) = desk.made(&["mail.send"]).await;
        let (path, key) = (format!("/v3/api_keys/{id}"), &desk.tenant.key);
        let name = json!({"name": "other"});
        let (gone, patch) = tokio::join!(
            desk.api.delete(&path).key(key).send(),
            desk.api.patch(&path).key(key).json(&name).send(),
        );
        assert_eq!(gone.status, 204);
        assert!([200, 404].contains(&patch.status.as_u16()), "{patch:?}");
        desk.api.get(&path).key(key).send().await.expect(404);
        instance(&desk.store, &desk.hand)
            .get("/v3/scopes")
            .key(&made)
            .send()
            .await
            .expect(401);
    }
}
