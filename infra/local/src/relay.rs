//! The embedded relay: accepts mail by real SMTP and stores it in the mailbox. Some addresses have a fixed outcome,
//! so that a program can be tested with bounces: see [`FixedOutcome::of`].

use std::sync::Arc;

use posthaste_mailbox::{Error, Mailbox, StoredEnvelope};
use posthaste_smtpd::{Config, Handler, Session, SmtpReply};
use tokio::net::TcpListener;

/// The fixed outcome of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FixedOutcome {
    Delivered,
    /// Refused for the address.
    Bounced,
    /// Refused for the content.
    Blocked,
    /// Refused for the moment, at every attempt.
    Deferred,
}

impl FixedOutcome {
    /// The outcome of an address at `outcome.test`, a domain that is reserved for tests (RFC 6761); of those of Amazon's
    /// mailbox simulator and of Resend that mean the same. A tag (`bounced+1@…`) makes no difference.
    fn of(address: &str) -> Option<Self> {
        let (local, domain) = address.rsplit_once('@')?;
        let (local, domain) = (local.to_ascii_lowercase(), domain.to_ascii_lowercase());
        let name = local.split('+').next().unwrap_or_default();
        Some(match (domain.as_str(), name) {
            ("outcome.test" | "resend.dev", "delivered")
            | ("simulator.amazonses.com", "success" | "ooto") => Self::Delivered,
            ("outcome.test" | "resend.dev", "bounced")
            | ("simulator.amazonses.com", "bounce" | "suppressionlist") => Self::Bounced,
            ("outcome.test", "blocked") => Self::Blocked,
            ("outcome.test", "deferred") => Self::Deferred,
            _ => return None,
        })
    }

    /// What the relay answers to the recipient.
    fn reply(self) -> Result<(), SmtpReply> {
        Err(match self {
            Self::Delivered => return Ok(()),
            Self::Bounced => SmtpReply::new(550, "5.1.1", "user unknown (an address of tests)"),
            Self::Blocked => SmtpReply::new(
                550,
                "5.7.1",
                "message rejected as spam (an address of tests)",
            ),
            Self::Deferred => SmtpReply::new(451, "4.3.2", "try again later (an address of tests)"),
        })
    }
}

struct Recorder(Mailbox);

impl Handler for Recorder {
    type Identity = ();

    async fn rcpt(
        &self,
        _: &Session<()>,
        _: &posthaste_smtpd::SmtpEnvelope,
        to: &str,
    ) -> Result<(), SmtpReply> {
        FixedOutcome::of(to).map_or(Ok(()), FixedOutcome::reply)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_tests_have_their_outcome_and_others_none() {
        for (address, code) in [
            ("delivered@outcome.test", None),
            ("Bounced+7@Outcome.Test", Some(550)),
            ("blocked@outcome.test", Some(550)),
            ("deferred@outcome.test", Some(451)),
            ("bounce@simulator.amazonses.com", Some(550)),
            ("suppressionlist@simulator.amazonses.com", Some(550)),
            ("success@simulator.amazonses.com", None),
            ("bounced@resend.dev", Some(550)),
        ] {
            let outcome = FixedOutcome::of(address).expect(address);
            let reply = outcome.reply().err();
            assert_eq!(reply.map(|reply| reply.code), code, "{address}");
        }
        for address in ["ann@outcome.test", "bounced@example.com", "bounced"] {
            assert_eq!(FixedOutcome::of(address), None, "{address}");
        }
    }
}
