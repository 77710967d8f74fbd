//! `/v3/teammates`: the owner, alone.

use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/teammates";

impl TestApp {
    /// The path below the teammates that is the owner's.
    fn owner_path(&self) -> String {
        format!("{ALL}/{}", self.tenant.account.username)
    }
}

#[tokio::test]
async fn the_owner_is_the_one_teammate_with_the_profile_of_the_account() {
    let app = TestApp::new().await;
    app.set(
        "/v3/user/profile",
        &json!({"first_name": "Ann", "city": "Köln"}),
    )
    .await;
    let list = app.get(ALL).await.expect(200).json();
    let [owner] = list["result"].as_array().unwrap().as_slice() else {
        panic!("{list}");
    };
    assert_eq!(owner["username"], app.tenant.account.username.as_str());
    assert_eq!(
        (
            &owner["user_type"],
            &owner["is_admin"],
            &owner["first_name"],
            &owner["city"]
        ),
        (&json!("owner"), &json!(true), &json!("Ann"), &json!("Köln"))
    );
    let none = json!({"result": []});
    assert_eq!(
        app.get(&format!("{ALL}?offset=1")).await.expect(200).json(),
        none
    );
    assert_eq!(
        app.get(&format!("{ALL}/pending")).await.expect(200).json(),
        none
    );
    app.get(&format!("{ALL}?limit=0")).await.expect(400);

    let mut detail = app.get(&app.owner_path()).await.expect(200).json();
    let scopes = detail.as_object_mut().unwrap().remove("scopes").unwrap();
    assert!(scopes.as_array().unwrap().contains(&json!("mail.send")));
    assert_eq!(detail, *owner);
    let access = app
        .get(&format!("{}/subuser_access", app.owner_path()))
        .await;
    let want = json!({"has_restricted_subuser_access": false, "subuser_access": []});
    assert_eq!(access.expect(200).json(), want);
}

#[tokio::test]
async fn none_can_be_invited_changed_or_removed() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let body = json!({"email": "bob@example.com", "scopes": [], "is_admin": true});
    let owner = app.owner_path();
    let refused = app
        .api
        .post(ALL)
        .key(key)
        .json(&body)
        .send()
        .await
        .expect(403);
    let (_, message) = refused.error();
    assert!(message.contains("/v3/api_keys"), "{message}");
    app.patch(&owner, &body).await.expect(403);
    app.api.delete(&owner).key(key).send().await.expect(403);
    for unknown in ["bob", "pending/token"] {
        let path = format!("{ALL}/{unknown}");
        app.api.delete(&path).key(key).send().await.expect(404);
    }
    app.get(&format!("{ALL}/bob")).await.expect(404);
    app.get(&format!("{ALL}/bob/subuser_access"))
        .await
        .expect(404);
    app.patch(&format!("{ALL}/bob"), &body).await.expect(404);
    let resend = format!("{ALL}/pending/token/resend");
    app.api
        .post(&resend)
        .key(key)
        .json(&Value::Null)
        .send()
        .await
        .expect(404);
}
