//! The input and the result of a hand-over.

use posthaste_model::{AccountId, EmailAddress, MessageId};

use crate::EnhancedStatus;

/// The envelope of one copy of a mail: one sender, one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The VERP address bounces come back to; empty is the null sender (RFC 5321 section 4.5.5).
    /// SES ignores it: its bounces come as events.
    pub from: String,
    pub to: EmailAddress,
    /// Whether `From` or `Reply-To` has a local part outside ASCII. Replies would fail if it were
    /// lost, so the relay must speak SMTPUTF8 (RFC 6531 section 3.1).
    pub foreign_sender: bool,
    /// The pool of sending addresses that the caller named; SMTP ignores it.
    pub pool: Option<String>,
    pub tags: Tags,
}

/// What SES repeats in its events, because it replaces the Message-ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags {
    pub account: AccountId,
    pub message: MessageId,
    /// Position of the recipient within the message.
    pub recipient: u32,
}

/// The result of one hand-over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Attempt {
    /// 2yz after the message: the relay took responsibility.
    Accepted {
        code: u16,
        /// The reply on one line, its code first.
        response: String,
        /// The local address of the connection.
        ip: Option<String>,
        /// Whether the connection to the relay was encrypted.
        tls: bool,
    },
    /// The service accepted the mail and reports the result later: SES by its events.
    Handed {
        /// The answer in the form of a relay's reply, with the service's own id of the mail.
        response: String,
    },
    /// 4yz, a broken connection or a local failure: the attempt is retried.
    Deferred {
        /// The reply on one line, or a description of what broke.
        response: String,
        status: Option<EnhancedStatus>,
        cause: Cause,
        ip: Option<String>,
    },
    /// 5yz about the recipient or the mail: the attempt is never retried.
    Bounced {
        code: u16,
        /// The reply on one line, its code first.
        response: String,
        status: Option<EnhancedStatus>,
        stage: RefusalStage,
        ip: Option<String>,
        tls: bool,
    },
    /// The local part of the recipient or of the sender is not ASCII and the relay does not offer
    /// SMTPUTF8 (RFC 6531 section 3.3): no attempt with this relay can succeed.
    Unsupported,
}

/// The cause of a deferral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The relay said 4yz about the recipient or the mail.
    Recipient,
    /// A local failure: the connection, TLS, login, sender or account. It concerns the operator and
    /// must never count against the recipient.
    Relay,
}

/// What the relay had received when it refused for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStage {
    /// The recipient's address.
    Rcpt,
    /// The mail, or its announced size.
    Data,
}

impl Attempt {
    /// What to write for [`Attempt::Unsupported`] where a relay's reply is expected
    /// (status from RFC 6531 section 3.7.4.1).
    pub const UNSUPPORTED: &str = "553 5.6.7 the relay does not take addresses that need SMTPUTF8";

    pub(crate) fn relay_error(response: String) -> Self {
        Self::Deferred {
            response,
            status: None,
            cause: Cause::Relay,
            ip: None,
        }
    }
}
