//! The server over real sockets: clients that behave, and clients that do not.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod abuse;
mod client;
mod ends;
mod stranger;
mod talks;
mod tls;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use posthaste_smtpd::{Config, Handler, Login, Session, SmtpEnvelope, SmtpReply, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Takes every mail but those to `no@…`; panics at `panic@…`; `ann` has the password `geheim`.
#[derive(Debug, Default)]
struct Inbox {
    mails: Mutex<Vec<Taken>>,
}

type Taken = (Session<String>, SmtpEnvelope, Vec<u8>);

impl Handler for Inbox {
    type Identity = String;

    async fn authenticate(&self, _: &Session<String>, login: Login) -> Result<String, SmtpReply> {
        if login.user == "ann" && login.secret == "geheim" {
            Ok(login.user)
        } else {
            Err(SmtpReply::bad_login())
        }
    }

    async fn rcpt(&self, _: &Session<String>, _: &SmtpEnvelope, to: &str) -> Result<(), SmtpReply> {
        assert!(!to.starts_with("panic@"), "as asked");
        if to.starts_with("no@") {
            return Err(SmtpReply::new(550, "5.1.1", "no such user"));
        }
        Ok(())
    }

    async fn data(
        &self,
        session: &Session<String>,
        envelope: SmtpEnvelope,
        message: Vec<u8>,
    ) -> SmtpReply {
        let mut mails = self.mails.lock().unwrap();
        mails.push((session.clone(), envelope, message));
        SmtpReply::new(250, "2.0.0", format!("ok {}", mails.len()))
    }
}

/// A running server.
struct Server {
    addr: SocketAddr,
    inbox: Arc<Inbox>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Server {
    async fn start(config: Config) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let inbox = Arc::new(Inbox::default());
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(serve(listener, config, Arc::clone(&inbox), async {
            let _ = stopped.await;
        }));
        Self {
            addr,
            inbox,
            stop,
            running,
        }
    }

    fn messages(&self) -> Vec<Vec<u8>> {
        let mails = self.inbox.mails.lock().unwrap();
        mails
            .iter()
            .map(|(_, _, message)| message.clone())
            .collect()
    }
}

fn config() -> Config {
    Config::new("mx.test")
}
