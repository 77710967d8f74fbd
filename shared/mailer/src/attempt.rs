//! The input and the result of a hand-over.

use posthaste_model::{AccountId, EmailAddress, EnforcedTls, MessageId};

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
    /// What the account requires of the connection.
    pub enforced_tls: EnforcedTls,
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
    /// The sending rate or the daily quota is used up (SES). The mail was not looked at: this does
    /// not count as an attempt.
    Throttled {
        /// The answer in the form of a relay's reply.
        response: String,
        limit: SendLimit,
    },
    /// The service was called and no answer came: the mail may have left or not. SES reports it in
    /// an event if it did, so the next attempt waits for that.
    Unanswered { response: String },
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
    /// The relay refuses the sender of this mail, or something else that the service asks for with
    /// it. It concerns the operator or the account, and must never count against the recipient; mail
    /// of other senders may pass.
    Sender,
    /// The relay broke the connection off while it was offered this mail, after it had greeted and
    /// logged in the service. That may be the mail's own fault, as with a filter that fails at its
    /// content, or the relay's.
    Mail,
    /// The relay takes no mail at all: the connection, TLS, the login or the account. It concerns
    /// the operator, and must never count against the recipient.
    Relay,
}

/// Which limit of SES is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// Mails in a second.
    Rate,
    /// Mails in 24 hours.
    Day,
}

impl SendLimit {
    /// Reads what SES says of a throttle, by its API and by SMTP alike ("Errors related to the
    /// sending quotas", in its developer guide): `Maximum sending rate exceeded`, `Daily message
    /// quota exceeded`.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let says = |words: &str| text.contains(words);
        if says("message quota exceeded") || says("sending quota exceeded") {
            Some(Self::Day)
        } else if says("sending rate exceeded") {
            Some(Self::Rate)
        } else {
            None
        }
    }
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

    /// The reason that the v3 API gives for a mail whose account requires more of the connection than it has.
    pub const NOT_ENCRYPTED: &str = "TLS required but not supported";

    /// The bounce of such a mail, which suppresses no address. RFC 3463, section 3.8: 5.7.4 where security features
    /// are not supported, 5.7.5 where cryptography fails.
    pub(crate) fn not_encrypted(detail: u16, ip: Option<String>, tls: bool) -> Self {
        Self::Bounced {
            code: 550,
            response: Self::NOT_ENCRYPTED.to_owned(),
            status: Some(EnhancedStatus::new(5, 7, detail)),
            stage: RefusalStage::Data,
            ip,
            tls,
        }
    }

    pub(crate) fn relay_error(response: String) -> Self {
        Self::Deferred {
            response,
            status: None,
            cause: Cause::Relay,
            ip: None,
        }
    }
}
