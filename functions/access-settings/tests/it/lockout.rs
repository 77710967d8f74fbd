use posthaste_testkit::HOME;

use crate::{LIST, TestApp};

const WARNING: &str = "x-posthaste-warning";

#[tokio::test]
async fn a_first_entry_that_locks_the_caller_out_is_answered_with_a_warning() {
    let app = TestApp::new().await;
    let answer = app.add(&["203.0.113.0/24"]).await.expect(201);
    let text = answer.header(WARNING);
    assert!(
        text.starts_with("192.0.2.1 is not on the allow list"),
        "{text}"
    );
    assert!(text.contains("posthaste access recover"), "{text}");
    // This instance enforces it at once.
    app.api
        .get(LIST)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(403);
    // The way back in.
    app.store
        .clear_allowed_ips(&app.tenant.account.id)
        .await
        .unwrap();
    app.hand.advance(10);
    app.api
        .get(LIST)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn removing_your_own_address_is_allowed_and_said() {
    let app = TestApp::new().await;
    let home = HOME.to_string();
    let added = app.add(&[&home, "203.0.113.0/24"]).await.expect(201);
    assert_eq!(added.header(WARNING), "");
    let gone = app
        .api
        .delete(&format!("{LIST}/1"))
        .key(&app.tenant.key)
        .send()
        .await;
    assert!(gone.expect(204).header(WARNING).starts_with("192.0.2.1"));
    app.api
        .get(LIST)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(403);
}

#[tokio::test]
async fn removing_the_last_entry_opens_the_account() {
    let app = TestApp::new().await;
    app.add(&[&HOME.to_string()]).await.expect(201);
    let gone = app
        .api
        .delete(&format!("{LIST}/1"))
        .key(&app.tenant.key)
        .send()
        .await;
    assert_eq!(gone.expect(204).header(WARNING), "");
    let anywhere = app.api.get(LIST).key(&app.tenant.key).from(None);
    anywhere.send().await.expect(200);
}

#[tokio::test]
async fn a_parent_that_acts_for_a_subuser_is_not_locked_out() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let body = serde_json::json!({"ips": [{"ip": "203.0.113.9"}]});
    let post = app
        .api
        .post(LIST)
        .key(&app.tenant.key)
        .as_if("sub")
        .json(&body);
    assert_eq!(post.send().await.expect(201).header(WARNING), "");
    app.api
        .get(LIST)
        .key(&app.tenant.key)
        .as_if("sub")
        .send()
        .await
        .expect(200);
    app.api.get(LIST).key(&sub.key).send().await.expect(403);
}
