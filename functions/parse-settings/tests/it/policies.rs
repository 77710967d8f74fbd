//! Security policies: created, read, changed, attached and deleted; secrets stay inside.

use parse_settings::MOST_POLICIES;
use posthaste_model::PolicyId;
use posthaste_store::{PolicyDeletion, SettingChange};
use posthaste_testkit::Tenant;
use posthaste_webhook::{SealedOauth, SealedSecurity, Sealer};
use serde_json::{Value, json};

use crate::{ALL, TestApp};

const POLICIES: &str = "/v3/user/webhooks/security/policies";

fn oauth() -> Value {
    json!({"client_id": "client", "client_secret": "hush", "token_url": "https://auth.example/token",
        "scopes": ["webhooks:read", "webhooks:write"]})
}

impl TestApp {
    async fn policy(&self, body: Value) -> Value {
        let key = &self.tenant.key;
        let made = self.api.post(POLICIES).key(key).json(&body).send().await;
        made.expect(201).json()["policy"].clone()
    }

    async fn attach(&self, hostname: &str, policy: &Value, status: u16) -> Value {
        let key = &self.tenant.key;
        let body = json!({"hostname": hostname, "url": "https://api.example/in",
            "security_policy": policy});
        let made = self.api.post(ALL).key(key).json(&body).send().await;
        made.expect(status).json()
    }

    /// A change of a policy that must be answered so.
    async fn change(&self, policy: &Value, body: Value, status: u16) -> Value {
        let one = format!("{POLICIES}/{}", policy["id"].as_str().unwrap());
        let patch = self.api.patch(&one).key(&self.tenant.key).json(&body);
        patch.send().await.expect(status).json()
    }

    async fn shown(&self, policy: &Value) -> Value {
        let one = format!("{POLICIES}/{}", policy["id"].as_str().unwrap());
        let got = self.api.get(&one).key(&self.tenant.key).send().await;
        got.expect(200).json()["policy"].clone()
    }
}

fn message(answer: &Value) -> (String, String) {
    let error = &answer["errors"][0];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (text("field"), text("message"))
}

#[tokio::test]
async fn a_policy_is_created_read_changed_and_deleted() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let body = json!({"name": "both", "oauth": oauth(), "signature": {"enabled": true}});
    let both = app.policy(body).await;
    let public_key = both["signature"]["public_key"].as_str().unwrap();
    assert_eq!(
        (both["id"].as_str().unwrap().len(), public_key.len()),
        (36, 124)
    );
    let mut shown = oauth();
    shown.as_object_mut().unwrap().remove("client_secret");
    assert_eq!(
        both,
        json!({"id": both["id"], "name": "both", "oauth": shown,
            "signature": {"public_key": public_key}})
    );
    assert_eq!(app.shown(&both).await, both);
    app.hand.advance(1);
    let signed = app.policy(json!({"signature": {"enabled": true}})).await;
    assert_eq!(signed["name"], "");
    assert!(signed.get("oauth").is_none());
    assert_ne!(signed["signature"]["public_key"], json!(public_key));
    let listed = app.api.get(POLICIES).key(key).send().await;
    assert_eq!(
        listed.expect(200).json(),
        json!({"policies": [both, signed]})
    );

    // What is left out stays, the key too; the answer is the one of the v3 API.
    let changed =
        json!({"name": "renamed", "oauth": {"scopes": []}, "signature": {"enabled": true}});
    let changed = app.change(&both, changed, 200).await;
    let want =
        json!({"client_id": "client", "token_url": "https://auth.example/token", "scopes": []});
    assert_eq!(
        changed,
        json!({"policy": {"id": both["id"], "name": "renamed", "oauth": want}})
    );
    assert_eq!(
        app.shown(&both).await["signature"]["public_key"],
        json!(public_key)
    );
    app.change(&both, json!({"signature": {"enabled": false}}), 200)
        .await;
    assert!(app.shown(&both).await.get("signature").is_none());
    let again = json!({"signature": {"enabled": true}, "oauth": null});
    app.change(&both, again, 200).await;
    let fresh = app.shown(&both).await;
    assert!(fresh.get("oauth").is_none());
    assert_ne!(fresh["signature"]["public_key"], json!(public_key));

    let one = format!("{POLICIES}/{}", both["id"].as_str().unwrap());
    let deleted = app.api.delete(&one).key(key).send().await;
    assert_eq!(deleted.expect(200).json(), json!({"policy": null}));
    for id in [
        one.as_str(),
        &format!("{POLICIES}/none"),
        &format!("{POLICIES}/D0D67763-A16D-4E19-95EA-20231C35511B"),
    ] {
        app.api.get(id).key(key).send().await.expect(404);
        app.api.delete(id).key(key).send().await.expect(404);
        let patch = app.api.patch(id).key(key).json(&json!({"name": "x"}));
        patch.send().await.expect(404);
    }
}

#[tokio::test]
async fn what_secures_nothing_or_is_too_long_is_refused_and_changes_nothing() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let with = |field: &str, value: Value| {
        let mut oauth = oauth();
        oauth[field] = value;
        json!({"oauth": oauth})
    };
    let without = |field: &str| {
        let mut oauth = oauth();
        oauth.as_object_mut().unwrap().remove(field);
        json!({"oauth": oauth})
    };
    let neither = "a security policy has a signature, oauth or both";
    let missing = "missing required argument";
    for (body, field, want) in [
        (json!({}), "signature", neither),
        (
            json!({"name": "n", "signature": {"enabled": false}}),
            "signature",
            neither,
        ),
        (
            json!({"oauth": null, "signature": null}),
            "signature",
            neither,
        ),
        (json!({"signature": {}}), "signature.enabled", missing),
        (
            json!({"name": null, "signature": {"enabled": true}}),
            "name",
            "name must be a string",
        ),
        (
            json!({"name": "n".repeat(1025), "signature": {"enabled": true}}),
            "name",
            "name exceeds 1024 bytes",
        ),
        (without("client_id"), "oauth.client_id", missing),
        (without("client_secret"), "oauth.client_secret", missing),
        (without("token_url"), "oauth.token_url", missing),
        (
            with("client_secret", json!("")),
            "oauth.client_secret",
            missing,
        ),
        (
            with("client_id", json!("c".repeat(1025))),
            "oauth.client_id",
            "oauth.client_id exceeds 1024 bytes",
        ),
        (
            with("client_secret", json!("c".repeat(1025))),
            "oauth.client_secret",
            "oauth.client_secret exceeds 1024 bytes",
        ),
        (
            with("token_url", json!("ftp://auth.example/")),
            "oauth.token_url",
            "oauth.token_url is not a valid url",
        ),
        (
            with("scopes", json!(["a b"])),
            "oauth.scopes",
            "a scope has printable characters of ASCII, without spaces, quotes and backslashes",
        ),
        (
            with("scopes", json!([""])),
            "oauth.scopes",
            "a scope has printable characters of ASCII, without spaces, quotes and backslashes",
        ),
        (
            with("scopes", json!(vec!["s"; 513])),
            "oauth.scopes",
            "oauth.scopes exceeds 1024 bytes",
        ),
    ] {
        let refused = app.api.post(POLICIES).key(key).json(&body).send().await;
        let refused = message(&refused.expect(400).json());
        assert_eq!(refused, (field.to_owned(), want.to_owned()), "{body}");
    }
    let private = with("token_url", json!("http://169.254.169.254/token"));
    let refused = app.api.post(POLICIES).key(key).json(&private).send().await;
    assert_eq!(message(&refused.expect(400).json()).0, "oauth.token_url");
    let listed = app.api.get(POLICIES).key(key).send().await;
    assert_eq!(listed.expect(200).json(), json!({"policies": []}));

    // As long as may be.
    let longest = json!({"name": "n".repeat(1024), "signature": {"enabled": true},
        "oauth": {"client_id": "c".repeat(1024), "client_secret": "s".repeat(1024),
            "token_url": "https://auth.example/", "scopes": vec!["s"; 512]}});
    let policy = app.policy(longest).await;
    let all_at_once =
        json!({"name": "n".repeat(1025), "oauth": {"client_id": "", "scopes": ["\""]}});
    let refused = app.change(&policy, all_at_once, 400).await;
    assert_eq!(refused["errors"].as_array().unwrap().len(), 3);
    let last = json!({"oauth": null, "signature": {"enabled": false}});
    assert_eq!(message(&app.change(&policy, last, 400).await).1, neither);
    assert_eq!(app.shown(&policy).await, policy);
}

#[tokio::test]
async fn secrets_are_sealed_and_another_token_url_keeps_the_secret() {
    let app = TestApp::new().await;
    let body = json!({"oauth": oauth(), "signature": {"enabled": true}});
    let policy = app.policy(body).await;
    let moved = json!({"oauth": {"token_url": "https://other.example/token"}});
    app.change(&policy, moved, 200).await;
    let account = &app.tenant.account.id;
    let rows = app.store.security_policies(account).await.unwrap();
    let row = &rows[0];
    let oauth = row.oauth.as_ref().unwrap();
    assert!(!oauth.client_secret.contains("hush"));
    let sealer: Sealer = app
        .services
        .platform()
        .env()
        .parsed("STACK_SECRET")
        .unwrap();
    let sealed = SealedSecurity {
        account,
        id: row.id.as_str(),
        private_key: row.signing.as_ref().map(|pair| &*pair.private_key),
        oauth: Some(SealedOauth {
            client_id: &oauth.client_id,
            client_secret: Some(&oauth.client_secret),
            token_url: &oauth.token_url,
            scopes: &oauth.scopes,
        }),
    };
    let open = posthaste_webhook::PostSecurity::open(&sealer, sealed).unwrap();
    let shown = policy["signature"]["public_key"].as_str();
    assert_eq!(open.signer().map(|pair| pair.public_key()), shown);
    let place = posthaste_webhook::oauth_place(account, &row.id);
    assert_eq!(
        sealer.open_text(&place, &oauth.client_secret).unwrap(),
        "hush"
    );
}

#[tokio::test]
async fn a_setting_names_a_policy_of_its_account_and_lets_it_go() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let policy = app.policy(json!({"signature": {"enabled": true}})).await;
    let id = &policy["id"];
    assert_eq!(
        &app.attach("in.shop.example", id, 201).await["security_policy"],
        id
    );
    let one = format!("{ALL}/in.shop.example");
    let setting = async || app.api.get(&one).key(key).send().await.expect(200).json();
    let patch = async |body: Value, status: u16| {
        let patch = app.api.patch(&one).key(key).json(&body);
        patch.send().await.expect(status).json()
    };
    assert_eq!(&setting().await["security_policy"], id);
    // What else changes leaves it.
    assert_eq!(
        &patch(json!({"send_raw": true}), 200).await["security_policy"],
        id
    );
    for none in [json!(null), json!("")] {
        let bare = patch(json!({ "security_policy": none }), 200).await;
        assert!(bare.get("security_policy").is_none(), "{bare}");
        assert_eq!(
            &patch(json!({ "security_policy": id }), 200).await["security_policy"],
            id
        );
    }

    let stranger = Tenant::new(&app.store, "stranger", app.hand.now()).await;
    app.authenticate(&stranger, "other.example").await;
    let theirs = json!({"hostname": "in.other.example", "url": "https://api.example/in",
        "security_policy": id});
    let post = app.api.post(ALL).key(&stranger.key).json(&theirs);
    let refused = post.send().await.expect(400).json();
    let want = "security_policy must be the id of a security policy";
    assert_eq!(
        message(&refused),
        ("security_policy".to_owned(), want.to_owned())
    );
    for absent in ["00000000-0000-4000-8000-000000000000", "none"] {
        let refused = app.attach("b.shop.example", &json!(absent), 400).await;
        assert_eq!(message(&refused).1, want);
        let refused = patch(json!({"security_policy": absent, "send_raw": false}), 400).await;
        assert_eq!(message(&refused).1, want);
    }
    assert_eq!(setting().await["send_raw"], true);
    assert_eq!(&setting().await["security_policy"], id);
}

#[tokio::test]
async fn a_policy_in_use_is_deleted_by_force_alone() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let policy = app.policy(json!({"signature": {"enabled": true}})).await;
    let other = app.policy(json!({"signature": {"enabled": true}})).await;
    for n in 1..=6 {
        let _made = app
            .attach(&format!("{n}.shop.example"), &policy["id"], 201)
            .await;
    }
    let _made = app.attach("in.shop.example", &other["id"], 201).await;
    let one = format!("{POLICIES}/{}", policy["id"].as_str().unwrap());
    for query in ["", "?force=false"] {
        let delete = app.api.delete(&format!("{one}{query}")).key(key);
        let refused = message(&delete.send().await.expect(400).json()).1;
        let users = "1.shop.example, 2.shop.example, 3.shop.example, 4.shop.example, 5.shop.example, 1 more";
        assert!(refused.contains(users), "{refused}");
    }
    let delete = app.api.delete(&format!("{one}?force=maybe")).key(key);
    delete.send().await.expect(400);
    let delete = app.api.delete(&format!("{one}?force=true")).key(key);
    delete.send().await.expect(200);
    let account = &app.tenant.account.id;
    let settings = app.store.parse_settings(account).await.unwrap();
    let attached: Vec<_> = settings
        .iter()
        .filter_map(|one| one.security_policy.as_ref())
        .collect();
    assert_eq!(attached.len(), 1, "{settings:?}");
    app.api.get(&one).key(key).send().await.expect(404);
    let id = attached[0].clone();
    let again = app.store.delete_security_policy(account, &id, false).await;
    assert_eq!(
        again.unwrap(),
        PolicyDeletion::Used(vec!["in.shop.example".to_owned()])
    );
}

/// Whichever comes first: no setting names a policy that is gone.
#[tokio::test]
async fn a_policy_is_attached_and_deleted_at_once() {
    let app = TestApp::new().await;
    let account = &app.tenant.account.id;
    let _made = app.attach("in.shop.example", &json!(null), 201).await;
    for _ in 0..20 {
        let policy = app.policy(json!({"signature": {"enabled": true}})).await;
        let id = PolicyId::parse(policy["id"].as_str().unwrap()).unwrap();
        let attach = app
            .store
            .update_parse(account, "in.shop.example", |setting| {
                setting.security_policy = Some(id.clone());
            });
        let delete = app.store.delete_security_policy(account, &id, false);
        let (attached, deleted) = tokio::join!(attach, delete);
        let setting = app.store.parse_setting(account, "in.shop.example").await;
        let names_it = setting.unwrap().unwrap().security_policy.as_ref() == Some(&id);
        let deleted = deleted.unwrap();
        assert_ne!(deleted, PolicyDeletion::Missing, "a policy that was made");
        if let PolicyDeletion::Used(_) = deleted {
            assert!(names_it);
        } else {
            let outcome = (attached.unwrap(), names_it);
            assert_eq!(outcome, (SettingChange::NoPolicy, false));
        }
    }
}

#[tokio::test]
async fn an_account_has_a_hundred_policies_and_room_again_after_a_deletion() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let body = json!({"signature": {"enabled": true}});
    let first = app.policy(body.clone()).await;
    for _ in 1..MOST_POLICIES {
        let _made = app.policy(body.clone()).await;
    }
    let post = || app.api.post(POLICIES).key(key).json(&body);
    let refused = message(&post().send().await.expect(400).json()).1;
    assert_eq!(refused, "an account has at most 100 security policies");
    let one = format!("{POLICIES}/{}", first["id"].as_str().unwrap());
    app.api.delete(&one).key(key).send().await.expect(200);
    post().send().await.expect(201);
    post().send().await.expect(400);
}
