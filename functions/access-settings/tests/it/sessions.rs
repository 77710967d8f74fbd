//! Sessions of the console by API: listed and ended by their account alone.

use posthaste_store::{ConsoleSession, ConsoleToken, SESSION_IDLE, Secret, SessionOrigin};
use posthaste_testkit::{Ask, HOME, Tenant, entropy};
use serde_json::{Value, json};

use crate::{LIST, TestApp};

const SESSIONS: &str = "/v3/access_settings/sessions";

/// As a page of the console asks.
fn of_page<'a>(ask: Ask<'a>, token: &ConsoleToken) -> Ask<'a> {
    ask.header("host", "127.0.0.1:3000")
        .header("origin", "http://127.0.0.1:3000")
        .header("x-posthaste-console", "1")
        .header("cookie", &format!("posthaste={}", token.expose()))
}

impl TestApp {
    async fn session(&self, of: &Tenant, with_key: bool) -> ConsoleToken {
        let token = ConsoleToken::generate(&of.account.id, &entropy());
        let key = Secret::parse(&of.key).unwrap().id().clone();
        let from = SessionOrigin {
            agent: "a browser".to_owned(),
            ip: Some(HOME),
        };
        let key = with_key.then_some(key);
        let session = ConsoleSession::new(&token, key, &from, self.hand.now());
        self.store.create_session(&session).await.unwrap();
        token
    }

    async fn sessions(&self, key: &str) -> Vec<Value> {
        let answer = self.api.get(SESSIONS).key(key).send().await;
        let list = answer.expect(200).json()["result"].clone();
        list.as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn a_session_is_listed_with_its_way_in_and_without_its_secret() {
    let app = TestApp::new().await;
    let at = app.hand.now().0;
    let token = app.session(&app.tenant, true).await;
    let secret = token.expose().rsplit('.').next().unwrap();
    let get = app.api.get(SESSIONS).key(&app.tenant.key).send().await;
    let body = get.expect(200);
    let key = app.tenant.key.split('.').nth(1).unwrap();
    let want = json!({"session_id": token.id().to_string(), "opened_with": "api_key", "api_key_id": key,
        "created_at": at, "last_used_at": at, "ends_at": at + SESSION_IDLE, "ip": "192.0.2.1",
        "user_agent": "a browser", "current": false});
    assert_eq!(body.json()["result"], json!([want]));
    assert!(!body.json().to_string().contains(secret));
    // The one that asks is marked; of another way in.
    let own = app.session(&app.tenant, false).await;
    let answer = of_page(app.api.get(SESSIONS), &own).send().await;
    let list = answer.expect(200).json()["result"].clone();
    let seen = |one: &Value| (one["opened_with"].clone(), one["current"].clone());
    let seen: Vec<_> = list.as_array().unwrap().iter().map(seen).collect();
    assert!(seen.contains(&(json!("link"), json!(true))), "{seen:?}");
    assert!(seen.contains(&(json!("api_key"), json!(false))), "{seen:?}");
    app.hand.advance(SESSION_IDLE);
    assert_eq!(app.sessions(&app.tenant.key).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_session_ends_the_others_or_one_of_them() {
    let app = TestApp::new().await;
    let [own, first, second, third] = [
        app.session(&app.tenant, false).await,
        app.session(&app.tenant, false).await,
        app.session(&app.tenant, false).await,
        app.session(&app.tenant, false).await,
    ];
    let read = |token| of_page(app.api.get(LIST), token).send();
    for token in [&own, &first, &second, &third] {
        read(token).await.expect(200);
    }
    let one = format!("{SESSIONS}/{}", first.id());
    let end = of_page(app.api.delete(&one), &own).send().await;
    end.expect(204);
    // At once in the instance that ended it.
    read(&first).await.expect(401);
    let end = of_page(app.api.delete(&one), &own).send().await;
    end.expect(404);
    read(&second).await.expect(200);
    let end = of_page(app.api.delete(SESSIONS), &own).send().await;
    end.expect(204);
    read(&second).await.expect(401);
    read(&third).await.expect(401);
    read(&own).await.expect(200);
    // A key is no session: nothing is left out.
    let end = app.api.delete(SESSIONS).key(&app.tenant.key).send().await;
    end.expect(204);
    read(&own).await.expect(401);
}

#[tokio::test]
async fn sessions_need_their_scopes_and_belong_to_their_account() {
    let app = TestApp::new().await;
    let token = app.session(&app.tenant, false).await;
    let one = format!("{SESSIONS}/{}", token.id());
    let few = app.tenant.restricted(&app.store, &["mail.send"]).await;
    for ask in [
        app.api.get(SESSIONS),
        app.api.delete(SESSIONS),
        app.api.delete(&one),
    ] {
        ask.key(&few).send().await.expect(403);
    }
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    assert_eq!(app.sessions(&other.key).await, [] as [Value; 0]);
    let end = app.api.delete(&one).key(&other.key).send().await;
    end.expect(404);
    let end = app.api.delete(SESSIONS).key(&other.key).send().await;
    end.expect(204);
    let end = app.api.delete(&format!("{SESSIONS}/x")).key(&other.key);
    end.send().await.expect(404);
    assert_eq!(app.sessions(&app.tenant.key).await.len(), 1);
}

#[tokio::test]
async fn the_list_names_the_address_of_its_caller() {
    let app = TestApp::new().await;
    let get = |from| app.api.get(LIST).key(&app.tenant.key).from(from).send();
    let header = "x-posthaste-caller-address";
    let v6 = "2001:db8::7".parse().unwrap();
    assert_eq!(
        get(Some(HOME)).await.expect(200).header(header),
        "192.0.2.1"
    );
    assert_eq!(
        get(Some(v6)).await.expect(200).header(header),
        "2001:db8::7"
    );
    assert_eq!(get(None).await.expect(200).header(header), "");
}
