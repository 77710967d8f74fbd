//! A recording SMTP relay that follows a script.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posthaste_smtpd::{
    Auth, Config, Extensions, Handler, Login, ServerTls, Session, SmtpEnvelope, SmtpLimits,
    SmtpReply, serve,
};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

#[cfg(test)]
mod tests;

/// Where in the conversation a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Instead of the greeting.
    Connect,
    Hello,
    Auth,
    MailFrom,
    RcptTo,
    /// The DATA command.
    Data,
    /// After the final dot; the mail is not recorded.
    Message,
}

/// What a rule does.
#[derive(Clone, Debug)]
pub enum Does {
    /// Answers with this line: `550 5.1.1 no such user`. After a 421 the connection is closed.
    Say(String),
    /// Never answers.
    Hang,
    /// Closes the connection without an answer.
    HangUp,
}

#[derive(Clone, Debug)]
struct Rule {
    at: At,
    to: Option<String>,
    does: Does,
    left: Option<u32>,
}

/// The behaviour of the relay. Without rules it accepts everything.
#[derive(Clone, Debug, Default)]
pub struct Script {
    rules: Vec<Rule>,
    offers: Extensions,
    tls: ServerTls,
    login: Option<(String, String)>,
    max_size: Option<usize>,
}

impl Script {
    /// A relay that accepts everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// A rule for all clients. The first rule that applies decides.
    #[must_use]
    pub fn on(mut self, at: At, does: Does) -> Self {
        self.rules.push(Rule {
            at,
            to: None,
            does,
            left: None,
        });
        self
    }

    /// A rule for mails to one recipient; at RCPT and later.
    #[must_use]
    pub fn on_recipient(mut self, at: At, to: &str, does: Does) -> Self {
        self = self.on(at, does);
        if let Some(rule) = self.rules.last_mut() {
            rule.to = Some(to.to_owned());
        }
        self
    }

    /// Lets the rule added last apply only so many times.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        if let Some(rule) = self.rules.last_mut() {
            rule.left = Some(times);
        }
        self
    }

    /// The extensions in the answer to EHLO.
    #[must_use]
    pub fn offering(mut self, offers: Extensions) -> Self {
        self.offers = offers;
        self
    }

    /// Encrypts, on STARTTLS or from the first byte.
    #[must_use]
    pub fn encrypting(mut self, tls: ServerTls) -> Self {
        self.tls = tls;
        self
    }

    /// Accepts mail only after this login.
    #[must_use]
    pub fn wanting_login(mut self, user: &str, secret: &str) -> Self {
        self.login = Some((user.to_owned(), secret.to_owned()));
        self
    }

    /// Accepts mails of at most so many octets.
    #[must_use]
    pub fn at_most(mut self, octets: usize) -> Self {
        self.max_size = Some(octets);
        self
    }
}

impl Does {
    /// Answers with this line, for example `550 5.1.1 no such user`.
    pub fn say(line: &str) -> Self {
        Self::Say(line.to_owned())
    }

    async fn act(self) -> SmtpReply {
        match self {
            Self::Say(line) => {
                let (code, text) = line.split_once(' ').unwrap_or((&line, ""));
                // A script line without a valid code is answered with 599.
                SmtpReply::new(code.parse().unwrap_or(599), "", text)
            }
            Self::Hang => std::future::pending().await,
            Self::HangUp => SmtpReply::hang_up(),
        }
    }
}

/// A mail that the relay accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayedMail {
    pub envelope: SmtpEnvelope,
    /// As it arrived, without dot-stuffing.
    pub bytes: Vec<u8>,
    /// Number of the connection it came on, from 1.
    pub connection: u64,
    pub tls: bool,
    /// The name the client gave in EHLO.
    pub hello: String,
    /// The user name of the login.
    pub user: Option<String>,
}

/// A relay on a loopback port, until dropped.
#[derive(Debug)]
pub struct Relay {
    addr: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
}

#[derive(Debug)]
struct State {
    rules: Mutex<Vec<Rule>>,
    login: Option<(String, String)>,
    mails: watch::Sender<Vec<RelayedMail>>,
    connections: watch::Sender<u64>,
}

impl Relay {
    /// Starts a relay.
    ///
    /// # Panics
    /// When no loopback port can be bound.
    #[expect(clippy::expect_used, reason = "a test without its relay cannot go on")]
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a loopback port can be bound");
        let addr = listener.local_addr().expect("a bound port has an address");
        let state = Arc::new(State {
            rules: Mutex::new(script.rules),
            login: script.login.clone(),
            mails: watch::Sender::new(Vec::new()),
            connections: watch::Sender::new(0),
        });
        let config = Config {
            max_size: script.max_size.unwrap_or(100 * 1024 * 1024),
            auth: if script.login.is_some() {
                Auth::Required
            } else {
                Auth::Off
            },
            tls: script.tls,
            offers: script.offers,
            limits: patient(),
            ..Config::new("relay.test")
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let handler = Arc::clone(&state);
        tokio::spawn(serve(listener, config, handler, async {
            // Dropping the relay stops it too.
            let _ = stopped.await;
        }));
        Self {
            addr,
            state,
            stop: Some(stop),
        }
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `smtp://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.addr)
    }

    /// Replaces the rules; the extensions stay.
    pub fn follow(&self, script: Script) {
        *self.state.rules() = script.rules;
    }

    /// The mails accepted so far.
    pub fn received(&self) -> Vec<RelayedMail> {
        self.state.mails.borrow().clone()
    }

    /// Waits for so many mails.
    ///
    /// # Panics
    /// When they do not arrive in time.
    pub async fn received_at_least(&self, count: usize, limit: Duration) -> Vec<RelayedMail> {
        let mut mails = self.state.mails.subscribe();
        let all = mails.wait_for(|mails| mails.len() >= count);
        let all = tokio::time::timeout(limit, all).await;
        let here = self.received();
        assert!(
            all.is_ok(),
            "{} of {count} mails came within {limit:?}",
            here.len()
        );
        here
    }

    /// Connections made so far.
    pub fn connections(&self) -> u64 {
        *self.state.connections.borrow()
    }

    /// Clears the records.
    pub fn clear(&self) {
        self.state.mails.send_replace(Vec::new());
    }

    /// Closes the port and every connection.
    pub async fn stop(mut self) {
        let Some(stop) = self.stop.take() else { return };
        // A server that has ended is as stopped as can be.
        let _ = stop.send(());
        // It drops its half of the state when it has ended.
        while Arc::strong_count(&self.state) > 1 {
            tokio::task::yield_now().await;
        }
    }
}

/// A relay in a test must never time out first.
fn patient() -> SmtpLimits {
    SmtpLimits {
        connections: 100_000,
        connections_per_peer: 100_000,
        errors: u32::MAX,
        bad_commands: u32::MAX,
        failed_logins: u32::MAX,
        idle_commands: u32::MAX,
        buffered: 1 << 30,
        farewell: Duration::from_millis(50),
        ..SmtpLimits::default()
    }
}

impl State {
    fn rules(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn follow(&self, at: At, recipients: &[&str]) -> Result<(), SmtpReply> {
        match self.rule(at, recipients) {
            Some(does) => Err(does.act().await),
            None => Ok(()),
        }
    }

    fn rule(&self, at: At, recipients: &[&str]) -> Option<Does> {
        let mut rules = self.rules();
        let rule = rules.iter_mut().find(|rule| {
            let about = |to: &str| recipients.iter().any(|r| r.eq_ignore_ascii_case(to));
            rule.at == at && rule.left != Some(0) && rule.to.as_deref().is_none_or(about)
        })?;
        rule.left = rule.left.map(|left| left - 1);
        Some(rule.does.clone())
    }
}

fn recipients(envelope: &SmtpEnvelope) -> Vec<&str> {
    envelope.to.iter().map(String::as_str).collect()
}

impl Handler for State {
    type Identity = String;

    async fn connected(&self, _session: &Session<String>) -> Result<(), SmtpReply> {
        self.connections.send_modify(|count| *count += 1);
        self.follow(At::Connect, &[]).await
    }

    async fn hello(&self, _session: &Session<String>) -> Result<(), SmtpReply> {
        self.follow(At::Hello, &[]).await
    }

    async fn authenticate(
        &self,
        _session: &Session<String>,
        login: Login,
    ) -> Result<String, SmtpReply> {
        self.follow(At::Auth, &[]).await?;
        let given = (login.user, login.secret);
        if self.login.as_ref() == Some(&given) {
            Ok(given.0)
        } else {
            Err(SmtpReply::bad_login())
        }
    }

    async fn mail(
        &self,
        _session: &Session<String>,
        _envelope: &SmtpEnvelope,
    ) -> Result<(), SmtpReply> {
        self.follow(At::MailFrom, &[]).await
    }

    async fn rcpt(
        &self,
        _session: &Session<String>,
        _envelope: &SmtpEnvelope,
        to: &str,
    ) -> Result<(), SmtpReply> {
        self.follow(At::RcptTo, &[to]).await
    }

    async fn begin(
        &self,
        _session: &Session<String>,
        envelope: &SmtpEnvelope,
    ) -> Result<(), SmtpReply> {
        self.follow(At::Data, &recipients(envelope)).await
    }

    async fn data(
        &self,
        session: &Session<String>,
        envelope: SmtpEnvelope,
        message: Vec<u8>,
    ) -> SmtpReply {
        if let Err(reply) = self.follow(At::Message, &recipients(&envelope)).await {
            return reply;
        }
        let mail = RelayedMail {
            envelope,
            bytes: message,
            connection: session.id,
            tls: session.tls,
            hello: session.hello.clone(),
            user: session.identity.clone(),
        };
        let mut number = 0;
        self.mails.send_modify(|mails| {
            mails.push(mail);
            number = mails.len();
        });
        SmtpReply::new(250, "2.0.0", format!("ok queued as {number}"))
    }
}
