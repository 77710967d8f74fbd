//! Relays that no proper server would imitate: the bytes are written by hand.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use crate::{hand_over, hasty, mailer, outcome, response};

/// Serves one connection: the greeting, then for each line that starts so the bytes beside it;
/// an unexpected line ends it. Returns the URL and the lines received.
async fn serve(
    greeting: &'static [u8],
    replies: Vec<(&'static str, &'static [u8])>,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        stream.write_all(greeting).await.unwrap();
        let mut line = String::new();
        while stream.read_line(&mut line).await.is_ok_and(|n| n > 0) {
            let command = line.trim_end().to_owned();
            line.clear();
            let reply = replies.iter().find(|(start, _)| command.starts_with(start));
            log.lock().unwrap().push(command);
            if let Some((_, reply)) = reply
                && stream.write_all(reply).await.is_err()
            {
                return;
            }
        }
    });
    (url, heard)
}

async fn attempt(
    greeting: &'static [u8],
    replies: Vec<(&'static str, &'static [u8])>,
) -> (String, String, Vec<String>) {
    let (url, heard) = serve(greeting, replies).await;
    let attempt = hand_over(&mailer(hasty(&url)), "ann@example.com").await;
    let lines = heard.lock().unwrap().clone();
    (outcome(&attempt), response(&attempt).to_owned(), lines)
}

const OK: &[u8] = b"250 ok\r\n";

#[tokio::test]
async fn a_refusal_in_latin_1_is_a_refusal() {
    let replies = vec![
        ("EHLO", OK),
        ("MAIL", OK),
        (
            "RCPT",
            &b"550-5.1.1 Empf\xe4nger\r\n550 5.1.1 gel\xf6scht\r\n"[..],
        ),
    ];
    let (outcome, response, _) = attempt(b"220 mx\r\n", replies).await;
    assert_eq!(outcome, "bounced 550 at rcpt");
    assert_eq!(response, "550 5.1.1 Empf\u{fffd}nger gel\u{fffd}scht");
}

#[tokio::test]
async fn replies_of_a_bare_code_are_replies() {
    let replies = vec![
        ("EHLO", &b"250\r\n"[..]),
        ("MAIL", b"250\r\n"),
        ("RCPT", b"250\r\n"),
        ("DATA", b"354\r\n"),
        (".", b"250\r\n"),
    ];
    let (outcome, response, _) = attempt(b"220-hello\r\n220 mx\r\n", replies).await;
    assert_eq!(
        (outcome.as_str(), response.as_str()),
        ("accepted 250", "250")
    );
}

#[tokio::test]
async fn a_server_from_before_ehlo_gets_helo() {
    let replies = vec![
        ("EHLO", &b"502 what\r\n"[..]),
        ("HELO", OK),
        ("MAIL", OK),
        ("RCPT", OK),
        ("DATA", b"354 go\r\n"),
        (".", OK),
    ];
    let (outcome, _, lines) = attempt(b"220 mx\r\n", replies).await;
    assert_eq!(outcome, "accepted 250");
    assert_eq!(
        lines[..3],
        [
            "EHLO [127.0.0.1]",
            "HELO [127.0.0.1]",
            "MAIL FROM:<b-1@bounce.test>"
        ]
    );
}

#[tokio::test]
async fn nonsense_and_endless_replies_are_our_trouble() {
    let endless: &'static [u8] = Box::leak(vec![b'2'; 100_000].into_boxed_slice());
    for (greeting, ehlo, want) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            OK,
            "the relay's answer is no SMTP reply",
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x28\n",
            OK,
            "the relay's answer is no SMTP reply",
        ),
        (
            b"220 mx\r\n",
            b"\r\n",
            "the relay's answer is no SMTP reply",
        ),
        (b"220 mx\r\n", endless, "the relay's answer does not end"),
        (b"220 m", OK, "the relay did not answer within 2s"),
        (b"250 mx\r\n", OK, "250 mx"),
    ] {
        let (outcome, response, _) = attempt(greeting, vec![("EHLO", ehlo)]).await;
        assert_eq!(
            (outcome.as_str(), response.as_str()),
            ("deferred by a relay error", want)
        );
    }
}

#[tokio::test]
async fn text_between_starttls_and_tls_is_not_believed() {
    let replies = vec![
        ("EHLO", &b"250-mx\r\n250 STARTTLS\r\n"[..]),
        ("STARTTLS", b"220 go\r\n250-mx\r\n250 PIPELINING\r\n"),
    ];
    let (outcome, response, _) = attempt(b"220 mx\r\n", replies).await;
    assert_eq!(outcome, "deferred by a relay error");
    assert_eq!(response, "the relay spoke between STARTTLS and TLS");
}

#[tokio::test]
async fn a_starttls_refused_is_done_without_when_nothing_else_was_asked() {
    let replies = vec![
        ("EHLO", &b"250-mx\r\n250 STARTTLS\r\n"[..]),
        ("STARTTLS", b"454 not now\r\n"),
        ("MAIL", OK),
        ("RCPT", OK),
        ("DATA", b"354 go\r\n"),
        (".", OK),
    ];
    let (outcome, _, _) = attempt(b"220 mx\r\n", replies).await;
    assert_eq!(outcome, "accepted 250");
}

#[tokio::test]
async fn a_go_ahead_after_a_refusal_gets_no_message() {
    let pipelining: &[u8] = b"250-mx\r\n250 PIPELINING\r\n";
    let refused = vec![
        ("EHLO", pipelining),
        ("MAIL", OK),
        ("RCPT", &b"550 5.1.1 no\r\n"[..]),
        ("DATA", b"354 go\r\n"),
        (".", b"554 nobody\r\n"),
    ];
    let (outcome, _, lines) = attempt(b"220 mx\r\n", refused).await;
    assert_eq!(outcome, "bounced 550 at rcpt");
    assert_eq!(lines.last().unwrap(), ".", "{lines:?}");
    assert!(
        !lines.iter().any(|line| line.starts_with("Subject")),
        "{lines:?}"
    );
    let sender = vec![
        ("EHLO", pipelining),
        ("MAIL", &b"550 not you\r\n"[..]),
        ("RCPT", OK),
        ("DATA", b"354 go\r\n"),
    ];
    let (outcome, _, lines) = attempt(b"220 mx\r\n", sender).await;
    assert_eq!(outcome, "deferred for its sender");
    assert_eq!(lines.last().unwrap(), "DATA", "{lines:?}");
}

#[tokio::test]
async fn auth_login_is_spoken_where_plain_is_not() {
    let replies = vec![
        ("EHLO", &b"250-mx\r\n250 AUTH LOGIN\r\n"[..]),
        ("AUTH LOGIN", b"334 VXNlcm5hbWU6\r\n"),
        ("YW5u", b"334 UGFzc3dvcmQ6\r\n"),
        ("Z2VoZWlt", b"235 welcome\r\n"),
        ("MAIL", OK),
        ("RCPT", OK),
        ("DATA", b"354 go\r\n"),
        (".", OK),
    ];
    let (url, _) = serve(b"220 mx\r\n", replies).await;
    let url = url.replace("smtp://", "smtp://ann:geheim@");
    let attempt = hand_over(&mailer(hasty(&url)), "ann@example.com").await;
    assert_eq!(outcome(&attempt), "accepted 250", "{attempt:?}");
}

#[tokio::test]
async fn what_the_relay_says_while_it_hangs_up_is_heard() {
    // It refuses the mail at the go-ahead's heels, and reads no further.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 mx\r\n").await.unwrap();
        let mut line = String::new();
        for reply in [OK, OK, OK, b"354 go\r\n552 5.3.4 too big\r\n"] {
            stream.read_line(&mut line).await.unwrap();
            stream.write_all(reply).await.unwrap();
        }
        std::future::pending::<()>().await;
    });
    let mailer = mailer(hasty(&url));
    let message = vec![b'x'; 30_000_000];
    let attempt = mailer
        .hand_over(&crate::envelope("ann@example.com"), &message)
        .await;
    assert_eq!(
        (outcome(&attempt).as_str(), response(&attempt)),
        ("bounced 552 at data", "552 5.3.4 too big")
    );
}

/// Takes connections, says what is said before a message, and reads nothing of it.
async fn takes_no_message() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            stream.write_all(b"220 mx\r\n").await.unwrap();
            let mut line = String::new();
            for reply in [OK, OK, OK, b"354 go\r\n"] {
                stream.read_line(&mut line).await.unwrap();
                stream.write_all(reply).await.unwrap();
            }
            kept.push(stream);
        }
    });
    url
}

/// However slowly the relay takes it: a claim lasts so long, and then another sends the mail too.
#[tokio::test]
async fn a_message_is_handed_over_within_its_time_or_not_at_all() {
    let mut config = hasty(&takes_no_message().await);
    config.timeouts.block = config.timeouts.message * 30;
    config.timeouts.message = std::time::Duration::from_millis(500);
    let message = vec![b'x'; 30_000_000];
    let attempt = mailer(config)
        .hand_over(&crate::envelope("ann@example.com"), &message)
        .await;
    assert!(outcome(&attempt).starts_with("deferred"), "{attempt:?}");
    let want = "the relay did not take the whole message within 500ms";
    assert!(response(&attempt).contains(want), "{attempt:?}");
}

#[tokio::test]
async fn who_finds_no_free_connection_gives_up_in_time() {
    let mut config = hasty(&takes_no_message().await);
    config.max_connections = 1;
    config.timeouts.ready = std::time::Duration::from_millis(500);
    config.timeouts.block = config.timeouts.message * 30;
    config.timeouts.message = config.timeouts.block;
    let mailer = mailer(config);
    let (first, message) = (mailer.clone(), vec![b'x'; 30_000_000]);
    let busy = async move {
        let to = crate::envelope("ann@example.com");
        first.hand_over(&to, &message).await
    };
    let next = async {
        // The first has the connection: it was asked first.
        hand_over(&mailer, "bob@example.com").await
    };
    let mut busy = std::pin::pin!(busy);
    let attempt = tokio::select! {
        biased;
        ended = &mut busy => panic!("{ended:?}"),
        attempt = next => attempt,
    };
    let want = "no connection to the relay became free";
    assert!(response(&attempt).contains(want), "{attempt:?}");
}
