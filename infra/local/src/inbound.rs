//! The port for mail from outside. It never relays: it accepts only configured hostnames, and the
//! bounce domain at the envelope senders that the service issued.

use std::sync::Arc;

use bytes::Bytes;
use inbound_parse::{ArrivedMail, MailFate, receiver};
use posthaste_smtpd::{Config, Handler, Session, SmtpEnvelope, SmtpReply};
use tokio::net::TcpListener;

/// The handlers of incoming mail.
#[derive(Clone)]
pub(crate) struct InboundHandler {
    /// Mail for configured hostnames.
    pub(crate) parse: inbound_parse::App,
    /// Mail about mails, for the bounce domain.
    pub(crate) feedback: ses_feedback::App,
}

impl Handler for InboundHandler {
    type Identity = ();

    async fn rcpt(&self, _: &Session<()>, _: &SmtpEnvelope, to: &str) -> Result<(), SmtpReply> {
        match ses_feedback::wants(&self.feedback, to) {
            Some(true) => return Ok(()),
            Some(false) => {
                return Err(SmtpReply::new(550, "5.1.1", "no such address here"));
            }
            None => {}
        }
        match receiver(&self.parse, to).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(SmtpReply::new(
                550,
                "5.1.2",
                "no mail is accepted for this domain here",
            )),
            Err(error) => {
                tracing::error!(error = %error, "a recipient cannot be looked up: {error}");
                Err(SmtpReply::new(451, "4.3.0", "try again later"))
            }
        }
    }

    async fn data(
        &self,
        session: &Session<()>,
        envelope: SmtpEnvelope,
        message: Vec<u8>,
    ) -> SmtpReply {
        let message = Bytes::from(message);
        let ours = |to: &String| ses_feedback::wants(&self.feedback, to).is_some();
        let (reports, mails): (Vec<String>, Vec<String>) = envelope.to.into_iter().partition(ours);
        if !reports.is_empty() {
            let accepted =
                ses_feedback::accept(&self.feedback, &envelope.from, reports, message.clone());
            if let Err(error) = accepted.await {
                return not_stored(&error);
            }
            if mails.is_empty() {
                return SmtpReply::new(250, "2.0.0", "accepted");
            }
        }
        let arrived = ArrivedMail {
            from: &envelope.from,
            to: &mails,
            ip: Some(session.peer.ip().to_canonical()),
            hello: &session.hello,
            protocol: Some(match (session.esmtp, session.tls) {
                (false, _) => "SMTP",
                (true, false) => "ESMTP",
                (true, true) => "ESMTPS",
            }),
            // This host writes nothing into it.
            added: 0,
            object: None,
            judged: None,
        };
        match inbound_parse::accept(&self.parse, arrived, message).await {
            Ok(MailFate::Accepted(0)) => SmtpReply::new(554, "5.5.1", "no valid recipients"),
            Ok(MailFate::Accepted(_)) => SmtpReply::new(250, "2.0.0", "accepted"),
            Ok(MailFate::Loop) => SmtpReply::new(554, "5.4.6", "the mail is in a loop"),
            Err(error) => not_stored(&error),
        }
    }
}

fn not_stored(error: &dyn std::fmt::Display) -> SmtpReply {
    tracing::error!("a received mail could not be stored: {error}");
    SmtpReply::new(
        451,
        "4.3.0",
        "the mail could not be stored, try again later",
    )
}

/// Serves the port until `stop` resolves.
pub(crate) async fn serve(
    listener: TcpListener,
    handler: InboundHandler,
    stop: impl Future<Output = ()>,
) {
    let config = Config::new(handler.parse.hostname.as_str());
    posthaste_smtpd::serve(listener, config, Arc::new(handler), stop).await;
}
