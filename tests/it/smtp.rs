//! A client that says exactly what a test wants it to say.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection to the port for submission.
pub(crate) struct Smtp(BufReader<TcpStream>);

impl Smtp {
    /// Connects and says hello; the extensions that were offered.
    pub(crate) async fn greeted(port: SocketAddr) -> (Self, String) {
        let stream = TcpStream::connect(port).await.expect("the port listens");
        let mut smtp = Self(BufReader::new(stream));
        assert!(smtp.hear().await.starts_with("220 "));
        let offers = smtp.ask("EHLO client.example.com").await;
        (smtp, offers)
    }

    /// A connection that is logged in with this key.
    pub(crate) async fn logged_in(port: SocketAddr, key: &str) -> Self {
        let (mut smtp, _) = Self::greeted(port).await;
        let answer = smtp.log_in("apikey", key).await;
        assert!(answer.starts_with("235 "), "{answer}");
        smtp
    }

    pub(crate) async fn log_in(&mut self, user: &str, key: &str) -> String {
        let words = STANDARD.encode(format!("\0{user}\0{key}"));
        self.ask(&format!("AUTH PLAIN {words}")).await
    }

    /// Says a line and hears the whole answer, its lines joined by newlines.
    pub(crate) async fn ask(&mut self, line: &str) -> String {
        self.say(format!("{line}\r\n").as_bytes()).await;
        self.hear().await
    }

    pub(crate) async fn say(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.expect("the server reads");
    }

    pub(crate) async fn hear(&mut self) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            let read = self
                .0
                .read_line(&mut line)
                .await
                .expect("the server answers");
            all.push_str(&line);
            if read == 0 || line.as_bytes().get(3) != Some(&b'-') {
                return all.trim_end().replace("\r\n", "\n");
            }
        }
    }

    /// Hands in a message as it is, but for dot-stuffing; the last answer.
    pub(crate) async fn send(&mut self, to: &[&str], message: &[u8]) -> String {
        let from = self.ask("MAIL FROM:<app@example.com> BODY=8BITMIME").await;
        if !from.starts_with("250 ") {
            return from;
        }
        for to in to {
            let answer = self.ask(&format!("RCPT TO:<{to}>")).await;
            assert!(answer.starts_with("250 "), "{answer}");
        }
        let go = self.ask("DATA").await;
        assert!(go.starts_with("354 "), "{go}");
        let mut stuffed = Vec::with_capacity(message.len() + 16);
        for line in message.split_inclusive(|byte| *byte == b'\n') {
            if line.starts_with(b".") {
                stuffed.push(b'.');
            }
            stuffed.extend_from_slice(line);
        }
        stuffed.extend_from_slice(b".\r\n");
        self.say(&stuffed).await;
        self.hear().await
    }

    /// Hands in a message that must be taken; its id.
    pub(crate) async fn taken(&mut self, to: &[&str], message: &[u8]) -> String {
        let answer = self.send(to, message).await;
        let id = answer.strip_prefix("250 2.0.0 Ok: queued as ");
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}
