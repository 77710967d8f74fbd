//! Who may send, and what a `250` guarantees.

use std::net::SocketAddr;

use posthaste_testkit::{Services, Tenant};

use super::*;

/// A port on a table and a queue in memory, and a key that may send.
async fn port(access: fn(String) -> SmtpAccess, durable: Durable) -> (Submission, String) {
    let services = Services::start().await.any_sender();
    let services = services.var("HORIZON_SECONDS", "3600");
    let tenant = Tenant::new(&services.store, "owner", services.clock.now()).await;
    let port = Submission {
        app: services.open(App::from_env),
        gate: services.gate(),
        hostname: "post.example".parse().unwrap(),
        access: access(tenant.key.clone()),
        durable,
        faults: None,
    };
    (port, tenant.key)
}

fn session(peer: &str) -> Session<SubmissionUser> {
    Session {
        id: 1,
        peer: peer.parse::<SocketAddr>().unwrap(),
        tls: false,
        hello: "client.example".to_owned(),
        esmtp: true,
        identity: None,
    }
}

/// An open port is not an open relay: only clients on this machine need no login.
#[tokio::test]
async fn strangers_log_in_even_where_this_machine_need_not() {
    let (open, _) = port(SmtpAccess::OpenToThisMachine, durable_already()).await;
    let (closed, _) = port(|_| SmtpAccess::KeyRequired, durable_already()).await;
    let envelope = SmtpEnvelope::default();
    for (peer, home) in [
        ("127.0.0.1:25", true),
        ("127.8.9.10:25", true),
        ("[::1]:25", true),
        ("[::ffff:127.0.0.1]:25", true),
        ("192.0.2.1:25", false),
        ("[::ffff:192.0.2.1]:25", false),
        ("[2001:db8::1]:25", false),
        ("0.0.0.0:25", false),
    ] {
        let session = session(peer);
        let refusal = |reply: Result<(), SmtpReply>| reply.err().map(|reply| reply.code);
        let want = (!home).then_some(530);
        assert_eq!(
            refusal(open.mail(&session, &envelope).await),
            want,
            "{peer}"
        );
        assert_eq!(refusal(closed.mail(&session, &envelope).await), Some(530));
        let mail = b"From: app@example.com\r\n\r\nx\r\n".to_vec();
        let to = SmtpEnvelope {
            to: vec!["ann@example.com".to_owned()],
            ..SmtpEnvelope::default()
        };
        let code = if home { 250 } else { 530 };
        assert_eq!(open.data(&session, to, mail).await.code, code, "{peer}");
    }
}

/// A development server accepts what programs log in with from habit. A key that exists still means its account.
#[tokio::test]
async fn any_login_is_the_owners_unless_it_is_a_key() {
    for (access, without_login) in [
        (SmtpAccess::Open as fn(String) -> SmtpAccess, true),
        (SmtpAccess::AnyLogin, false),
    ] {
        let (port, key) = port(access, durable_already()).await;
        let session = session("192.0.2.1:25");
        let other = Tenant::new(&port.app.store, "other", port.app.clock.now()).await;
        let owner = port.log_in(&key, session.peer.ip()).await.expect("a key");
        let other_id = other.account.id.clone();
        for (user, secret, account) in [
            ("user", "password", owner.caller.id()),
            ("apikey", "SG.anything", owner.caller.id()),
            ("apikey", "", owner.caller.id()),
            ("user", &*other.key, owner.caller.id()),
            ("apikey", &*other.key, &other_id),
        ] {
            let login = Login {
                user: user.to_owned(),
                secret: secret.to_owned(),
            };
            let sender = port.authenticate(&session, login).await.expect(user);
            assert_eq!(sender.caller.id(), account, "{user}");
        }
        let sends = port.mail(&session, &SmtpEnvelope::default()).await;
        assert_eq!(sends.is_ok(), without_login);
    }
}

/// On a full disk, no mail is acknowledged.
#[tokio::test]
async fn a_mail_that_cannot_be_made_durable_is_not_accepted() {
    let never: Durable = Arc::new(|accepting| {
        Box::pin(async move {
            accepting.await;
            None
        })
    });
    for (durable, code) in [(durable_already(), 250), (never, 451)] {
        let (port, key) = port(|_| SmtpAccess::KeyRequired, durable).await;
        let mut session = session("192.0.2.1:25");
        let login = Login {
            user: "apikey".to_owned(),
            secret: key,
        };
        let sender = port.authenticate(&session, login).await;
        session.identity = Some(sender.expect("a login"));
        let envelope = SmtpEnvelope {
            to: vec!["ann@example.com".to_owned()],
            ..SmtpEnvelope::default()
        };
        let mail = b"From: app@example.com\r\n\r\nx\r\n".to_vec();
        let reply = port.data(&session, envelope, mail).await;
        assert_eq!(reply.code, code, "{}", reply.text);
    }
}

/// A refusal on purpose comes before any other, so that a program meets it whatever it sends.
#[tokio::test]
async fn a_step_is_refused_with_the_code_that_is_asked_for() {
    for (step, code) in [
        (FaultStep::Authentication, 535),
        (FaultStep::Sender, 421),
        (FaultStep::Recipient, 452),
    ] {
        let (port, key) = port(SmtpAccess::Open, durable_already()).await;
        let port = Submission {
            faults: Some(Arc::new(move |one| (one == step).then_some(code))),
            ..port
        };
        let session = session("127.0.0.1:25");
        let envelope = SmtpEnvelope::default();
        let login = Login {
            user: "apikey".to_owned(),
            secret: key,
        };
        let authenticated = port.authenticate(&session, login).await.map(drop);
        let sender = port.mail(&session, &envelope).await;
        let recipient = port.rcpt(&session, &envelope, "ann@example.com").await;
        for (reply, own) in [
            (authenticated, FaultStep::Authentication),
            (sender, FaultStep::Sender),
            (recipient, FaultStep::Recipient),
        ] {
            let refused = reply.err().map(|reply| reply.code);
            assert_eq!(refused, (own == step).then_some(code), "{own:?}");
        }
    }
}
