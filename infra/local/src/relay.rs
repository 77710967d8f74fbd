//! The embedded relay: accepts mail by real SMTP and stores it in the mailbox. Some addresses have a fixed outcome,
//! so that a program can be tested with bounces.

use std::net::SocketAddr;
use std::sync::Arc;

use posthaste_mailbox::{Error, Mailbox, StoredEnvelope};
use posthaste_mailer::{Mailer, RelayUrl, Smtp, SmtpConfig};
use posthaste_model::FixedOutcome;
use posthaste_smtpd::{Config, Handler, Session, SmtpReply};
use tokio::net::TcpListener;

use crate::start::HostSettings;
use crate::start_error::StartError;

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
            Some((code, status, text)) => {
                self.0.count_refusal();
                Err(SmtpReply::new(code, status, text))
            }
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
            Err(error @ Error::TooLarge { .. }) => {
                self.0.count_refusal();
                SmtpReply::new(552, "5.3.4", error.to_string())
            }
            Err(error) => {
                self.0.count_refusal();
                tracing::error!(error = %error, "a mail could not be recorded: {error}");
                SmtpReply::new(451, "4.3.0", "the mailbox does not work")
            }
        }
    }
}

/// The way to the embedded relay.
pub(crate) fn recorder(
    settings: &HostSettings,
    embedded: SocketAddr,
) -> Result<Mailer, StartError> {
    let relay = format!("smtp://{embedded}?tls=none").parse::<RelayUrl>();
    let relay = relay.map_err(|e| StartError::Secret(e.to_string()))?;
    Ok(mailer(settings, relay))
}

/// The way to a relay.
pub(crate) fn mailer(settings: &HostSettings, relay: RelayUrl) -> Mailer {
    let mut config = SmtpConfig::new(relay);
    config.hello = Some(settings.hostname.to_string());
    config.max_connections = 16;
    Mailer::Smtp(Smtp::new(config))
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
    // Its one client is this service, and the refusals are those that addresses with an outcome ask for.
    config.limits.errors = u32::MAX;
    config.limits.idle_commands = u32::MAX;
    posthaste_smtpd::serve(listener, config, Arc::new(Recorder(mailbox)), stop).await;
}

#[cfg(test)]
mod tests {
    use posthaste_mailbox::DEFAULT_LIMIT;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn refusals_that_addresses_ask_for_do_not_end_a_connection() {
        let mailbox = Mailbox::open(None, DEFAULT_LIMIT, posthaste_runtime::clock()).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(serve(
            listener,
            "relay.test",
            mailbox,
            std::future::pending(),
        ));
        let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let mut commands = vec!["HELO me".to_owned()];
        for _ in 0..100 {
            for outcome in ["bounced", "deferred"] {
                commands.push("MAIL FROM:<a@b.example>".to_owned());
                commands.push(format!("RCPT TO:<{outcome}@outcome.test>"));
                commands.push("RSET".to_owned());
            }
        }
        for command in commands {
            stream
                .write_all(format!("{command}\r\n").as_bytes())
                .await
                .unwrap();
            line.clear();
            stream.read_line(&mut line).await.unwrap();
            let expected = match &command {
                bounced if bounced.contains("bounced") => "550",
                deferred if deferred.contains("deferred") => "451",
                _ => "250",
            };
            assert!(line.starts_with(expected), "{command}: {line}");
        }
        serving.abort();
    }
}
