//! `/v3/senders`: the older API over verified senders.

use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/senders";

fn ann() -> Value {
    json!({"nickname": "Ann", "from": {"email": "ann@example.org", "name": "Ann"},
        "reply_to": {"email": "app@example.org", "name": "App"}, "address": "1 Main St", "address_2": "Apt. 4",
        "city": "Denver", "state": "Colorado", "zip": "80202", "country": "USA"})
}

#[tokio::test]
async fn a_sender_of_the_older_api_is_a_verified_sender() {
    let app = TestApp::new().await;
    let now = app.hand.now().0;
    let made = app.post(ALL, &ann(), 201).await;
    let mut want = ann();
    want["id"] = json!(1);
    want["verified"] = json!(false);
    want["locked"] = json!(false);
    want["created_at"] = json!(now);
    want["updated_at"] = json!(now);
    assert_eq!(made, want);
    let newer = app.get("/v3/verified_senders", 200).await;
    assert_eq!(newer["results"][0]["from_email"], "ann@example.org");
    assert_eq!(newer["results"][0]["address2"], "Apt. 4");

    app.api.post(&app.link()).send().await.expect(200);
    app.hand.advance(60);
    let one = format!("{ALL}/1");
    let changed = app
        .patch(
            &one,
            &json!({"city": "Boulder", "from": {"name": "A"}}),
            200,
        )
        .await;
    want["verified"] = json!(true);
    want["city"] = json!("Boulder");
    want["from"]["name"] = json!("A");
    want["updated_at"] = json!(now + 60);
    assert_eq!(changed, want);
    assert_eq!(app.get(&one, 200).await, want);
    assert_eq!(app.get(ALL, 200).await, json!({"result": [want]}));

    // Verified: there is no mail to send again.
    app.post(&format!("{one}/resend_verification"), &json!({}), 400)
        .await;
    app.delete(&one, 204).await;
    app.get(&one, 404).await;
    app.patch(&one, &json!({"city": "Denver"}), 404).await;
    app.delete(&one, 404).await;
    app.post(&format!("{one}/resend_verification"), &json!({}), 404)
        .await;
}

#[tokio::test]
async fn every_problem_is_said_by_its_field_and_nothing_is_stored() {
    let app = TestApp::new().await;
    let refused = app
        .post(
            ALL,
            &json!({"from": {"email": "nowhere"}, "zip": "x".repeat(11)}),
            400,
        )
        .await;
    let fields: Vec<_> = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["field"])
        .collect();
    assert_eq!(
        fields,
        [
            "nickname",
            "address",
            "city",
            "zip",
            "country",
            "from.email"
        ]
    );
    assert_eq!(app.get(ALL, 200).await, json!({"result": []}));
    assert!(app.mails().is_empty());

    app.post(ALL, &ann(), 201).await;
    let again = app.post(ALL, &ann(), 400).await;
    assert_eq!(again["errors"][0]["field"], "from.email");
    app.patch(&format!("{ALL}/1"), &json!({"city": ""}), 400)
        .await;
}

/// Each of the two APIs has its own rules about what both store.
#[tokio::test]
async fn what_one_api_stored_hinders_no_change_by_the_other() {
    let app = TestApp::new().await;
    app.post(ALL, &ann(), 201).await;
    // A `state` has two letters there.
    let changed = app
        .patch("/v3/verified_senders/1", &json!({"nickname": "A"}), 200)
        .await;
    assert_eq!(changed["state"], "Colorado");
    app.patch("/v3/verified_senders/1", &json!({"state": "Utah"}), 400)
        .await;
    // An address is required here.
    let bob =
        json!({"nickname": "Bob", "from_email": "bob@example.org", "reply_to": "bob@example.org"});
    app.post("/v3/verified_senders", &bob, 201).await;
    let changed = app
        .patch(&format!("{ALL}/2"), &json!({"nickname": "B"}), 200)
        .await;
    assert_eq!(changed["nickname"], "B");
}

#[tokio::test]
async fn the_link_is_mailed_again_and_another_address_is_verified_anew() {
    let app = TestApp::new().await;
    app.post(ALL, &ann(), 201).await;
    app.api.post(&app.link()).send().await.expect(200);
    let one = format!("{ALL}/1");
    let moved = app
        .patch(&one, &json!({"from": {"email": "eve@example.org"}}), 200)
        .await;
    assert_eq!(moved["verified"], false);
    assert_eq!(app.mails().len(), 1);
    app.hand.advance(600);
    app.post(&format!("{one}/resend_verification"), &json!({}), 204)
        .await;
    app.api.post(&app.link()).send().await.expect(200);
    assert_eq!(app.get(&one, 200).await["verified"], true);
}
