//! A client of the port for received mail that says exactly what it is told.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Mx(BufReader<TcpStream>);

impl Mx {
    /// Connects, reads the greeting and says EHLO.
    pub(crate) async fn hello(port: SocketAddr) -> Self {
        let stream = TcpStream::connect(port).await.expect("the port is open");
        let mut smtp = Self(BufReader::new(stream));
        assert!(smtp.read().await.starts_with("220 "));
        let hello = smtp.ask("EHLO mail.sender.example").await;
        for offer in ["PIPELINING", "SIZE 31457280", "8BITMIME", "SMTPUTF8"] {
            assert!(hello.contains(offer), "{offer} in {hello}");
        }
        smtp
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let written = timeout(PATIENCE, self.0.write_all(bytes)).await;
        written.expect("the server reads").expect("it is there");
    }

    /// The next reply; the lines of a longer one joined by `|`.
    pub(crate) async fn read(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.0.read_line(&mut line)).await;
            let count = read.expect("the server answers").expect("it is there");
            assert_ne!(count, 0, "the connection ended after {reply:?}");
            reply.push_str(line.trim_end());
            if line.as_bytes().get(3) != Some(&b'-') {
                return reply;
            }
            reply.push('|');
        }
    }

    pub(crate) async fn ask(&mut self, line: &str) -> String {
        self.write(format!("{line}\r\n").as_bytes()).await;
        self.read().await
    }

    /// Hands a mail in, in one pipelined group as far as the protocol lets (RFC 2920); the last
    /// reply.
    pub(crate) async fn send(&mut self, from: &str, to: &str, mail: &str) -> String {
        let group = format!("MAIL FROM:<{from}>\r\nRCPT TO:<{to}>\r\nDATA\r\n");
        self.write(group.as_bytes()).await;
        for code in ["250", "250", "354"] {
            let reply = self.read().await;
            assert!(reply.starts_with(code), "{code}: {reply}");
        }
        self.write(format!("{mail}\r\n.\r\n").as_bytes()).await;
        self.read().await
    }
}
