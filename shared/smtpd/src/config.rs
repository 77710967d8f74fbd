//! The configuration of a server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use posthaste_listen::Refusals;

/// One listening port.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name in the greeting.
    pub hostname: String,
    /// Longest message in octets, as received, without dot-stuffing (RFC 1870).
    pub max_size: usize,
    /// Recipients of one mail.
    pub max_recipients: usize,
    pub auth: Auth,
    pub tls: ServerTls,
    pub offers: Extensions,
    pub bare_line_ends: BareLineEnds,
    pub limits: SmtpLimits,
}

/// Whether clients log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// AUTH is not offered.
    Off,
    /// Login is optional.
    Optional,
    /// No mail without a login.
    Required,
}

/// How connections are encrypted. Where encryption is available, AUTH is offered only on encrypted
/// connections (RFC 4954 section 4).
#[derive(Clone, Default)]
pub enum ServerTls {
    #[default]
    Off,
    /// When the client requests it (RFC 3207).
    StartTls(Arc<rustls::ServerConfig>),
    /// From the first byte (RFC 8314).
    Wrapped(Arc<rustls::ServerConfig>),
}

/// The extensions named in the answer to EHLO; all unless disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    pub pipelining: bool,
    pub size: bool,
    pub eight_bit: bool,
    pub smtputf8: bool,
}

/// What happens to a message with a CR or LF that is not part of a CRLF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareLineEnds {
    /// Kept byte for byte; they end neither a line nor the message.
    Keep,
    /// The message is read to its end and refused with 554.
    Refuse,
}

/// How much of everything.
#[derive(Clone, Debug)]
pub struct SmtpLimits {
    /// Concurrent connections; further ones receive 421, or are closed at once when many are being
    /// answered so.
    pub connections: usize,
    /// Concurrent connections of one address; of one /64 with IPv6.
    pub connections_per_peer: usize,
    /// Octets of a command with its CRLF (RFC 5321 section 4.5.3.1.4 and the extensions' own).
    pub line: usize,
    /// From the wait for a command to its last byte.
    pub command: Duration,
    /// A pause within a message, and any write.
    pub pause: Duration,
    /// A whole message.
    pub message: Duration,
    /// The TLS handshake.
    pub handshake: Duration,
    /// Refused commands since the last accepted mail.
    pub errors: u32,
    /// Lines since then that were no commands, or wrong ones.
    pub bad_commands: u32,
    pub failed_logins: u32,
    /// Commands such as NOOP and RSET since the last accepted mail.
    pub idle_commands: u32,
    /// Octets of messages being received, over all connections; a message that no longer fits
    /// receives 452.
    pub buffered: usize,
    /// How long mails under way may take once the server is stopping.
    pub farewell: Duration,
}

impl Config {
    /// 30 MiB, 1,000 recipients, no login, no TLS, all extensions.
    pub fn new(hostname: impl Into<String>) -> Self {
        Self {
            hostname: hostname.into(),
            max_size: 30 * 1024 * 1024,
            max_recipients: 1000,
            auth: Auth::Off,
            tls: ServerTls::Off,
            offers: Extensions::default(),
            bare_line_ends: BareLineEnds::Keep,
            limits: SmtpLimits::default(),
        }
    }
}

impl Default for Extensions {
    fn default() -> Self {
        Self {
            pipelining: true,
            size: true,
            eight_bit: true,
            smtputf8: true,
        }
    }
}

impl Default for SmtpLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            connections_per_peer: 64,
            line: 2048,
            // RFC 5321 section 4.5.3.2.7.
            command: Duration::from_secs(300),
            pause: Duration::from_secs(120),
            // 30 MiB at 50 KB a second.
            message: Duration::from_secs(600),
            handshake: Duration::from_secs(20),
            errors: 20,
            bad_commands: 10,
            failed_logins: 3,
            idle_commands: 100,
            buffered: 256 * 1024 * 1024,
            farewell: Duration::from_secs(10),
        }
    }
}

impl SmtpLimits {
    /// The most sockets that clients of the port hold at a time: clients that are being turned away
    /// hold some too.
    pub fn most_sockets(&self) -> usize {
        self.connections.saturating_add(Refusals::AT_A_TIME)
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "Off",
            Self::StartTls(_) => "StartTls",
            Self::Wrapped(_) => "Wrapped",
        })
    }
}
