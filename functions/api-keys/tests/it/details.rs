//! Keys with what they may do and when they were last used.

use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn the_list_has_kinds_scopes_and_last_uses_where_they_are_asked_for() {
    let app = TestApp::new().await;
    let made_at = app.hand.now().0;
    let (id, made) = app.made(&["mail.send", "stats.read"]).await;
    app.hand.advance(60);
    app.scopes_of(&made).await;
    let list = async |query: &str| {
        let path = format!("/v3/api_keys?{query}");
        let get = app.api.get(&path).key(&app.tenant.key).send().await;
        get.expect(200).json()["result"].clone()
    };
    let all = list("details=true").await;
    let want = json!({"api_key_id": id, "name": "made", "kind": "restricted",
        "scopes": ["mail.send", "stats.read"], "created_at": made_at, "last_used_at": made_at + 60});
    assert_eq!(all[1], want);
    assert_eq!(all[0]["kind"], "full");
    assert_eq!(all[0]["last_used_at"], made_at);
    assert_eq!(
        list("details=true&limit=1").await.as_array().unwrap().len(),
        1
    );
    assert_eq!(
        list("details=false").await[1],
        json!({"api_key_id": id, "name": "made"})
    );
    let odd = app.api.get("/v3/api_keys?details=yes").key(&app.tenant.key);
    odd.send().await.expect(400);
}
