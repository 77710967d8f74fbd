//! From the relay's URL to a connection that can take mail.

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::connection::{Connection, RelayFailure};
use super::reply_class::Step;
use super::tls::Encryption;
use super::wire::{Io, Wire, WireError};
use super::{SmtpConfig, tls};
use crate::Tls;
use crate::relay_url::Login;
use crate::reply::{Capabilities, RelayReply};

/// Connects, greets, encrypts and logs in.
pub(super) async fn open(config: &SmtpConfig, tls: &TlsCache) -> Result<Connection, RelayFailure> {
    let stream = connect(config).await?;
    let local = stream.local_addr().ok().map(|address| address.ip());
    let connector = Connector {
        config,
        tls,
        hello: config.hello.clone().unwrap_or_else(|| literal(local)),
    };
    let mut connection = match config.relay.tls {
        Tls::Wrapped => connector.wrapped(stream).await?,
        Tls::Required | Tls::Opportunistic | Tls::None => connector.clear(stream).await?,
    };
    if let Some(login) = &config.relay.login {
        log_in(&mut connection, login).await?;
    }
    connection.ip = local.map(|ip| ip.to_string());
    tracing::debug!(
        relay = %config.relay,
        tls = connection.encryption.is_some(),
        pipelining = connection.offers.pipelining,
        "connected to the relay"
    );
    Ok(connection)
}

async fn connect(config: &SmtpConfig) -> Result<TcpStream, RelayFailure> {
    let target = (config.relay.host.as_str(), config.relay.port);
    let limit = config.timeouts.connect;
    let error = match timeout(limit, TcpStream::connect(target)).await {
        Ok(Ok(stream)) => {
            // Without it the kernel holds small writes back until the relay has acknowledged the
            // last one, and a connection carries some twenty mails a second.
            stream
                .set_nodelay(true)
                .map_err(|e| RelayFailure::wire(Step::Connect, e.into()))?;
            return Ok(stream);
        }
        Ok(Err(error)) => format!(
            "cannot connect to the relay {}: {error}",
            config.relay.authority()
        ),
        Err(_) => format!(
            "cannot connect to the relay {} within {limit:?}",
            config.relay.authority()
        ),
    };
    Err(RelayFailure::local(error))
}

/// The name for EHLO of a host without one: its address (RFC 5321 section 4.1.4).
fn literal(ip: Option<IpAddr>) -> String {
    match ip {
        Some(IpAddr::V4(ip)) => format!("[{ip}]"),
        Some(IpAddr::V6(ip)) => format!("[IPv6:{ip}]"),
        None => "[127.0.0.1]".to_owned(),
    }
}

/// The two ways to encrypt, each made when first wanted: reading the system's authorities takes
/// longer than a cold start should.
#[derive(Default)]
pub(super) struct TlsCache {
    checked: tokio::sync::OnceCell<TlsConnector>,
    unchecked: tokio::sync::OnceCell<TlsConnector>,
    verifier: tokio::sync::OnceCell<Arc<WebPkiServerVerifier>>,
}

impl TlsCache {
    /// Checks certificates that a handshake did not.
    pub(super) async fn verifier(
        &self,
        config: &SmtpConfig,
    ) -> Result<&WebPkiServerVerifier, String> {
        let make = || async { tls::verifier(config.authorities.as_deref()) };
        Ok(self.verifier.get_or_try_init(make).await?)
    }
}

struct Connector<'a> {
    config: &'a SmtpConfig,
    tls: &'a TlsCache,
    hello: String,
}

impl Connector<'_> {
    async fn wrapped(&self, stream: TcpStream) -> Result<Connection, RelayFailure> {
        let (stream, encryption) = self.encrypt(stream).await?;
        let mut wire = Wire::new(stream);
        self.greeting(&mut wire).await?;
        let offers = self.ehlo(&mut wire).await?;
        Ok(self.connection(wire, offers, Some(encryption)))
    }

    async fn clear(&self, stream: TcpStream) -> Result<Connection, RelayFailure> {
        let mut wire = Wire::new(stream);
        self.greeting(&mut wire).await?;
        let offers = self.ehlo(&mut wire).await?;
        let wanted = self.config.relay.tls;
        let mut starttls_refusal = None;
        if wanted != Tls::None && offers.starttls {
            let reply = self.ask(&mut wire, "STARTTLS\r\n").await?;
            if reply.code == 220 {
                return self.started(wire).await;
            }
            if wanted == Tls::Required {
                return Err(RelayFailure::refused(Step::Connect, reply));
            }
            starttls_refusal = Some(reply);
        } else if wanted == Tls::Required {
            return Err(RelayFailure::local("the relay does not offer STARTTLS"));
        }
        let (stream, _) = wire.into_stream();
        let wire: Wire<Box<dyn Io>> = Wire::new(Box::new(stream));
        let mut connection = self.connection(wire, offers, None);
        connection.starttls_refusal = starttls_refusal;
        Ok(connection)
    }

    fn connection(
        &self,
        wire: Wire<Box<dyn Io>>,
        offers: Capabilities,
        encryption: Option<Encryption>,
    ) -> Connection {
        Connection::new(wire, offers, encryption, self.config.timeouts)
    }

    async fn started(&self, wire: Wire<TcpStream>) -> Result<Connection, RelayFailure> {
        let (stream, read_ahead) = wire.into_stream();
        if read_ahead {
            return Err(RelayFailure::local(
                "the relay spoke between STARTTLS and TLS",
            ));
        }
        let (stream, encryption) = self.encrypt(stream).await?;
        let mut wire = Wire::new(stream);
        // What was offered in the clear may have been injected.
        let offers = self.ehlo(&mut wire).await?;
        Ok(self.connection(wire, offers, Some(encryption)))
    }

    async fn encrypt(&self, stream: TcpStream) -> Result<(Box<dyn Io>, Encryption), RelayFailure> {
        let is_checked = self.config.relay.tls != Tls::Opportunistic;
        let connector = match self.config.relay.tls {
            Tls::Opportunistic => {
                let make = || async { tls::unchecked() };
                self.tls.unchecked.get_or_try_init(make).await
            }
            Tls::Wrapped | Tls::Required | Tls::None => {
                let make = || async { tls::checked(self.config.authorities.as_deref()) };
                self.tls.checked.get_or_try_init(make).await
            }
        }
        .map_err(RelayFailure::local)?;
        let name = ServerName::try_from(self.config.relay.host.clone()).map_err(|_| {
            RelayFailure::local("the relay's host is no name a certificate can have")
        })?;
        let limit = self.config.timeouts.connect;
        match timeout(limit, connector.connect(name.clone(), stream)).await {
            Ok(Ok(stream)) => {
                let encryption = Encryption::of(stream.get_ref().1, name, is_checked);
                Ok((Box::new(stream), encryption))
            }
            Ok(Err(error)) => Err(RelayFailure::local(format!(
                "TLS with the relay failed: {error}"
            ))),
            Err(_) => Err(RelayFailure::wire(Step::Connect, WireError::Silent(limit))),
        }
    }

    async fn greeting<S: Io>(&self, wire: &mut Wire<S>) -> Result<(), RelayFailure> {
        let reply = wire.reply(self.config.timeouts.command).await;
        let reply = reply.map_err(|error| RelayFailure::wire(Step::Connect, error))?;
        if reply.code == 220 {
            return Ok(());
        }
        Err(RelayFailure::refused(Step::Connect, reply))
    }

    async fn ehlo<S: Io>(&self, wire: &mut Wire<S>) -> Result<Capabilities, RelayFailure> {
        let reply = self.ask(wire, &format!("EHLO {}\r\n", self.hello)).await?;
        if reply.code == 250 {
            return Ok(Capabilities::read(&reply));
        }
        // A server that does not support EHLO offers nothing (RFC 5321 section 3.2).
        if matches!(reply.code, 500 | 502) {
            let reply = self.ask(wire, &format!("HELO {}\r\n", self.hello)).await?;
            if reply.code == 250 {
                return Ok(Capabilities::default());
            }
            return Err(RelayFailure::refused(Step::Connect, reply));
        }
        Err(RelayFailure::refused(Step::Connect, reply))
    }

    async fn ask<S: Io>(
        &self,
        wire: &mut Wire<S>,
        command: &str,
    ) -> Result<RelayReply, RelayFailure> {
        let reply = wire.ask(command, self.config.timeouts.command).await;
        reply.map_err(|error| RelayFailure::wire(Step::Connect, error))
    }
}

/// AUTH PLAIN (RFC 4616) where offered, else LOGIN.
async fn log_in(connection: &mut Connection, login: &Login) -> Result<(), RelayFailure> {
    let lines = if connection.offers.plain {
        let secret = format!("\0{}\0{}", login.user, login.password);
        vec![format!("AUTH PLAIN {}\r\n", STANDARD.encode(secret))]
    } else if connection.offers.login {
        vec![
            "AUTH LOGIN\r\n".to_owned(),
            format!("{}\r\n", STANDARD.encode(&login.user)),
            format!("{}\r\n", STANDARD.encode(&login.password)),
        ]
    } else {
        return Err(RelayFailure::local(
            "the relay offers neither AUTH PLAIN nor LOGIN",
        ));
    };
    let limit = connection.timeouts.command;
    let last = lines.len();
    for (at, line) in lines.iter().enumerate() {
        let reply = connection.wire.ask(line, limit).await;
        let reply = reply.map_err(|error| RelayFailure::wire(Step::Connect, error))?;
        let wanted = if at + 1 == last { 235 } else { 334 };
        if reply.code != wanted {
            return Err(RelayFailure::refused(Step::Connect, reply));
        }
    }
    Ok(())
}
