//! Clients that mean no good. Every one is stopped, and the server serves the next.

use std::time::Duration;

use posthaste_smtpd::{Auth, Config, SmtpLimits};

use crate::client::{Client, code};
use crate::{Server, config};

const SOON: Duration = Duration::from_millis(200);

fn limited(limits: SmtpLimits) -> Config {
    Config { limits, ..config() }
}

/// The next client is served.
async fn still_serves(server: &Server) {
    let before = server.messages().len();
    let mut client = Client::greeted(server).await;
    client.begin().await;
    assert_eq!(code(&client.ask("fine\r\n.").await), 250);
    assert_eq!(server.messages().len(), before + 1);
}

/// Writes the piece over and over until the server closes; the octets written.
async fn flood(client: &mut Client, piece: &[u8], most: usize) -> usize {
    use tokio::io::AsyncWriteExt;
    let mut sent = 0;
    while sent < most {
        let write = client.stream.write_all(piece);
        match tokio::time::timeout(Duration::from_secs(20), write).await {
            Ok(Ok(())) => sent += piece.len(),
            Ok(Err(_)) => return sent,
            Err(_) => panic!("the server neither reads nor closes"),
        }
    }
    sent
}

const GIGABYTE: usize = 1 << 30;

#[tokio::test]
async fn a_gigabyte_without_a_line_end_is_cut_off() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    let sent = flood(&mut client, &[b'x'; 16 * 1024], GIGABYTE).await;
    assert!(sent < 64 * 1024 * 1024, "{sent} octets were taken");
    still_serves(&server).await;
}

#[tokio::test]
async fn a_line_far_too_long_is_answered_and_the_client_sees_it() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    client.send(&[b'x'; 100 * 1024]).await;
    assert_eq!(client.last_words().await, "421 4.7.0 line too long");
    let mut client = Client::greeted(&server).await;
    client
        .send(format!("NOOP {}\r\nNOOP\r\n", "x".repeat(10_000)).as_bytes())
        .await;
    assert_eq!(client.codes(2).await, [500, 250]);
}

#[tokio::test]
async fn a_message_without_an_end_is_cut_off() {
    let server = Server::start(Config {
        max_size: 100_000,
        ..config()
    })
    .await;
    for piece in [&[b'x'; 16 * 1024][..], &b"line\r\n".repeat(1000)] {
        let mut client = Client::greeted(&server).await;
        client.begin().await;
        let sent = flood(&mut client, piece, GIGABYTE).await;
        assert!(sent < 64 * 1024 * 1024, "{sent} octets were taken");
    }
    assert!(server.messages().is_empty());
    still_serves(&server).await;
}

#[tokio::test]
async fn pipelined_garbage_ends_in_a_goodbye() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    client.send(&b"\x00\xff garbage\r\n".repeat(1000)).await;
    assert_eq!(client.last_words().await, "421 4.7.0 too many errors");
    let mut client = Client::greeted(&server).await;
    client.send(&b"NOOP\r\n".repeat(1000)).await;
    assert_eq!(
        client.last_words().await,
        "421 4.7.0 too many commands without a mail"
    );
    let mut client = Client::greeted(&server).await;
    client.send(b"MAIL FROM:<a@b.c>\r\n").await;
    client.send(&b"RCPT TO:<no@e.f>\r\n".repeat(1000)).await;
    assert_eq!(
        client.last_words().await,
        "421 4.7.0 too many errors",
        "guessing addresses"
    );
    still_serves(&server).await;
}

/// It sends to the others first (RFC 5321, section 4.5.3.1.10).
#[tokio::test]
async fn a_client_that_pipelines_more_recipients_than_are_taken_is_not_left() {
    let server = Server::start(Config {
        max_recipients: 10,
        ..config()
    })
    .await;
    let mut client = Client::greeted(&server).await;
    client.send(b"MAIL FROM:<a@b.c>\r\n").await;
    client.send(&b"RCPT TO:<d@e.f>\r\n".repeat(100)).await;
    let codes = client.codes(101).await;
    assert_eq!(codes.iter().filter(|code| **code == 250).count(), 11);
    assert_eq!(codes.iter().filter(|code| **code == 452).count(), 90);
    assert!(client.ask("DATA").await.starts_with("354"));
}

#[tokio::test]
async fn twelve_bad_commands_are_too_many() {
    for bad in [
        "BLAH",
        "MAIL FRM:<a@b.c>",
        "EXPN list",
        "\u{1}",
        "RCPT <a@b.c>",
    ] {
        let server = Server::start(config()).await;
        let mut client = Client::greeted(&server).await;
        client
            .send(format!("{bad}\r\n").repeat(12).as_bytes())
            .await;
        let goodbye = client.last_words().await;
        assert_eq!(goodbye, "421 4.7.0 too many errors", "{bad}");
        still_serves(&server).await;
    }
}

#[tokio::test]
async fn wrong_recipients_in_a_list_are_no_bad_commands() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    client.ask("MAIL FROM:<a@b.c>").await;
    for _ in 0..12 {
        assert_eq!(code(&client.ask("RCPT TO:<nobody>").await), 501);
    }
    assert_eq!(code(&client.ask("RCPT TO:<d@e.f>").await), 250);
}

#[tokio::test]
async fn who_never_reads_the_replies_is_left() {
    let limits = SmtpLimits {
        pause: SOON,
        idle_commands: u32::MAX,
        ..SmtpLimits::default()
    };
    let server = Server::start(limited(limits)).await;
    let mut client = Client::greeted(&server).await;
    let sent = flood(&mut client, &b"NOOP\r\n".repeat(3000), GIGABYTE).await;
    assert!(sent < GIGABYTE, "{sent} octets were taken");
    still_serves(&server).await;
}

#[tokio::test]
async fn who_dawdles_is_left() {
    let limits = SmtpLimits {
        command: SOON,
        pause: SOON,
        ..SmtpLimits::default()
    };
    let server = Server::start(limited(limits)).await;
    let mut silent = Client::greeted(&server).await;
    let mut halfway = Client::greeted(&server).await;
    halfway.send(b"MAIL FROM:<a").await;
    let mut sender = Client::greeted(&server).await;
    sender.begin().await;
    sender.send(b"half a mess").await;
    for client in [&mut silent, &mut halfway, &mut sender] {
        assert_eq!(client.last_words().await, "421 4.4.2 you took too long");
    }
    still_serves(&server).await;
}

#[tokio::test]
async fn a_drip_does_not_keep_a_connection_open() {
    let limits = SmtpLimits {
        command: SOON,
        message: SOON,
        ..SmtpLimits::default()
    };
    let server = Server::start(limited(limits)).await;
    for data in [false, true] {
        let mut client = Client::greeted(&server).await;
        if data {
            client.begin().await;
        }
        let mut beat = tokio::time::interval(Duration::from_millis(20));
        let mut drops = 0;
        // A byte at a time, each well before the pause is too long; only the sum is.
        let goodbye = loop {
            beat.tick().await;
            let sent = flood(&mut client, b"x", 1).await;
            drops += sent;
            let heard = tokio::time::timeout(Duration::from_millis(1), client.read()).await;
            if let Ok(heard) = heard {
                break heard;
            }
            assert!(drops < 1000, "never cut off");
        };
        assert!(
            goodbye.is_empty() || goodbye == "421 4.4.2 you took too long",
            "{goodbye}"
        );
        assert!(drops > 1, "some drops were taken");
    }
}

#[tokio::test]
async fn there_is_room_for_so_many_connections() {
    let limits = SmtpLimits {
        connections_per_peer: 2,
        ..SmtpLimits::default()
    };
    let server = Server::start(limited(limits)).await;
    let first = Client::greeted(&server).await;
    let mut second = Client::greeted(&server).await;
    let (mut third, greeting) = Client::connect(&server).await;
    assert_eq!(greeting, "421 4.7.0 too many connections");
    assert_eq!(third.read().await, "");
    assert_eq!(code(&second.ask("QUIT").await), 221);
    assert_eq!(second.read().await, "");
    drop((first, second));
    // Seats come back when the server has seen them go.
    loop {
        let (_, greeting) = Client::connect(&server).await;
        if greeting == "220 mx.test ESMTP" {
            break;
        }
    }
}

#[tokio::test]
async fn messages_share_a_bounded_amount_of_memory() {
    let limits = SmtpLimits {
        buffered: 256 * 1024,
        ..SmtpLimits::default()
    };
    let server = Server::start(limited(limits)).await;
    let mut holder = Client::greeted(&server).await;
    holder.begin().await;
    // Twice the size for the room a growing buffer takes: all of it is taken now.
    holder
        .send(&b"0123456789012345678901234567890123456789\r\n".repeat(3000))
        .await;
    let mut late = Client::greeted(&server).await;
    let mut refused = false;
    // Until the server has read what the holder sent, there may be room.
    for _ in 0..1000 {
        late.begin().await;
        late.send(&b"x\r\n".repeat(30_000)).await;
        refused = late.ask(".").await == "452 4.3.1 no room for the message now";
        if refused {
            break;
        }
    }
    assert!(refused, "memory is never full");
    holder.send(b".\r\n").await;
    assert_eq!(
        code(&holder.read().await),
        250,
        "who was there first is served"
    );
    still_serves(&server).await;
}

#[tokio::test]
async fn guessing_passwords_ends_the_connection() {
    let server = Server::start(Config {
        auth: Auth::Required,
        ..config()
    })
    .await;
    let mut client = Client::greeted(&server).await;
    for _ in 0..2 {
        assert_eq!(code(&client.ask("AUTH PLAIN AGFubgBmYWxzY2g=").await), 535);
    }
    assert_eq!(
        client.ask("AUTH PLAIN AGFubgBmYWxzY2g=").await,
        "421 4.7.0 too many failed logins"
    );
    assert_eq!(client.read().await, "");
}

#[tokio::test]
async fn a_browser_gets_no_second_line() {
    let server = Server::start(config()).await;
    let (mut client, _) = Client::connect(&server).await;
    client
        .send(b"POST / HTTP/1.1\r\nHost: mx\r\n\r\nEHLO me\r\nMAIL FROM:<a@b.c>\r\n")
        .await;
    assert_eq!(client.read().await, "421 4.7.0 this is no web server");
    assert_eq!(client.read().await, "");
}

#[tokio::test]
async fn a_handler_that_panics_takes_one_connection_with_it() {
    let server = Server::start(config()).await;
    let mut client = Client::greeted(&server).await;
    client
        .send(b"MAIL FROM:<a@b.c>\r\nRCPT TO:<panic@e.f>\r\n")
        .await;
    client.last_words().await;
    still_serves(&server).await;
}
