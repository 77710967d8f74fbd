//! The decisions of a server's owner.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;

use crate::SmtpReply;

/// The owner of a port: decides who may do what, and what happens to a mail.
///
/// `Err` refuses with the given reply; a reply that closes ends the connection. The engine waits
/// for each answer before it reads on.
pub trait Handler: Send + Sync + 'static {
    /// The identity of a login.
    type Identity: Clone + Send + Sync + fmt::Debug;

    /// A connection was made, before the greeting.
    fn connected(
        &self,
        _session: &Session<Self::Identity>,
    ) -> impl Future<Output = Result<(), SmtpReply>> + Send {
        std::future::ready(Ok(()))
    }

    /// HELO or EHLO; the name is in the session.
    fn hello(
        &self,
        _session: &Session<Self::Identity>,
    ) -> impl Future<Output = Result<(), SmtpReply>> + Send {
        std::future::ready(Ok(()))
    }

    /// A login; only called when the configuration enables AUTH.
    fn authenticate(
        &self,
        _session: &Session<Self::Identity>,
        _login: Login,
    ) -> impl Future<Output = Result<Self::Identity, SmtpReply>> + Send {
        std::future::ready(Err(SmtpReply::bad_login()))
    }

    /// MAIL FROM: the envelope has no recipient yet.
    fn mail(
        &self,
        _session: &Session<Self::Identity>,
        _envelope: &SmtpEnvelope,
    ) -> impl Future<Output = Result<(), SmtpReply>> + Send {
        std::future::ready(Ok(()))
    }

    /// RCPT TO; the envelope holds the recipients accepted before.
    fn rcpt(
        &self,
        session: &Session<Self::Identity>,
        envelope: &SmtpEnvelope,
        to: &str,
    ) -> impl Future<Output = Result<(), SmtpReply>> + Send;

    /// DATA, before a byte of the message is read.
    fn begin(
        &self,
        _session: &Session<Self::Identity>,
        _envelope: &SmtpEnvelope,
    ) -> impl Future<Output = Result<(), SmtpReply>> + Send {
        std::future::ready(Ok(()))
    }

    /// The whole message, without dot-stuffing. A positive reply takes responsibility for it.
    fn data(
        &self,
        session: &Session<Self::Identity>,
        envelope: SmtpEnvelope,
        message: Vec<u8>,
    ) -> impl Future<Output = SmtpReply> + Send;
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub struct Session<I> {
    /// Number of the connection since the server started.
    pub id: u64,
    pub peer: SocketAddr,
    pub tls: bool,
    /// The name the client gave; empty before it did.
    pub hello: String,
    /// EHLO rather than HELO.
    pub esmtp: bool,
    pub identity: Option<I>,
}

/// The envelope of a mail. Addresses are as the client wrote them, without angle brackets and
/// source routes; they hold no control characters and no white space outside quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmtpEnvelope {
    /// Empty for the null sender.
    pub from: String,
    pub to: Vec<String>,
    /// The size the client announced, in octets.
    pub size: Option<u64>,
    /// BODY=8BITMIME.
    pub eight_bit: bool,
    /// SMTPUTF8.
    pub utf8: bool,
}

/// A user name and password as the client sent them.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub secret: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(…)")
    }
}
