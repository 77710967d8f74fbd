//! The port for mail from outside. It never relays: only configured hostnames are taken.

use std::sync::Arc;

use inbound_parse::{App, Arrived, Unaccepted, accept, receiver};
use posthaste_smtpd::{Config, Envelope, Handler, Reply, Session};
use tokio::net::TcpListener;

struct Inbound(App);

impl Handler for Inbound {
    type Identity = ();

    async fn rcpt(&self, _: &Session<()>, _: &Envelope, to: &str) -> Result<(), Reply> {
        match receiver(&self.0, to).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Reply::new(
                550,
                "5.1.2",
                "no mail is taken for this domain here",
            )),
            Err(error) => {
                tracing::error!(error = %error, "a recipient cannot be looked up: {error}");
                Err(Reply::new(451, "4.3.0", "try again later"))
            }
        }
    }

    async fn data(&self, session: &Session<()>, envelope: Envelope, message: Vec<u8>) -> Reply {
        let arrived = Arrived {
            from: &envelope.from,
            to: &envelope.to,
            ip: Some(session.peer.ip().to_canonical()),
            hello: &session.hello,
            judged: None,
        };
        match accept(&self.0, arrived, message.into()).await {
            Ok(0) => Reply::new(554, "5.5.1", "no valid recipients"),
            Ok(_) => Reply::new(250, "2.0.0", "taken"),
            Err(error @ Unaccepted::Loop) => Reply::new(554, "5.4.6", error.to_string()),
            Err(error) => {
                tracing::error!(error = %error, "a mail could not be taken: {error}");
                Reply::new(451, "4.3.0", "the mail could not be kept, try again later")
            }
        }
    }
}

/// Serves the port until `stop` resolves.
pub(crate) async fn serve(listener: TcpListener, app: App, stop: impl Future<Output = ()>) {
    let config = Config::new(&app.hostname);
    posthaste_smtpd::serve(listener, config, Arc::new(Inbound(app)), stop).await;
}
