//! An SMTP client for one relay (RFC 5321), over a pool of persistent connections.
//!
//! Written here rather than taken from `lettre` 0.11, whose connection cannot meet this crate's
//! requirements. It waits for the reply to every command, where pipelining (RFC 2920) saves two of
//! four round trips; it does not set `TCP_NODELAY`; it ignores PIPELINING and SIZE; it adds an
//! empty line to every message. It fails on replies that are not UTF-8 or consist of a code only,
//! so that a refusal in Latin-1 would be retried for three days; and its errors do not say at which
//! command the relay refused, which distinguishes a bounce from a local failure.

mod connection;
mod open;
mod outcome;
mod reply_class;
mod stuffing;
mod tls;
mod wire;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use posthaste_model::{EmailAddress, EnforcedTls};
use rustls::client::WebPkiServerVerifier;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use self::connection::{Connection, Offer};
use self::open::TlsCache;
use self::outcome::{accepted, attempt_of, reason, too_long};
use self::tls::Encryption;
use crate::{Attempt, Cause, Envelope, RelayUrl};

pub use self::outcome::{Explained, Fate, SmtpStage, explain};

/// How long to wait for the last reply of a relay that should have nothing more to send.
const GRACE: Duration = Duration::from_secs(2);

/// A connection idle for longer is checked with NOOP before use: a middlebox may have dropped it
/// silently.
const DOUBTFUL: Duration = Duration::from_secs(15);

/// How the relay is used.
#[derive(Clone, Debug)]
pub struct SmtpConfig {
    pub relay: RelayUrl,
    /// The name given in EHLO; the local address of the connection when absent.
    pub hello: Option<String>,
    /// Connections at one time; further hand-overs wait their turn. At least 1.
    pub max_connections: usize,
    /// A connection idle for longer is closed.
    pub idle: Duration,
    /// Mails per connection; relays tend to close it after a limit of their own.
    pub mails_per_connection: u32,
    pub timeouts: Timeouts,
    /// Certificate authorities to trust beside the system's, in PEM.
    pub authorities: Option<Vec<u8>>,
}

/// How long each step may take. Shorter than RFC 5321 section 4.5.3.2 recommends: the waiting
/// worker is billed by the second and retries later anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// TCP, and the TLS handshake.
    pub connect: Duration,
    /// The greeting and the reply to each command.
    pub command: Duration,
    /// From the start until the relay is ready for the message, the wait for a free connection included.
    pub ready: Duration,
    /// Writing 64 KB of the message.
    pub block: Duration,
    /// Writing all of it: the largest takes 70 KB a second.
    pub message: Duration,
    /// The reply to the final dot. When it runs out the mail may have been taken.
    pub accept: Duration,
}

impl Timeouts {
    /// The longest that a hand-over can take: [`ready`](Self::ready), one more command, the message and its reply.
    /// A claim of a mail must last longer, or another process sends it too.
    pub fn total(&self) -> Duration {
        self.ready + self.command + self.message + self.accept + GRACE
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            command: Duration::from_secs(30),
            ready: Duration::from_secs(240),
            block: Duration::from_secs(60),
            message: Duration::from_secs(450),
            accept: Duration::from_secs(120),
        }
    }
}

impl SmtpConfig {
    /// Ten connections, idle for up to a minute, 1,000 mails each.
    pub fn new(relay: RelayUrl) -> Self {
        Self {
            relay,
            hello: None,
            max_connections: 10,
            idle: Duration::from_secs(60),
            mails_per_connection: 1000,
            timeouts: Timeouts::default(),
            authorities: None,
        }
    }
}

/// A relay and the connections to it; clones share them.
#[derive(Clone)]
pub struct Smtp(Arc<Pool>);

struct Pool {
    config: SmtpConfig,
    tls: TlsCache,
    permits: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Smtp {
    /// Opens nothing yet: connections are opened when there is mail.
    pub fn new(config: SmtpConfig) -> Self {
        let permits = Semaphore::new(config.max_connections.max(1));
        Self(Arc::new(Pool {
            config,
            tls: TlsCache::default(),
            permits,
            idle: Mutex::new(Vec::new()),
        }))
    }

    pub(crate) async fn hand_over(&self, envelope: &Envelope, message: &[u8]) -> Attempt {
        let (from, utf8) = match sender(&envelope.from) {
            Ok(sender) => sender,
            Err(response) => {
                return Attempt::Deferred {
                    response,
                    status: None,
                    cause: Cause::Sender,
                    ip: None,
                };
            }
        };
        let pool = &self.0;
        let ready_by = Instant::now() + pool.config.timeouts.ready;
        let _permit = match timeout_at(ready_by, pool.permits.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => {
                return Attempt::relay_error("the connections to the relay are closed".to_owned());
            }
            Err(_) => {
                return Attempt::relay_error("no connection to the relay became free".to_owned());
            }
        };
        let to = envelope.to.wire();
        let offer = Offer {
            from: &from,
            to: &to,
            utf8: utf8 || envelope.foreign_sender || envelope.to.needs_smtputf8(),
            message,
            enforced_tls: envelope.enforced_tls,
            ready_by,
        };
        if let Some(mut connection) = pool.idle_connection().await {
            let (attempt, not_attempted) = pool.offer(&mut connection, &offer).await;
            pool.give_back(connection);
            // The relay had closed it before the mail was mentioned: that does not count as an
            // attempt.
            if !not_attempted {
                return attempt;
            }
        }
        let opened = Box::pin(open::open(&pool.config, &pool.tls));
        let Ok(opened) = timeout_at(ready_by, opened).await else {
            return Attempt::relay_error("the relay was not ready in time".to_owned());
        };
        match opened {
            Ok(mut connection) => {
                let (attempt, _) = pool.offer(&mut connection, &offer).await;
                pool.give_back(connection);
                attempt
            }
            Err(failure) => attempt_of(failure, None, false),
        }
    }

    pub(crate) async fn check(&self) -> Result<(), String> {
        let pool = &self.0;
        let ready_by = Instant::now() + pool.config.timeouts.ready;
        let opened = Box::pin(open::open(&pool.config, &pool.tls));
        match timeout_at(ready_by, opened).await {
            Ok(Ok(connection)) => {
                pool.give_back(connection);
                Ok(())
            }
            Ok(Err(failure)) => Err(reason(failure)),
            Err(_) => Err("the relay was not ready in time".to_owned()),
        }
    }

    pub(crate) async fn close(&self) {
        let idle = std::mem::take(&mut *self.0.lock());
        for mut connection in idle {
            // Politeness: nothing depends on the answer.
            let _ = connection.wire.ask("QUIT\r\n", GRACE).await;
        }
    }
}

impl Pool {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // Nothing panics while it is held; and a list of connections is never half-changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most recently used connection, if it still answers.
    async fn idle_connection(&self) -> Option<Connection> {
        loop {
            let mut connection = self.lock().pop()?;
            let rest = connection.idle_since.elapsed();
            if rest > self.config.idle || !connection.wire.is_quiet().await {
                continue;
            }
            if rest <= DOUBTFUL {
                return Some(connection);
            }
            let answer = connection.wire.ask("NOOP\r\n", GRACE).await;
            if answer.is_ok_and(|reply| reply.is_positive()) {
                return Some(connection);
            }
        }
    }

    fn give_back(&self, mut connection: Connection) {
        let worn = connection.served >= self.config.mails_per_connection;
        // TLS that is refused for a while (RFC 3207, section 4) is asked for again with the next mail.
        let refusal = connection.starttls_refusal.as_ref();
        let without_tls = refusal.is_some_and(|reply| reply.code / 100 == 4);
        if connection.is_broken() || worn || without_tls {
            return;
        }
        connection.idle_since = Instant::now();
        let mut idle = self.lock();
        idle.push(connection);
        let limit = self.config.idle;
        idle.retain(|connection| connection.idle_since.elapsed() <= limit);
    }

    /// The outcome, and whether the connection was lost before the relay received any of the mail.
    async fn offer(&self, connection: &mut Connection, offer: &Offer<'_>) -> (Attempt, bool) {
        let wanted = offer.enforced_tls;
        let is_unchecked = |encryption: &Encryption| !encryption.is_checked();
        let checks =
            wanted.require_valid_cert && connection.encryption.as_ref().is_some_and(is_unchecked);
        let verifier = if checks {
            Some(self.tls.verifier(&self.config).await)
        } else {
            None
        };
        if let Some(attempt) = unmet(connection, wanted, verifier) {
            return (attempt, false);
        }
        let offers = connection.offers;
        if offer.utf8 && !offers.smtputf8 {
            return (Attempt::Unsupported, false);
        }
        // A header that names others in UTF-8 requires the option too (RFC 6531 section 3.4), but
        // is sent in any case.
        let utf8_header = || !header(offer.message).is_ascii();
        let offer = Offer {
            utf8: offer.utf8 || (offers.smtputf8 && utf8_header()),
            ..*offer
        };
        let (ip, tls) = (connection.ip.clone(), connection.encryption.is_some());
        let length = u64::try_from(offer.message.len()).unwrap_or(u64::MAX);
        if let Some(longest) = offers.longest.filter(|longest| length > *longest) {
            return (too_long(longest, ip, tls), false);
        }
        match connection.offer(&offer).await {
            Ok(reply) => (accepted(&reply, ip, tls), false),
            Err(failure) => {
                let not_attempted = failure.not_attempted;
                (attempt_of(failure, ip, tls), not_attempted)
            }
        }
    }
}

/// What becomes of a mail whose account requires more of the connection than it has; none where it has all of it. The
/// verifier is given where the handshake did not check the certificate.
fn unmet(
    connection: &Connection,
    wanted: EnforcedTls,
    verifier: Option<Result<&WebPkiServerVerifier, String>>,
) -> Option<Attempt> {
    if !wanted.is_on() {
        return None;
    }
    let ip = connection.ip.clone();
    let deferred = |response, ip| Attempt::Deferred {
        response,
        status: None,
        cause: Cause::Sender,
        ip,
    };
    let Some(encryption) = &connection.encryption else {
        return Some(match &connection.starttls_refusal {
            // RFC 3207, section 4: `454 TLS not available due to temporary reason`.
            Some(reply) if reply.code / 100 == 4 => deferred(reply.line(), ip),
            Some(_) | None => Attempt::not_encrypted(4, ip, false),
        });
    };
    if !encryption.is_at_least(wanted.version) {
        return Some(Attempt::not_encrypted(4, ip, true));
    }
    match verifier {
        None => None,
        Some(Ok(verifier)) if encryption.is_valid(verifier) => None,
        Some(Ok(_)) => Some(Attempt::not_encrypted(5, ip, true)),
        Some(Err(error)) => Some(deferred(error, ip)),
    }
}

/// The envelope sender on the wire, and whether it needs SMTPUTF8.
fn sender(from: &str) -> Result<(String, bool), String> {
    if from.is_empty() {
        return Ok((String::new(), false));
    }
    let address = EmailAddress::parse_stored(from);
    let address = address.map_err(|e| format!("the envelope sender is not valid: {e}"))?;
    Ok((address.wire(), address.needs_smtputf8()))
}

/// The message up to its first empty line.
fn header(message: &[u8]) -> &[u8] {
    let end = memchr::memmem::find(message, b"\r\n\r\n").unwrap_or(message.len());
    message.get(..end).unwrap_or_default()
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Smtp").field(&self.0.config.relay).finish()
    }
}
