//! The SMTP submission port: accepts mail by SMTP under the rules of mail/send. It runs in the local host and,
//! for a deployed stack, with `--aws`.
//!
//! The user name is `apikey` and the password a key with `mail.send`. The authorizer of HTTP calls
//! checks key, allow list, rate limit and status of the account, at the login and again at every
//! mail, because a connection outlives a key. A message is durable before its `250`: see [`Durable`].

mod mail;
mod reply;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use mail_send::App;
use posthaste_http::{Authorizer, Caller};
use posthaste_mime::submitted::SubmittedHead;
use posthaste_model::Hostname;
use posthaste_smtpd::{
    Auth, BareLineEnds, Config, Handler, Login, ServerTls, Session, SmtpEnvelope, SmtpReply,
};
use posthaste_store::{Secret, Store, StoreError};
use tokio::net::TcpListener;

/// The only user name.
const USER: &str = "apikey";

/// Mails count as calls of this endpoint.
const ENDPOINT: &str = "POST /v3/mail/send";

/// Hosts a mail may have passed through (RFC 5321, section 6.3, requires at least 100).
const MOST_HOPS: usize = 100;

/// The acceptance of a mail, and the reply to it.
pub type Acceptance<'a> = Pin<Box<dyn Future<Output = SmtpReply> + Send + 'a>>;

/// An acceptance whose reply is returned once everything it wrote is safe from a power failure; `None` when that
/// fails.
pub type DurableAcceptance<'a> = Pin<Box<dyn Future<Output = Option<SmtpReply>> + Send + 'a>>;

/// How a host makes what an acceptance writes durable.
pub type Durable = Arc<dyn for<'a> Fn(Acceptance<'a>) -> DurableAcceptance<'a> + Send + Sync>;

/// For a table and queues that acknowledge only what is durable, as those of AWS do.
pub fn durable_already() -> Durable {
    Arc::new(|accepting| Box::pin(async move { Some(accepting.await) }))
}

/// The step of a session that may be refused on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultStep {
    /// AUTH.
    Authentication,
    /// MAIL FROM.
    Sender,
    /// RCPT TO.
    Recipient,
}

/// The code, 400 to 599, that a step is refused with on purpose, for tests of programs that submit mail.
pub type Faults = Arc<dyn Fn(FaultStep) -> Option<u16> + Send + Sync>;

/// Whether sessions may send without a key of their own.
#[derive(Clone)]
pub enum SmtpAccess {
    /// A login with a key that may send.
    KeyRequired,
    /// The same, and from this machine also without a login, for the account of this key.
    OpenToThisMachine(String),
    /// A login; one that is no key of the service sends for the account of this key.
    AnyLogin(String),
    /// Without a login, or with any, for the account of this key.
    Open(String),
}

impl SmtpAccess {
    /// The key for sessions without a login from an address.
    fn without_login(&self, ip: IpAddr) -> Option<&str> {
        match self {
            Self::KeyRequired | Self::AnyLogin(_) => None,
            Self::OpenToThisMachine(key) => ip.to_canonical().is_loopback().then_some(key),
            Self::Open(key) => Some(key),
        }
    }

    /// The key for logins with anything.
    fn of_any_login(&self) -> Option<&str> {
        match self {
            Self::KeyRequired | Self::OpenToThisMachine(_) => None,
            Self::AnyLogin(key) | Self::Open(key) => Some(key),
        }
    }
}

/// Whether a text is an API key that the table holds.
pub async fn is_key(store: &Store, text: &str) -> Result<bool, StoreError> {
    let Some(secret) = Secret::parse(text) else {
        return Ok(false);
    };
    let found = store.key_by_id(secret.id()).await?;
    Ok(found.is_some_and(|key| key.is_opened_by(&secret)))
}

/// The dependencies of the port.
#[derive(Clone)]
pub struct Submission {
    pub app: App,
    pub gate: Authorizer,
    /// The name in the greeting and in `Received`.
    pub hostname: Hostname,
    pub access: SmtpAccess,
    /// What a `250` waits for.
    pub durable: Durable,
    /// Refusals on purpose; only on the local host.
    pub faults: Option<Faults>,
}

/// The identity of a login: the key is checked again at every mail.
#[derive(Clone)]
pub struct SubmissionUser {
    key: String,
    caller: Caller,
}

impl fmt::Debug for SubmissionUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubmissionUser({})", self.caller.id())
    }
}

impl Submission {
    /// How the port is served.
    fn config(&self, tls: Option<Arc<rustls::ServerConfig>>) -> Config {
        let mut config = Config::new(self.hostname.as_str());
        config.auth = match self.access {
            SmtpAccess::OpenToThisMachine(_) | SmtpAccess::Open(_) => Auth::Optional,
            SmtpAccess::KeyRequired | SmtpAccess::AnyLogin(_) => Auth::Required,
        };
        config.tls = tls.map_or(ServerTls::Off, ServerTls::StartTls);
        // Differences in what servers accept as a line end allow mail to be smuggled.
        config.bare_line_ends = BareLineEnds::Refuse;
        config
    }

    /// Whether a step is refused on purpose.
    fn fault(&self, step: FaultStep) -> Result<(), SmtpReply> {
        let code = self.faults.as_ref().and_then(|faults| faults(step));
        code.map_or(Ok(()), |code| Err(reply::of_fault(code)))
    }

    async fn log_in(&self, key: &str, ip: IpAddr) -> Result<SubmissionUser, SmtpReply> {
        let caller = self.gate.log_in(key, Some(ip.to_canonical())).await;
        Ok(SubmissionUser {
            key: key.to_owned(),
            caller: caller.map_err(reply::of_login)?,
        })
    }

    /// The key of a session.
    fn key<'a>(&'a self, session: &'a Session<SubmissionUser>) -> Option<&'a str> {
        let known = session.identity.as_ref().map(|sender| sender.key.as_str());
        known.or_else(|| self.access.without_login(session.peer.ip()))
    }

    async fn knows(&self, password: &str) -> Result<bool, SmtpReply> {
        let known = is_key(&self.app.store, password).await;
        known.map_err(|error| reply::of_login(error.into()))
    }

    /// The account the session sends for, at this moment.
    async fn sender(&self, session: &Session<SubmissionUser>) -> Result<Caller, SmtpReply> {
        let Some(key) = self.key(session) else {
            return Err(SmtpReply::new(530, "5.7.0", "log in first"));
        };
        Ok(self.log_in(key, session.peer.ip()).await?.caller)
    }
}

impl Handler for Submission {
    type Identity = SubmissionUser;

    async fn authenticate(
        &self,
        session: &Session<SubmissionUser>,
        login: Login,
    ) -> Result<SubmissionUser, SmtpReply> {
        self.fault(FaultStep::Authentication)?;
        if let Some(key) = self.access.of_any_login()
            && !(login.user == USER && self.knows(&login.secret).await?)
        {
            return self.log_in(key, session.peer.ip()).await;
        }
        if login.user != USER {
            // Counted like a wrong key, which it is for an attacker.
            let refused = self.log_in("", session.peer.ip()).await;
            return refused.map_err(reply::of_user);
        }
        self.log_in(&login.secret, session.peer.ip()).await
    }

    async fn mail(
        &self,
        session: &Session<SubmissionUser>,
        _: &SmtpEnvelope,
    ) -> Result<(), SmtpReply> {
        self.fault(FaultStep::Sender)?;
        let caller = self.sender(session).await?;
        let permit = self.gate.take(caller.id(), &Arc::from(ENDPOINT)).await;
        if permit.allowed {
            Ok(())
        } else {
            Err(SmtpReply::new(451, "4.7.1", "too many requests"))
        }
    }

    async fn rcpt(
        &self,
        _: &Session<SubmissionUser>,
        _: &SmtpEnvelope,
        to: &str,
    ) -> Result<(), SmtpReply> {
        self.fault(FaultStep::Recipient)?;
        match mail::recipient(to, &self.hostname) {
            Ok(_) => Ok(()),
            Err(error) => Err(SmtpReply::new(553, "5.1.3", error.to_string())),
        }
    }

    async fn data(
        &self,
        session: &Session<SubmissionUser>,
        envelope: SmtpEnvelope,
        message: Vec<u8>,
    ) -> SmtpReply {
        let accepting = async {
            let reply = self.accept(session, &envelope, &message).await;
            reply.unwrap_or_else(|refusal| refusal)
        };
        let durable = (self.durable)(Box::pin(accepting)).await;
        durable.unwrap_or_else(reply::not_stored)
    }
}

impl Submission {
    async fn accept(
        &self,
        session: &Session<SubmissionUser>,
        envelope: &SmtpEnvelope,
        message: &[u8],
    ) -> Result<SmtpReply, SmtpReply> {
        let caller = self.sender(session).await?;
        let read = || SubmittedHead::read(message);
        let head = posthaste_offload::run(message.len(), read).await;
        if head.hops > MOST_HOPS {
            return Err(SmtpReply::new(
                554,
                "5.4.6",
                "the mail came through too many hosts",
            ));
        }
        let id = self.app.entropy.message_id();
        let trace = self.trace(session, envelope, &id);
        let arrived = mail::SubmittedMail {
            head,
            envelope,
            message,
            trace: &trace,
            hostname: &self.hostname,
            now: self.app.clock.now(),
            horizon: self.app.limits.horizon,
        };
        // Each recipient has arguments of its own, and with an `X-SMTPAPI` header they may be anything.
        let size = match arrived.head.instructions {
            Some(_) => posthaste_offload::UNKNOWN,
            None => message.len() + envelope.to.len().saturating_mul(1024),
        };
        let mail = posthaste_offload::run(size, || mail::compose(&arrived)).await?;
        // Lines that were too long have been encoded.
        let size = mail
            .submitted
            .as_ref()
            .map_or(0, |whole| whole.mime.bytes().len());
        let size = size.max(message.len());
        let taken = mail_send::submit(&self.app, &caller, mail, size, &id).await;
        taken.map_err(reply::of_mail)?;
        Ok(SmtpReply::new(250, "2.0.0", format!("Ok: queued as {id}")))
    }

    /// The origin of the mail (RFC 5321, section 4.4; the keywords after `with` from RFC 3848 and
    /// RFC 6531).
    fn trace(
        &self,
        session: &Session<SubmissionUser>,
        envelope: &SmtpEnvelope,
        id: &posthaste_model::MessageId,
    ) -> String {
        let name = |c: &char| c.is_ascii_alphanumeric() || "-._:[]".contains(*c);
        let hello: String = session.hello.chars().filter(name).collect();
        let ip = session.peer.ip().to_canonical();
        let literal = match ip {
            IpAddr::V4(ip) => format!("[{ip}]"),
            IpAddr::V6(ip) => format!("[IPv6:{ip}]"),
        };
        let protocol = match (session.esmtp, envelope.utf8) {
            (false, _) => "SMTP",
            (true, false) => "ESMTP",
            (true, true) => "UTF8SMTP",
        };
        let tls = if session.tls && session.esmtp {
            "S"
        } else {
            ""
        };
        let auth = if session.identity.is_some() && session.esmtp {
            "A"
        } else {
            ""
        };
        let date = self.app.clock.now().rfc5322();
        let host = &self.hostname;
        format!("from {hello} ({literal}) by {host} with {protocol}{tls}{auth} id {id}; {date}")
    }
}

/// Serves the port until `stop` resolves.
pub async fn serve(
    listener: TcpListener,
    submission: Submission,
    tls: Option<Arc<rustls::ServerConfig>>,
    stop: impl Future<Output = ()>,
) {
    let config = submission.config(tls);
    posthaste_smtpd::serve(listener, config, Arc::new(submission), stop).await;
}
