//! The port for mail from outside. It never relays: only configured hostnames are taken.

use std::sync::Arc;

use posthaste_smtpd::{Config, Envelope, Handler, Reply, Session};
use tokio::net::TcpListener;

struct Inbound;

impl Handler for Inbound {
    type Identity = ();

    async fn rcpt(&self, _: &Session<()>, _: &Envelope, _: &str) -> Result<(), Reply> {
        Err(Reply::new(
            550,
            "5.1.2",
            "no mail is taken for this domain here",
        ))
    }

    async fn data(&self, _: &Session<()>, _: Envelope, _: Vec<u8>) -> Reply {
        Reply::new(554, "5.5.1", "no valid recipients")
    }
}

/// Serves the port until `stop` resolves.
pub(crate) async fn serve(listener: TcpListener, hostname: &str, stop: impl Future<Output = ()>) {
    let config = Config::new(hostname);
    posthaste_smtpd::serve(listener, config, Arc::new(Inbound), stop).await;
}
