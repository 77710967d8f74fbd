//! Feedback about one copy, from any source.

use posthaste_model::{AccountId, BounceType, EventKind, MessageId, Timestamp};

/// Something that happened to a copy after it was handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SesFeedback {
    pub(crate) account: AccountId,
    pub(crate) message: MessageId,
    /// Position of the recipient within the message.
    pub(crate) recipient: u32,
    /// The recipient, if the source is trusted even when the copy's row has expired.
    pub(crate) email: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) says: Says,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// SES has the mail, whether its answer was received or not.
    Handed,
    Delivered {
        response: Option<String>,
        /// The address it was sent from.
        ip: Option<String>,
    },
    Deferred {
        response: String,
        status: Option<String>,
    },
    Bounced(Bounced),
    /// It was not sent.
    Dropped {
        reason: String,
    },
    Complained,
    /// The recipient wants no more mail.
    Unsubscribed,
    /// The recipient unsubscribed by mail, and may do so again after resubscribing.
    Left {
        /// The group to leave; `None` for all mail.
        group: Option<i64>,
        /// Distinguishes the recipient's mails.
        mail: String,
    },
}

/// The bounce as an event reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounced {
    pub(crate) kind: BounceType,
    /// One of the words of API facts 3.3.
    pub(crate) class: &'static str,
    pub(crate) status: String,
    pub(crate) reason: String,
}

impl Says {
    /// The kind of the resulting event; `None` for feedback that only updates the row.
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
