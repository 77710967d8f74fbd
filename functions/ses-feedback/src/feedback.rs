//! Feedback about one copy, from any source, and the event it becomes.

use posthaste_model::{AccountId, BounceType, DropReason, Event, EventKind, MessageId, Timestamp};

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
    pub(crate) kind: FeedbackKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FeedbackKind {
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
        reason: DropReason,
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

impl SesFeedback {
    /// The id of the event, the same for every run that reports it. A copy ends once, but may be
    /// deferred many times, and its recipient may unsubscribe many times.
    pub(crate) fn event_id(&self) -> Option<String> {
        let kind = self.kind.event_kind()?;
        let when = match &self.kind {
            FeedbackKind::Deferred { .. } => self.at.to_string(),
            FeedbackKind::Left { mail, .. } => mail.clone(),
            _ => String::new(),
        };
        let (message, recipient): (&MessageId, u32) = (&self.message, self.recipient);
        Some(format!("{}-fb{when}-{message}-{recipient}", kind.wire()))
    }

    /// The event of this feedback, without the fields that all events of the copy share.
    pub(crate) fn event(&self, id: &str, kind: EventKind, email: &str) -> Event {
        let mut event = Event::new(
            id.to_owned(),
            self.account.clone(),
            kind,
            self.at,
            email.to_owned(),
        );
        event.message = Some(self.message.clone());
        event.recipient = self.recipient;
        match &self.kind {
            FeedbackKind::Delivered { response, ip } => {
                event.response.clone_from(response);
                event.ip.clone_from(ip);
            }
            FeedbackKind::Deferred { response, status } => {
                event.response = Some(response.clone());
                event.status.clone_from(status);
            }
            FeedbackKind::Bounced(bounced) => {
                event.bounce_type = Some(bounced.kind);
                event.bounce_classification = Some(bounced.class.to_owned());
                event.status = Some(bounced.status.clone());
                event.reason = Some(bounced.reason.clone());
            }
            FeedbackKind::Dropped { reason } => {
                event.reason = Some(reason.to_string());
                event.status = Some("5.0.0".to_owned());
            }
            FeedbackKind::Left { group, .. } => event.asm_group_id = *group,
            FeedbackKind::Handed | FeedbackKind::Complained | FeedbackKind::Unsubscribed => {}
        }
        event
    }
}

impl FeedbackKind {
    /// The kind of the resulting event; `None` for feedback that only updates the row.
    pub(crate) fn event_kind(&self) -> Option<EventKind> {
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
