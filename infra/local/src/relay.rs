//! The embedded relay: accepts mail by real SMTP and stores it in the mailbox. Some addresses have a fixed outcome,
//! so that a program can be tested with bounces.

use std::sync::Arc;

use posthaste_mailbox::{Error, Mailbox, StoredEnvelope};
use posthaste_model::FixedOutcome;
use posthaste_smtpd::{Config, Handler, Session, SmtpReply};
use tokio::net::TcpListener;

struct Recorder(Mailbox);

impl Handler for Recorder {
    type Identity = ();

    async fn rcpt(
        &self,
        _: &Session<()>,
        _: &posthaste_smtpd::SmtpEnvelope,
        to: &str,
    ) -> Result<(), SmtpReply> {
        match FixedOutcome::of(to).and_then(FixedOutcome::refusal) {
            Some((code, status, text)) => Err(SmtpReply::new(code, status, text)),
            None => Ok(()),
        }
    }

    async fn data(
        &self,
        session: &Session<()>,
        envelope: posthaste_smtpd::SmtpEnvelope,
        message: Vec<u8>,
    ) -> SmtpReply {
        let envelope = StoredEnvelope {
            from: envelope.from,
            to: envelope.to,
            peer: session.peer.to_string(),
        };
        match self.0.deliver(envelope, message.into()).await {
            Ok(id) => SmtpReply::new(250, "2.0.0", format!("recorded as {id}")),
            Err(error @ Error::TooLarge { .. }) => SmtpReply::new(552, "5.3.4", error.to_string()),
            Err(error) => {
                tracing::error!(error = %error, "a mail could not be recorded: {error}");
                SmtpReply::new(451, "4.3.0", "the mailbox does not work")
            }
        }
    }
}

/// Serves the relay until `stop` resolves.
pub(crate) async fn serve(
    listener: TcpListener,
    hostname: &str,
    mailbox: Mailbox,
    stop: impl Future<Output = ()>,
) {
    let mut config = Config::new(hostname);
    // Composed mails may be larger than the request they came in, by their base64.
    config.max_size = 48 << 20;
    config.limits.connections_per_peer = config.limits.connections;
    posthaste_smtpd::serve(listener, config, Arc::new(Recorder(mailbox)), stop).await;
}
