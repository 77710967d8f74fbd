//! Who may send, and what a `250` guarantees.

use std::net::SocketAddr;

use posthaste_testkit::{Services, Tenant};

use super::*;
use crate::table::Table;

/// A port on a table and a queue in memory, and a key that may send.
async fn door(open: bool, disk: Disk) -> (Submission, String) {
    // Its writes are what the disk is waited for.
    let table = Table::start(None).await.unwrap();
    let services = Services::on(table.store.clone()).any_sender();
    let services = services.var("HORIZON_SECONDS", "3600");
    let tenant = Tenant::new(&services.store, "owner", services.clock.now()).await;
    let door = Submission {
        app: services.open(App::from_env),
        gate: services.gate(),
        hostname: "post.example".parse().unwrap(),
        open: open.then(|| tenant.key.clone()),
        disk,
    };
    (door, tenant.key)
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
    let (open, _) = door(true, Disk::none()).await;
    let (closed, _) = door(false, Disk::none()).await;
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

/// On a full disk, no mail is acknowledged. A scheduled mail is a row of the table; an immediate
/// one waits for its queue.
#[tokio::test]
async fn a_mail_that_is_not_safe_on_disk_is_not_taken() {
    for (disk, code) in [(Disk::none(), 250), (Disk::broken(), 451)] {
        let (door, key) = door(false, disk).await;
        let mut session = session("192.0.2.1:25");
        let login = Login {
            user: "apikey".to_owned(),
            secret: key,
        };
        let sender = door.authenticate(&session, login).await;
        session.identity = Some(sender.expect("a login"));
        let envelope = SmtpEnvelope {
            to: vec!["ann@example.com".to_owned()],
            ..SmtpEnvelope::default()
        };
        let later = door.app.clock.now().0 + 1800;
        let header = format!("X-SMTPAPI: {{\"send_at\": {later}}}");
        let mail = format!("From: app@example.com\r\n{header}\r\n\r\nx\r\n");
        let reply = door.data(&session, envelope, mail.into_bytes()).await;
        assert_eq!(reply.code, code, "{}", reply.text);
    }
}
