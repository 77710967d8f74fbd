use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::*;

/// A client that sends lines and reads one reply line for each.
struct Client(BufReader<TcpStream>);

impl Client {
    async fn connect(relay: &Relay) -> (Self, String) {
        let stream = TcpStream::connect(relay.addr()).await.unwrap();
        let mut client = Self(BufReader::new(stream));
        let greeting = client.read().await;
        (client, greeting)
    }

    /// The next reply line; empty at the end of the stream.
    async fn read(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        line.trim_end().to_owned()
    }

    async fn ask(&mut self, line: &str) -> String {
        self.0
            .write_all(format!("{line}\r\n").as_bytes())
            .await
            .unwrap();
        self.read().await
    }

    /// One mail, to its end or to its refusal: the last reply.
    async fn mail(&mut self, to: &str) -> String {
        let mut reply = String::new();
        for line in [
            "HELO me",
            "MAIL FROM:<a@b.c>",
            &format!("RCPT TO:<{to}>"),
            "DATA",
            "hi\r\n.",
        ] {
            reply = self.ask(line).await;
            if !reply.starts_with(['2', '3']) {
                break;
            }
        }
        reply
    }
}

#[tokio::test]
async fn a_mail_is_recorded_with_its_envelope() {
    let relay = Relay::start(Script::new()).await;
    let (mut client, greeting) = Client::connect(&relay).await;
    assert_eq!(greeting, "220 relay.test ESMTP");
    client.mail("d@e.f").await;
    let mails = relay.received_at_least(1, Duration::from_secs(5)).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(
        (
            mails[0].envelope.from.as_str(),
            mails[0].envelope.to.as_slice()
        ),
        ("a@b.c", &["d@e.f".to_owned()][..])
    );
    assert_eq!(
        (
            mails[0].bytes.as_slice(),
            mails[0].connection,
            mails[0].hello.as_str()
        ),
        (&b"hi\r\n"[..], 1, "me")
    );
    relay.clear();
    assert_eq!((relay.received(), relay.connections()), (Vec::new(), 1));
}

#[tokio::test]
async fn a_rule_applies_to_whom_and_as_often_as_it_says() {
    let script = Script::new()
        .on_recipient(At::RcptTo, "bad@e.f", Does::say("550 5.1.1 no such user"))
        .on(At::Message, Does::say("451 4.3.0 later"))
        .times(1);
    let relay = Relay::start(script).await;
    let (mut client, _) = Client::connect(&relay).await;
    assert_eq!(client.mail("BAD@e.f").await, "550 5.1.1 no such user");
    assert_eq!(client.ask("RSET").await, "250 2.0.0 reset");
    assert_eq!(client.mail("d@e.f").await, "451 4.3.0 later");
    assert_eq!(client.mail("d@e.f").await, "250 2.0.0 ok queued as 1");
    relay.follow(Script::new().on(At::MailFrom, Does::HangUp));
    assert_eq!(client.ask("MAIL FROM:<a@b.c>").await, "");
    assert_eq!(relay.received().len(), 1);
}

#[tokio::test]
async fn a_relay_that_stops_refuses_connections() {
    let relay = Relay::start(Script::new().on(At::Hello, Does::Hang)).await;
    let addr = relay.addr();
    let (mut client, _) = Client::connect(&relay).await;
    client.0.write_all(b"EHLO me\r\n").await.unwrap();
    relay.stop().await;
    // Depending on what it had read, it says goodbye or not; then it closes.
    let rest = [client.read().await, client.read().await];
    assert_eq!(rest[1], "", "the connection is closed: {rest:?}");
    assert!(TcpStream::connect(addr).await.is_err());
}
