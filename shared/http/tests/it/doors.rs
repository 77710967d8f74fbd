//! The allow list at the gate, and what is remembered of who came.

use std::net::IpAddr;

use posthaste_store::{Account, AccountStatus, Allow, Disallow};
use posthaste_testkit::{Ask, HOME};

use crate::{TestApp, per_minute};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

impl TestApp {
    async fn allow(&self, nets: &[&str]) {
        let nets: Vec<_> = nets.iter().map(|net| net.parse().unwrap()).collect();
        let (id, now) = (&self.tenant.account.id, self.hand.now());
        let done = self.store.allow_ips(id, &nets, now).await.unwrap();
        assert!(matches!(done, Allow::Added(_)), "{done:?}");
        self.hand.advance(10);
    }

    fn get(&self) -> Ask<'_> {
        self.api.get("/v3/templates").key(&self.tenant.key)
    }
}

#[tokio::test]
async fn a_caller_outside_the_list_is_refused_everywhere() {
    let app = TestApp::new().await;
    app.get().send().await.expect(200);
    app.allow(&["203.0.113.0/24", "2001:db8::/48"]).await;

    for (from, lets_in) in [
        (Some("203.0.113.9"), true),
        (Some("::ffff:203.0.113.9"), true),
        (Some("2001:db8::7"), true),
        (Some("203.0.114.0"), false),
        (Some("2001:db9::"), false),
        (None, false),
    ] {
        let from = from.map(ip);
        let status = if lets_in { 200 } else { 403 };
        let answer = app.get().from(from).send().await.expect(status);
        let any = app.api.get("/v3/scopes").key(&app.tenant.key).from(from);
        any.send().await.expect(status);
        let send = app
            .api
            .post("/v3/mail/send")
            .key(&app.tenant.key)
            .from(from);
        let send = send.send().await.expect(if lets_in { 202 } else { 401 });
        if !lets_in {
            assert_eq!(answer.error().1, "access forbidden");
            let want = "Authenticated user is not authorized to send mail";
            assert_eq!(send.error().1, want);
        }
    }
    // A header is not an address.
    for name in [
        "x-forwarded-for",
        "forwarded",
        "x-real-ip",
        "cf-connecting-ip",
        "true-client-ip",
    ] {
        let ask = app.get().header(name, "203.0.113.9");
        ask.send().await.expect(403);
    }
}

#[tokio::test]
async fn a_change_of_the_list_is_felt_within_ten_seconds_and_an_empty_one_is_open() {
    let app = TestApp::new().await;
    app.get().send().await.expect(200);
    let id = &app.tenant.account.id;
    let nets = ["203.0.113.9/32".parse().unwrap()];
    let Allow::Added(added) = app
        .store
        .allow_ips(id, &nets, app.hand.now())
        .await
        .unwrap()
    else {
        panic!("not added");
    };
    app.hand.advance_ms(9_999);
    app.get().send().await.expect(200);
    app.hand.advance_ms(1);
    app.get().send().await.expect(403);
    assert_eq!(
        app.store.disallow_ips(id, &[added[0].id]).await,
        Ok(Disallow::Removed)
    );
    app.hand.advance(10);
    app.get().send().await.expect(200);
}

#[tokio::test]
async fn the_list_of_the_account_whose_key_is_used_decides() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    app.allow(&["203.0.113.0/24"]).await;
    // The subuser's own key is not bound by its parent's list, the parent's key is, for whomever.
    app.api
        .get("/v3/templates")
        .key(&sub.key)
        .send()
        .await
        .expect(200);
    app.get().as_if("sub").send().await.expect(403);
    let inside = app.get().as_if("sub").from(Some(ip("203.0.113.1")));
    inside.send().await.expect(200);
}

#[tokio::test]
async fn ten_thousand_entries_are_read_once() {
    let app = TestApp::with(per_minute(600)).await;
    let nets: Vec<_> = (0..10_000_u32)
        .map(|i| {
            let base = std::net::Ipv4Addr::from(0x0a00_0000 + i * 2);
            ipnet::IpNet::new(base.into(), 32).unwrap()
        })
        .collect();
    let done = app
        .store
        .allow_ips(&app.tenant.account.id, &nets, app.hand.now())
        .await;
    assert!(matches!(done, Ok(Allow::Added(added)) if added.len() == 10_000));
    let from = |text| Some(ip(text));
    app.get().from(from("10.0.78.30")).send().await.expect(200);
    let calls = app.faults.calls();
    for _ in 0..20 {
        app.hand.advance(1);
        app.get().from(from("10.0.78.31")).send().await.expect(403);
        app.get().from(from("10.0.78.30")).send().await.expect(200);
    }
    // Over twenty seconds: key and account read anew twice, one lease or two, two notes.
    let calls = app.faults.calls() - calls;
    assert!(calls <= 10, "{calls} calls: the list was read again");
}

#[tokio::test]
async fn a_barred_caller_does_not_use_up_the_owners_permits() {
    let app = TestApp::with(per_minute(5)).await;
    app.allow(&["203.0.113.0/24"]).await;
    for _ in 0..5 {
        app.get().send().await.expect(403);
    }
    app.get().send().await.expect(429);
    app.get()
        .from(Some(ip("203.0.113.1")))
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn attempts_are_noted_once_a_minute_for_each_address_and_outcome() {
    let app = TestApp::new().await;
    let id = &app.tenant.account.id;
    app.allow(&["203.0.113.0/24"]).await;
    let inside = Some(ip("203.0.113.1"));
    let first = app.hand.now();
    for _ in 0..3 {
        app.get().from(inside).send().await.expect(200);
        app.get().send().await.expect(403);
        app.get().from(None).send().await.expect(403);
    }
    let calls = app.faults.calls();
    app.get().from(inside).send().await.expect(200);
    app.get().send().await.expect(403);
    assert_eq!(
        app.faults.calls(),
        calls,
        "the same attempt is not written twice in a minute"
    );

    app.hand.advance(60);
    app.get().from(inside).send().await.expect(200);
    // A wrong key is nobody's attempt.
    app.api
        .get("/v3/templates")
        .key(&"A".repeat(69))
        .send()
        .await
        .expect(401);
    let seen = app.store.attempts(id, app.hand.now()).await.unwrap();
    let seen: Vec<_> = seen
        .iter()
        .map(|s| {
            (
                s.ip,
                s.allowed,
                s.auth_method.as_str(),
                s.first_at,
                s.last_at,
            )
        })
        .collect();
    let want = [
        (ip("203.0.113.1"), true, "bearer", first, first.plus(60)),
        (HOME, false, "bearer", first, first),
    ];
    assert_eq!(seen, want);
    let later = app.hand.now().plus(31 * 86_400);
    assert_eq!(app.store.attempts(id, later).await.unwrap(), []);
}

#[tokio::test]
async fn nothing_is_noted_past_the_limit() {
    let app = TestApp::with(per_minute(3)).await;
    let id = &app.tenant.account.id;
    let inside = Some(ip("203.0.113.1"));
    app.allow(&["203.0.113.0/24"]).await;
    let seen = async || app.store.attempts(id, app.hand.now()).await.unwrap();

    // A stranger who was refused three times without a key is refused a fourth time.
    for _ in 0..3 {
        app.api.get("/v3/templates").send().await.expect(401);
    }
    let calls = app.faults.calls();
    app.get().send().await.expect(429);
    let read = app.faults.calls() - calls;
    app.get().send().await.expect(429);
    assert_eq!(seen().await, []);
    // Key, account and list were read; nothing was written.
    assert!(read <= 3, "{read}");
    assert_eq!(
        app.gate
            .log_in(&app.tenant.key, Some(HOME))
            .await
            .unwrap_err()
            .status,
        429
    );
    assert_eq!(seen().await, []);

    // The same for one who is let in.
    app.hand.advance(60);
    for _ in 0..3 {
        app.get().from(inside).send().await.expect(200);
    }
    let other = Some(ip("203.0.113.2"));
    app.get().from(other).send().await.expect(429);
    let seen: Vec<_> = seen().await.into_iter().map(|seen| seen.ip).collect();
    assert_eq!(seen, [ip("203.0.113.1")]);
}

#[tokio::test]
async fn the_addresses_of_one_network_are_one_row() {
    let app = TestApp::new().await;
    let id = &app.tenant.account.id;
    for from in ["2001:db8::1", "2001:db8::2", "2001:db8::3"] {
        app.get().from(Some(ip(from))).send().await.expect(200);
        app.hand.advance(60);
    }
    app.get()
        .from(Some(ip("2001:db8:0:1::1")))
        .send()
        .await
        .expect(200);
    let seen = app.store.attempts(id, app.hand.now()).await.unwrap();
    let seen: Vec<_> = seen.iter().map(|seen| seen.ip).collect();
    assert_eq!(seen, [ip("2001:db8:0:1::1"), ip("2001:db8::3")]);
}

#[tokio::test]
async fn a_storm_of_strangers_hides_none_of_the_owners_own() {
    let app = TestApp::new().await;
    let id = &app.tenant.account.id;
    let now = app.hand.now();
    for i in 0..2_010_u32 {
        let seen = posthaste_store::AccessRecord {
            ip: std::net::Ipv4Addr::from(0x0a00_0000 + i).into(),
            auth_method: "bearer",
            allowed: false,
            at: now,
        };
        app.store.record_attempt(id, seen).await.unwrap();
    }
    app.get().from(Some(HOME)).send().await.expect(200);
    let seen = app.store.attempts(id, now).await.unwrap();
    assert_eq!(seen.len(), 2_001);
    assert_eq!(seen.iter().filter(|seen| seen.allowed).count(), 1);
}

#[tokio::test]
async fn a_note_that_cannot_be_written_stops_nobody() {
    let app = TestApp::new().await;
    app.get().send().await.expect(200);
    app.faults.fail_after(0, false);
    app.get()
        .from(Some(ip("203.0.113.7")))
        .send()
        .await
        .expect(200);
    assert!(app.faults.restore());
}

#[tokio::test]
async fn a_list_that_cannot_be_read_lets_nobody_in() {
    let app = TestApp::new().await;
    app.allow(&["203.0.113.0/24"]).await;
    let api = app.instance(per_minute(100));
    // Key and account can still be read, the list cannot.
    app.faults.fail_after(2, false);
    let ask = api.get("/v3/templates").key(&app.tenant.key);
    ask.from(Some(ip("203.0.113.1"))).send().await.expect(500);
    assert!(app.faults.restore());
}

#[tokio::test]
async fn the_smtp_door_judges_like_mail_send() {
    let app = TestApp::new().await;
    let (gate, key) = (&app.gate, &app.tenant.key);
    let poor = app.tenant.restricted(&app.store, &["templates.read"]).await;
    let refused = async |key: &str, from: Option<IpAddr>| {
        let rejection = gate.log_in(key, from).await.unwrap_err();
        rejection.status.as_u16()
    };
    assert_eq!(
        gate.log_in(key, Some(HOME)).await.unwrap().id(),
        &app.tenant.account.id
    );
    assert_eq!(refused("x", Some(HOME)).await, 401);
    assert_eq!(refused(&"A".repeat(69), Some(HOME)).await, 401);
    assert_eq!(refused(&poor, Some(HOME)).await, 403);
    app.allow(&["203.0.113.0/24"]).await;
    assert_eq!(refused(key, Some(HOME)).await, 401);
    let seen = app
        .store
        .attempts(&app.tenant.account.id, app.hand.now())
        .await
        .unwrap();
    let seen: Vec<_> = seen
        .iter()
        .map(|s| (s.allowed, s.auth_method.as_str()))
        .collect();
    assert_eq!(seen, [(false, "basic"), (true, "basic")]);
}

#[tokio::test]
async fn the_smtp_door_is_closed_to_an_account_that_is_switched_off() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let parent = &app.tenant.account.id;
    let log_in = async || app.gate.log_in(&sub.key, Some(HOME)).await;
    let turn = async |id, status| {
        let turn = |account: &mut Account| account.status = status;
        app.store.update_account(id, turn).await.unwrap();
        app.hand.advance(10);
    };
    log_in().await.unwrap();
    for (id, status) in [
        (&sub.account.id, AccountStatus::Disabled),
        (&sub.account.id, AccountStatus::Suspended),
        (&sub.account.id, AccountStatus::DisabledAndSuspended),
        (parent, AccountStatus::Suspended),
    ] {
        turn(id, status).await;
        let rejection = log_in().await.unwrap_err();
        let message = rejection.problems[0].message.as_str();
        assert_eq!(
            (rejection.status.as_u16(), message),
            (401, "Authenticated user is not authorized to send mail"),
            "{status:?}"
        );
        turn(id, AccountStatus::Active).await;
        log_in().await.unwrap();
    }
}
