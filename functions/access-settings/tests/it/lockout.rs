use posthaste_testkit::HOME;

use crate::{LIST, TestApp};

const WARNING: &str = "x-posthaste-warning";

#[tokio::test]
async fn adding_somebody_else_first_locks_out_and_says_so() {
    let desk = TestApp::new().await;
    let answer = desk.add(&["203.0.113.0/24"]).await.expect(201);
    let text = answer.header(WARNING);
    assert!(
        text.starts_with("192.0.2.1 is not on the allow list"),
        "{text}"
    );
    assert!(text.contains("posthaste access recover"), "{text}");
    // This instance enforces it at once.
    desk.api
        .get(LIST)
        .key(&desk.tenant.key)
        .send()
        .await
        .expect(403);
    // The way back in.
    desk.store
        .clear_allowed_ips(&desk.tenant.account.id)
        .await
        .unwrap();
    desk.hand.advance(10);
    desk.api
        .get(LIST)
        .key(&desk.tenant.key)
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn removing_your_own_address_is_allowed_and_said() {
    let desk = TestApp::new().await;
    let home = HOME.to_string();
    let added = desk.add(&[&home, "203.0.113.0/24"]).await.expect(201);
    assert_eq!(added.header(WARNING), "");
    let gone = desk
        .api
        .delete(&format!("{LIST}/1"))
        .key(&desk.tenant.key)
        .send()
        .await;
    assert!(gone.expect(204).header(WARNING).starts_with("192.0.2.1"));
    desk.api
        .get(LIST)
        .key(&desk.tenant.key)
        .send()
        .await
        .expect(403);
}

#[tokio::test]
async fn removing_the_last_entry_opens_the_account() {
    let desk = TestApp::new().await;
    desk.add(&[&HOME.to_string()]).await.expect(201);
    let gone = desk
        .api
        .delete(&format!("{LIST}/1"))
        .key(&desk.tenant.key)
        .send()
        .await;
    assert_eq!(gone.expect(204).header(WARNING), "");
    let anywhere = desk.api.get(LIST).key(&desk.tenant.key).from(None);
    anywhere.send().await.expect(200);
}

#[tokio::test]
async fn a_parent_that_acts_for_somebody_is_not_locked_out() {
    let desk = TestApp::new().await;
    let sub = desk.tenant.subuser(&desk.store, "sub").await;
    let body = serde_json::json!({"ips": [{"ip": "203.0.113.9"}]});
    let post = desk
        .api
        .post(LIST)
        .key(&desk.tenant.key)
        .as_if("sub")
        .json(&body);
    assert_eq!(post.send().await.expect(201).header(WARNING), "");
    desk.api
        .get(LIST)
        .key(&desk.tenant.key)
        .as_if("sub")
        .send()
        .await
        .expect(200);
    desk.api.get(LIST).key(&sub.key).send().await.expect(403);
}
