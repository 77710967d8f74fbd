//! Ordinary conversations.

use posthaste_smtpd::{Auth, BareLineEnds, Config, SmtpEnvelope};

use crate::client::{Client, code};
use crate::{Server, config};

#[tokio::test]
async fn a_mail_is_handed_on_with_all_that_is_known() {
    let server = Server::start(config()).await;
    let (mut client, _) = Client::connect(&server).await;
    let hello = client.ask("EHLO client.test").await;
    assert_eq!(
        hello,
        "250-mx.test|250-PIPELINING|250-SIZE 31457280|250-8BITMIME|250-SMTPUTF8|250-ENHANCEDSTATUSCODES|250 HELP"
    );
    assert_eq!(
        client
            .ask("MAIL FROM:<a@b.c> SIZE=5 BODY=8BITMIME SMTPUTF8")
            .await,
        "250 2.1.0 sender ok"
    );
    assert_eq!(
        client.ask("RCPT TO:<no@e.f>").await,
        "550 5.1.1 no such user"
    );
    assert_eq!(
        client.ask("RCPT TO:<d@e.f>").await,
        "250 2.1.5 recipient ok"
    );
    assert_eq!(code(&client.ask("DATA").await), 354);
    assert_eq!(client.ask("..\r\nhi\r\n.").await, "250 2.0.0 ok 1");
    assert_eq!(client.ask("QUIT").await, "221 2.0.0 goodbye");
    assert_eq!(client.read().await, "", "the connection is closed");
    let mails = server.inbox.mails.lock().unwrap();
    let (session, envelope, message) = &mails[0];
    let want = SmtpEnvelope {
        from: "a@b.c".to_owned(),
        to: vec!["d@e.f".to_owned()],
        size: Some(5),
        eight_bit: true,
        utf8: true,
    };
    assert_eq!((envelope, message.as_slice()), (&want, &b".\r\nhi\r\n"[..]));
    assert_eq!(
        (
            session.id,
            session.hello.as_str(),
            session.esmtp,
            session.tls
        ),
        (1, "client.test", true, false)
    );
    assert!(session.peer.ip().is_loopback() && session.identity.is_none());
}

#[tokio::test]
async fn a_pipelined_group_is_answered_in_order_and_mails_may_follow_each_other() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    let mail = "MAIL FROM:<a@b.c>\r\nRCPT TO:<no@e.f>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n";
    client.send(mail.as_bytes()).await;
    assert_eq!(client.codes(4).await, [250, 550, 250, 354]);
    client.send(format!("one\r\n.\r\n{mail}").as_bytes()).await;
    assert_eq!(client.codes(5).await, [250, 250, 550, 250, 354]);
    client.send(b"two\r\n.\r\nRSET\r\nQUIT\r\n").await;
    assert_eq!(client.codes(3).await, [250, 250, 221]);
    assert_eq!(server.messages(), [b"one\r\n", b"two\r\n"]);
}

#[tokio::test]
async fn a_mail_in_single_bytes_is_the_same_mail() {
    let server = Server::start(config()).await;
    let (mut client, _) = Client::connect(&server).await;
    for byte in
        b"HELO me\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n..\r\nhi\r\n.\r\nQUIT\r\n"
    {
        client.send(&[*byte]).await;
    }
    assert_eq!(client.codes(6).await, [250, 250, 250, 354, 250, 221]);
    assert_eq!(server.messages(), [b".\r\nhi\r\n"]);
}

#[tokio::test]
async fn a_message_too_long_is_refused_before_and_after_and_the_next_is_taken() {
    let server = Server::start(Config {
        max_size: 100,
        ..config()
    })
    .await;
    let mut client = Client::greeted(&server).await;
    assert_eq!(
        client.ask("MAIL FROM:<a@b.c> SIZE=101").await,
        "552 5.3.4 a message may have 100 octets"
    );
    client.begin().await;
    let long = format!("{}\r\n.\r\n", "x".repeat(99));
    client.send(long.as_bytes()).await;
    assert_eq!(
        client.read().await,
        "552 5.3.4 a message may have 100 octets"
    );
    client.begin().await;
    // Stuffed dots are no part of the message.
    let fits = format!("..{}\r\n.\r\n", "x".repeat(97));
    client.send(fits.as_bytes()).await;
    assert_eq!(code(&client.read().await), 250);
    assert_eq!(server.messages()[0].len(), 100);
}

#[tokio::test]
async fn thirty_megabytes_come_through() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    client.begin().await;
    let line = [b"x".repeat(70), b"\r\n".to_vec()].concat();
    let message = line.repeat(30 * 1024 * 1024 / line.len());
    client.send(&message).await;
    client.send(b".\r\n").await;
    assert_eq!(code(&client.read().await), 250);
    assert!(server.messages()[0] == message);
}

#[tokio::test]
async fn only_who_may_log_in_may_send_where_a_login_is_required() {
    let server = Server::start(Config {
        auth: Auth::Required,
        ..config()
    })
    .await;
    let mut client = Client::greeted(&server).await;
    assert_eq!(
        client.ask("MAIL FROM:<a@b.c>").await,
        "530 5.7.0 log in first"
    );
    assert_eq!(
        client.ask("AUTH PLAIN AGFubgBmYWxzY2g=").await,
        "535 5.7.8 user name or password is not known"
    );
    assert_eq!(client.ask("AUTH PLAIN").await, "334");
    assert_eq!(client.ask("*").await, "501 5.7.0 login cancelled");
    assert_eq!(client.ask("AUTH LOGIN").await, "334 VXNlcm5hbWU6");
    assert_eq!(client.ask("YW5u").await, "334 UGFzc3dvcmQ6");
    assert_eq!(client.ask("Z2VoZWlt").await, "235 2.7.0 welcome");
    client.begin().await;
    assert_eq!(code(&client.ask("hi\r\n.").await), 250);
    let mails = server.inbox.mails.lock().unwrap();
    assert_eq!(mails[0].0.identity.as_deref(), Some("ann"));
}

#[tokio::test]
async fn bare_line_ends_are_kept_or_refused_and_never_end_a_message() {
    let smuggled = b"a\n.\nMAIL FROM:<evil@x.y>\r\n\n.\r\nRCPT TO:<d@e.f>\r\r\n.\rDATA\r\n.\r\n";
    // The dot after the one CRLF is stuffing, as before any other text.
    let want = b"a\n.\nMAIL FROM:<evil@x.y>\r\n\n.\r\nRCPT TO:<d@e.f>\r\r\n\rDATA\r\n";
    for (policy, reply, kept) in [
        (BareLineEnds::Keep, "250 2.0.0 ok 1", true),
        (
            BareLineEnds::Refuse,
            "554 5.6.0 the message has bare CR or LF",
            false,
        ),
    ] {
        let server = Server::start(Config {
            bare_line_ends: policy,
            ..config()
        })
        .await;
        let mut client = Client::greeted(&server).await;
        client.begin().await;
        client.send(smuggled).await;
        assert_eq!(client.read().await, reply);
        assert_eq!(
            code(&client.ask("NOOP").await),
            250,
            "nothing was taken for a command"
        );
        let messages = server.messages();
        assert_eq!(
            messages.first().map(Vec::as_slice),
            kept.then_some(&want[..])
        );
    }
}

#[tokio::test]
async fn commands_end_with_crlf_only() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    client
        .send(b"MAIL FROM:<a@b.c>\nNOOP\r\nRCPT TO:<d@e.f>\rDATA\r\n")
        .await;
    assert_eq!(client.codes(3).await, [500, 250, 500]);
}
