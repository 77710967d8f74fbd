//! TLS and the login.

use std::sync::Arc;

use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{AUTH_LINE, Closed, Connection, ServerState, SessionResult, complaint};
use crate::data::SmtpLine;
use crate::reply::SmtpReply;
use crate::sasl::{self, Step};
use crate::{Handler, ServerTls};

impl<H: Handler> Connection<H> {
    pub(super) async fn start_tls(&mut self, shared: &ServerState<H>) -> SessionResult<()> {
        let ServerTls::StartTls(tls) = &shared.config.tls else {
            return Ok(());
        };
        if !self.inbox.is_empty() {
            // Injected text would otherwise be read as if it had been encrypted (RFC 3207 section
            // 6).
            let reply = SmtpReply::new(421, "4.7.0", "no text between STARTTLS and TLS");
            return Err(Closed::Farewell(reply));
        }
        self.say(SmtpReply::new(220, "2.0.0", "go ahead"))?;
        self.flush().await?;
        self.encrypt(tls).await
    }

    pub(super) async fn encrypt(&mut self, tls: &Arc<rustls::ServerConfig>) -> SessionResult<()> {
        let stream = std::mem::replace(&mut self.stream, Box::new(tokio::io::empty()));
        let handshake = TlsAcceptor::from(Arc::clone(tls)).accept(stream);
        let limit = self.shared.config.limits.handshake;
        match timeout(limit, handshake).await {
            Ok(Ok(stream)) => self.stream = Box::new(stream),
            Ok(Err(error)) => {
                tracing::debug!(connection = self.session.id, %error, "TLS handshake failed");
                return Err(Closed::Lost);
            }
            Err(_) => return Err(Closed::Lost),
        }
        self.protocol.encrypted();
        self.session.tls = true;
        self.session.hello = String::new();
        self.session.identity = None;
        Ok(())
    }

    pub(super) async fn auth(
        &mut self,
        shared: &ServerState<H>,
        mechanism: &str,
        initial: Option<String>,
    ) -> SessionResult<()> {
        let mut step = sasl::start(mechanism, initial.as_deref());
        loop {
            match step {
                Step::Ask(exchange, challenge) => {
                    self.say(SmtpReply::new(334, "", challenge))?;
                    step = match self.line(AUTH_LINE).await? {
                        SmtpLine::Text(line) => exchange.answer(&line),
                        other @ (SmtpLine::Bare | SmtpLine::TooLong | SmtpLine::Flood) => {
                            Step::Failed(complaint(&other))
                        }
                    };
                }
                Step::Failed(reply) => return self.say(reply),
                Step::Done(login) => {
                    let answer = shared.handler.authenticate(&self.session, login).await;
                    return self.logged_in(shared, answer);
                }
            }
        }
    }

    fn logged_in(
        &mut self,
        shared: &ServerState<H>,
        answer: Result<H::Identity, SmtpReply>,
    ) -> SessionResult<()> {
        match answer {
            Ok(identity) => {
                self.session.identity = Some(identity);
                self.protocol.logged_in();
                self.say(SmtpReply::new(235, "2.7.0", "welcome"))
            }
            Err(reply) => {
                let reply = self.protocol.login_failed(&shared.config, reply);
                self.say(reply)
            }
        }
    }
}
