//! What is said about one copy, whoever says it.

use posthaste_model::{AccountId, BounceType, EventKind, MessageId, Timestamp};

/// Something that happened to a copy after it was handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SesFeedback {
    pub(crate) account: AccountId,
    pub(crate) message: MessageId,
    /// Position of the recipient within the message.
    pub(crate) recipient: u32,
    /// The recipient, where whoever speaks is to be believed even when the copy is forgotten.
    pub(crate) email: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) says: Says,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// SES has the mail, whether we heard its answer or not.
    Handed,
    Delivered {
        response: Option<String>,
        /// The address it left from.
        ip: Option<String>,
    },
    Deferred {
        response: String,
        status: Option<String>,
    },
    Bounced(Bounced),
    /// It did not leave.
    Dropped {
        reason: String,
    },
    Complained,
    /// The recipient wants no more mail.
    Unsubscribed,
    /// The recipient wrote so himself, and may do so again after he has come back.
    Left {
        /// The one group that is left; everything without one.
        group: Option<i64>,
        /// Tells his mails apart.
        mail: String,
    },
}

/// How a bounce reads in an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounced {
    pub(crate) kind: BounceType,
    /// One of the words of API facts 3.3.
    pub(crate) class: &'static str,
    pub(crate) status: String,
    pub(crate) reason: String,
}

impl Says {
    /// The kind of event it makes; none for what only the row needs to know.
    pub(crate) fn kind(&self) -> Option<EventKind> {
        Some(match self {
            Self::Handed => return None,
            Self::Delivered { .. } => EventKind::Delivered,
            Self::Deferred { .. } => EventKind::Deferred,
            Self::Bounced(_) => EventKind::Bounce,
            Self::Dropped { .. } => EventKind::Dropped,
            Self::Complained => EventKind::SpamReport,
            Self::Unsubscribed | Self::Left { group: None, .. } => EventKind::Unsubscribe,
            Self::Left { group: Some(_), .. } => EventKind::GroupUnsubscribe,
        })
    }
}
