//! A client that says exactly what it is told.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Server;

/// A server that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

pub(crate) struct Client {
    pub(crate) stream: BufReader<Box<dyn Io>>,
}

impl Client {
    /// Connects and reads the greeting.
    pub(crate) async fn connect(server: &Server) -> (Self, String) {
        let stream = TcpStream::connect(server.addr).await.unwrap();
        let mut client = Self::over(Box::new(stream));
        let greeting = client.read().await;
        (client, greeting)
    }

    /// Connects and says EHLO.
    pub(crate) async fn greeted(server: &Server) -> Self {
        let (mut client, greeting) = Self::connect(server).await;
        assert_eq!(greeting, "220 mx.test ESMTP");
        client.ask("EHLO me").await;
        client
    }

    pub(crate) fn over(stream: Box<dyn Io>) -> Self {
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        timeout(PATIENCE, self.stream.write_all(bytes))
            .await
            .unwrap()
            .unwrap();
    }

    /// The next reply, its lines joined by `|`; empty at the end of the stream.
    pub(crate) async fn read(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.stream.read_line(&mut line)).await;
            let read = read.expect("the server answers in time");
            if read.is_err() || line.is_empty() {
                return reply;
            }
            assert!(line.ends_with("\r\n"), "{line:?}");
            reply.push_str(line.trim_end());
            if line.as_bytes().get(3) != Some(&b'-') {
                return reply;
            }
            reply.push('|');
        }
    }

    pub(crate) async fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n").as_bytes()).await;
        self.read().await
    }

    /// The codes of so many replies.
    pub(crate) async fn codes(&mut self, count: usize) -> Vec<u16> {
        let mut codes = Vec::new();
        for _ in 0..count {
            codes.push(code(&self.read().await));
        }
        codes
    }

    /// Begins a mail, up to the go-ahead.
    pub(crate) async fn begin(&mut self) {
        self.send(b"MAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n")
            .await;
        assert_eq!(self.codes(3).await, [250, 250, 354]);
    }

    /// All that comes until the end of the stream: the last reply.
    pub(crate) async fn last_words(&mut self) -> String {
        let mut last = String::new();
        loop {
            let reply = self.read().await;
            if reply.is_empty() {
                return last;
            }
            last = reply;
        }
    }
}

pub(crate) fn code(reply: &str) -> u16 {
    reply
        .get(..3)
        .and_then(|code| code.parse().ok())
        .unwrap_or_default()
}
