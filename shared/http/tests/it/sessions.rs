//! Sessions: what opens one, what one opens, and what a page of another origin does with one.

use std::net::IpAddr;

use posthaste_http::RateLimits;
use posthaste_model::KeyId;
use posthaste_store::{AccountStatus, ConsoleToken, LINK_LIFE, SESSION_IDLE, SESSION_LIFE, Secret};
use posthaste_testkit::{Api, Ask, Response, Tenant, entropy};
use serde_json::json;

use crate::{TestApp, per_minute};

const HOST: &str = "127.0.0.1:3000";
const ORIGIN: &str = "http://127.0.0.1:3000";

/// A call as a page of the console makes it.
fn of_page<'a>(ask: Ask<'a>, cookie: &str) -> Ask<'a> {
    ask.header("host", HOST)
        .header("origin", ORIGIN)
        .header("x-posthaste-console", "1")
        .header("cookie", cookie)
}

fn form<'a>(api: &'a Api, path: &str, secret: &str) -> Ask<'a> {
    let ask = api.post(path).header("host", HOST);
    ask.header("origin", ORIGIN).body(secret.to_owned())
}

/// The cookie that a browser sends after this answer.
#[track_caller]
fn cookie(answer: &Response) -> String {
    let set = answer.header("set-cookie");
    set.split(';').next().unwrap().to_owned()
}

impl TestApp {
    async fn link(&self, tenant: &Tenant) -> ConsoleToken {
        let link = ConsoleToken::generate(&tenant.account.id, &entropy());
        let made = self.store.create_sign_in_link(&link, self.hand.now()).await;
        made.unwrap();
        link
    }

    async fn by_link(&self) -> String {
        let link = self.link(&self.tenant).await;
        let answer = form(&self.api, "/in/link", link.expose()).send().await;
        cookie(&answer.expect(200))
    }

    async fn by_key(&self, key: &str) -> String {
        cookie(&form(&self.api, "/in/key", key).send().await.expect(200))
    }

    async fn reads(&self, cookie: &str) -> Response {
        of_page(self.api.get("/v3/templates"), cookie).send().await
    }
}

#[tokio::test]
async fn a_link_opens_one_session_with_full_access() {
    let app = TestApp::new().await;
    let link = app.link(&app.tenant).await;
    let opened = form(&app.api, "/in/link", link.expose()).send().await;
    let opened = opened.expect(200);
    let set = opened.header("set-cookie").to_owned();
    assert!(
        set.starts_with("posthaste=") && set.contains("; HttpOnly; SameSite=Strict"),
        "{set}"
    );
    let cookie = cookie(&opened);
    let seen = app.reads(&cookie).await.expect(200).json();
    assert_eq!(seen["account"], "parent");
    let post = of_page(app.api.post("/v3/templates"), &cookie).json(&json!({"a": 1}));
    post.send().await.expect(200);
    of_page(app.api.post("/v3/mail/send"), &cookie)
        .send()
        .await
        .expect(202);
    form(&app.api, "/in/link", link.expose())
        .send()
        .await
        .expect(401);
}

#[tokio::test]
async fn a_late_or_foreign_link_opens_nothing() {
    let app = TestApp::new().await;
    let link = app.link(&app.tenant).await;
    app.hand.advance(LINK_LIFE);
    form(&app.api, "/in/link", link.expose())
        .send()
        .await
        .expect(401);
    for text in ["", "x", app.tenant.key.as_str()] {
        form(&app.api, "/in/link", text).send().await.expect(401);
    }
    // Neither is the token of a session a link, nor that of a link a session.
    let cookie = app.by_link().await;
    let token = cookie.strip_prefix("posthaste=").unwrap();
    form(&app.api, "/in/link", token).send().await.expect(401);
    let link = app.link(&app.tenant).await;
    app.reads(&format!("posthaste={}", link.expose()))
        .await
        .expect(401);
}

#[tokio::test]
async fn the_scopes_of_a_session_are_those_of_its_key_as_it_is_now() {
    let app = TestApp::new().await;
    let key = app.tenant.restricted(&app.store, &["templates.read"]).await;
    let cookie = app.by_key(&key).await;
    app.reads(&cookie).await.expect(200);
    let create = || of_page(app.api.post("/v3/templates"), &cookie).json(&json!({}));
    create().send().await.expect(403);
    let account = &app.tenant.account.id;
    let id = Secret::parse(&key).unwrap().id().clone();
    let wider = app.store.update_key(account, &id, |key| {
        key.scopes = vec!["templates.create".to_owned()];
    });
    assert!(wider.await.unwrap().is_some());
    app.hand.advance(10);
    create().send().await.expect(200);
    app.reads(&cookie).await.expect(403);
    assert_eq!(app.store.delete_key(account, &id).await, Ok(true));
    app.hand.advance(10);
    create().send().await.expect(401);
}

#[tokio::test]
async fn a_wrong_key_opens_nothing() {
    let app = TestApp::new().await;
    let wrong = format!("{}X", app.tenant.key.get(..68).unwrap());
    for key in ["", "x", wrong.as_str()] {
        form(&app.api, "/in/key", key).send().await.expect(401);
    }
    let sessions = app.store.sessions(&app.tenant.account.id, app.hand.now());
    assert_eq!(sessions.await, Ok(vec![]));
}

#[tokio::test]
async fn a_page_of_another_origin_changes_and_reads_nothing() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let post = || {
        app.api
            .post("/v3/templates")
            .json(&json!({}))
            .header("cookie", &cookie)
    };
    // A form of another page, a script of another port, and what a browser would never send.
    post().header("host", HOST).send().await.expect(403);
    post()
        .header("host", HOST)
        .header("origin", ORIGIN)
        .send()
        .await
        .expect(403);
    post()
        .header("host", HOST)
        .header("x-posthaste-console", "1")
        .send()
        .await
        .expect(403);
    for origin in [
        "http://evil.example",
        "http://127.0.0.1:3001",
        "null",
        "https://127.0.0.1",
    ] {
        let ask = post()
            .header("host", HOST)
            .header("x-posthaste-console", "1");
        let answer = ask.header("origin", origin).send().await.expect(403);
        let message = answer.error().1;
        assert_eq!(
            message, "a session is used by the console's own pages only",
            "{origin}"
        );
    }
    let get = || {
        app.api
            .get("/v3/templates")
            .header("host", HOST)
            .header("cookie", &cookie)
    };
    get()
        .header("sec-fetch-site", "cross-site")
        .send()
        .await
        .expect(403);
    get()
        .header("sec-fetch-site", "same-site")
        .send()
        .await
        .expect(403);
    get()
        .header("sec-fetch-site", "same-origin")
        .send()
        .await
        .expect(200);
    // A name that leads to this machine (DNS rebinding) is not its origin, and has no cookie of it.
    let ask = post()
        .header("host", "evil.example")
        .header("origin", "http://evil.example");
    ask.header("x-posthaste-console", "1")
        .send()
        .await
        .expect(401);
    // Nor does such a page sign anyone in or out.
    let link = app.link(&app.tenant).await;
    let sign_in = app
        .api
        .post("/in/link")
        .header("host", HOST)
        .body(link.expose().to_owned());
    sign_in
        .header("origin", "http://evil.example")
        .send()
        .await
        .expect(403);
    let out = app
        .api
        .post("/out")
        .header("host", HOST)
        .header("cookie", &cookie);
    out.header("origin", "http://evil.example")
        .send()
        .await
        .expect(403);
    app.reads(&cookie).await.expect(200);
    form(&app.api, "/in/link", link.expose())
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn a_session_leaves_by_https_or_stays_on_the_machine() {
    let app = TestApp::new().await;
    let host = |host: &'static str, origin: &'static str| {
        let ask = app.api.post("/in/key").body(app.tenant.key.clone());
        ask.header("host", host).header("origin", origin).send()
    };
    let https = host("localhost:3000", "https://localhost:3000")
        .await
        .expect(200);
    let set = https.header("set-cookie");
    assert!(
        set.starts_with("__Host-posthaste=") && set.ends_with("; Secure"),
        "{set}"
    );
    host("192.168.1.7:3000", "http://192.168.1.7:3000")
        .await
        .expect(400);
    // The name without a prefix is read on this machine only.
    let cookie = app.by_link().await;
    let ask = app.api.get("/v3/templates").header("cookie", &cookie);
    ask.header("host", "post.example").send().await.expect(401);
}

#[tokio::test]
async fn a_key_in_the_header_goes_before_a_session() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let both = app.api.get("/v3/templates").key(&other.key);
    let both = of_page(both, &cookie).send().await.expect(200).json();
    assert_eq!(both["account"], "other");
    let wrong = app.api.get("/v3/templates").key("x");
    of_page(wrong, &cookie).send().await.expect(401);
}

#[tokio::test]
async fn allow_list_and_suspension_apply_and_are_recorded() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let id = &app.tenant.account.id;
    let link = app.link(&app.tenant).await;
    let nets = ["203.0.113.0/24".parse().unwrap()];
    let allowed = app.store.allow_ips(id, &nets, app.hand.now()).await;
    assert!(matches!(allowed, Ok(posthaste_store::Allow::Added(_))));
    app.hand.advance(10);
    app.reads(&cookie).await.expect(403);
    form(&app.api, "/in/key", &app.tenant.key)
        .send()
        .await
        .expect(403);
    form(&app.api, "/in/link", link.expose())
        .send()
        .await
        .expect(403);
    // It was not used up, and opens from an address on the list.
    let inside: Option<IpAddr> = Some("203.0.113.9".parse().unwrap());
    let opened = form(&app.api, "/in/link", link.expose()).from(inside);
    opened.send().await.expect(200);
    let get = of_page(app.api.get("/v3/templates"), &cookie);
    get.from(inside).send().await.expect(200);
    let seen = app.store.attempts(id, app.hand.now()).await.unwrap();
    let sessions = seen.iter().filter(|seen| seen.auth_method == "session");
    let allowed: Vec<_> = sessions.map(|seen| seen.allowed).collect();
    assert!(
        allowed.contains(&true) && allowed.contains(&false),
        "{seen:?}"
    );

    let suspended = app
        .store
        .update_account(id, |account| account.status = AccountStatus::Disabled);
    assert!(suspended.await.unwrap().is_some());
    app.hand.advance(10);
    let get = of_page(app.api.get("/v3/templates"), &cookie);
    get.from(inside).send().await.expect(403);
    let sign_in = form(&app.api, "/in/key", &app.tenant.key).from(inside);
    sign_in.send().await.expect(403);
}

#[tokio::test]
async fn a_session_acts_on_behalf_and_is_limited_as_a_key() {
    let app = TestApp::with(per_minute(3)).await;
    app.tenant.subuser(&app.store, "sub").await;
    let cookie = app.by_link().await;
    let as_sub = || of_page(app.api.get("/v3/templates"), &cookie).as_if("sub");
    let seen = as_sub().send().await.expect(200).json();
    assert_eq!(
        (&seen["account"], &seen["on_behalf"]),
        (&json!("sub"), &json!(true))
    );
    let stranger = of_page(app.api.get("/v3/templates"), &cookie).as_if("nobody");
    stranger.send().await.expect(403);
    as_sub().send().await.expect(200);
    let last = as_sub().send().await.expect(200);
    assert_eq!(last.header("x-ratelimit-remaining"), "0");
    as_sub().send().await.expect(429);
}

#[tokio::test]
async fn a_session_ends_idle_after_its_life_and_when_it_is_ended() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let idle = app.by_link().await;
    for _ in 0..SESSION_LIFE / (SESSION_IDLE / 2) - 1 {
        app.hand.advance(SESSION_IDLE / 2);
        app.reads(&cookie).await.expect(200);
    }
    app.reads(&idle).await.expect(401);
    app.hand.advance(SESSION_IDLE / 2);
    app.reads(&cookie).await.expect(401);

    let cookie = app.by_link().await;
    let elsewhere = app.instance(RateLimits::default());
    of_page(elsewhere.get("/v3/templates"), &cookie)
        .send()
        .await
        .expect(200);
    let out = form(&app.api, "/out", "").header("cookie", &cookie);
    let out = out.send().await.expect(200);
    assert!(
        out.header("set-cookie")
            .starts_with("posthaste=; Path=/; Max-Age=0"),
        "{out:?}"
    );
    app.reads(&cookie).await.expect(401);
    app.hand.advance(10);
    of_page(elsewhere.get("/v3/templates"), &cookie)
        .send()
        .await
        .expect(401);
}

#[tokio::test]
async fn a_cookie_that_is_no_token_is_refused_and_counted_by_address() {
    let app = TestApp::with(per_minute(4)).await;
    let good = app.by_link().await;
    let other = KeyId::from_bytes([9; 16]);
    let (head, secret) = good.split_at(good.len() - 43);
    let altered: String = secret.chars().rev().collect();
    let account = &app.tenant.account.id;
    for cookie in [
        "posthaste=".to_owned(),
        format!("{head}{altered}"),
        format!("posthaste={account}.{other}.{secret}"),
    ] {
        app.reads(&cookie).await.expect(401);
    }
    app.reads("posthaste=x").await.expect(429);
    app.reads(&good).await.expect(200);
}
