//! A mail that waits, and what the reader may do with it.

use posthaste_model::Timestamp;
use posthaste_store::ApiKey;
use serde::Deserialize;

use crate::texts::{self, MailStatus};

/// The scope that reads what is scheduled.
pub(crate) const READ: &str = "user.scheduled_sends.read";

/// Mails on a page.
pub(crate) const SHOWN: usize = 50;

/// A batch with its status, as the API answers it.
#[derive(Deserialize)]
pub(crate) struct HoldAnswer {
    pub(crate) batch_id: String,
    pub(crate) status: String,
}

/// Mails that wait, as the API lists them.
#[derive(Default, Deserialize)]
pub(crate) struct WaitingPageAnswer {
    pub(crate) messages: Vec<WaitingAnswer>,
    pub(crate) next: Option<String>,
}

/// How a batch stands, by the API's word; an empty one has no status.
pub(crate) fn hold_status(hold: &str) -> MailStatus {
    MailStatus::of(match hold {
        "pause" => "paused",
        "cancel" => "cancelled",
        _ => "scheduled",
    })
}

/// A mail that waits, as the lists of the API have it: that of a batch without addresses.
#[derive(Default, Deserialize)]
pub(crate) struct WaitingAnswer {
    pub(super) message_id: String,
    pub(super) send_at: i64,
    pub(super) recipients: u32,
    pub(super) status: String,
    pub(super) batch_id: Option<String>,
    pub(super) to_email: Option<String>,
    pub(super) subject: Option<String>,
}

/// A mail that waits.
pub(crate) struct WaitingMail {
    pub(crate) id: String,
    pub(crate) at: String,
    /// Its first recipient, and how many more there are, where the API says so.
    pub(crate) to: String,
    pub(crate) more: String,
    pub(crate) subject: String,
    pub(crate) status: MailStatus,
    pub(crate) batch: Option<String>,
    /// Whether it can be moved and cancelled.
    pub(crate) is_open: bool,
}

impl WaitingMail {
    pub(crate) fn of(mail: WaitingAnswer) -> Self {
        let (to, more) = match mail.to_email {
            Some(to) => (
                to,
                texts::more_recipients(mail.recipients.saturating_sub(1)),
            ),
            None => (texts::recipients(mail.recipients), String::new()),
        };
        Self {
            at: Timestamp(mail.send_at).iso(),
            is_open: ["scheduled", "paused"].contains(&mail.status.as_str()),
            status: MailStatus::of(&mail.status),
            // Without it the id names the mail.
            subject: mail.subject.unwrap_or_else(|| mail.message_id.clone()),
            id: mail.message_id,
            batch: mail.batch_id,
            to,
            more,
        }
    }
}

/// What the key may do with scheduled mail.
#[derive(Clone, Copy)]
pub(crate) struct ScheduleRights {
    /// Pause or cancel a batch without a status.
    pub(crate) can_hold: bool,
    /// Turn one status into the other, and move a mail.
    pub(crate) can_change: bool,
    /// Take a status off, and cancel a mail.
    pub(crate) can_delete: bool,
}

impl ScheduleRights {
    pub(crate) fn of(key: &ApiKey) -> Self {
        Self {
            can_hold: key.holds("user.scheduled_sends.create"),
            can_change: key.holds("user.scheduled_sends.update"),
            can_delete: key.holds("user.scheduled_sends.delete"),
        }
    }

    /// Whether mails can be chosen for something.
    pub(crate) fn can_choose(self) -> bool {
        self.can_change || self.can_delete
    }
}
