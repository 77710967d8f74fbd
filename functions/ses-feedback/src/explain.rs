//! What a bounce is read as, for an operator or a test that has only the mail.

use posthaste_mime::report::{self, Report, ReportAction};
use posthaste_model::BounceType;

use crate::mail;
use crate::word::Says;

/// What a mail reports, as its event would say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// `bounce`, `blocked` or `expired`; `deferred`, `spamreport` or `unsubscribe`. Of the first
    /// three, `bounce` suppresses the address.
    pub kind: &'static str,
    /// The address the mail names; empty without one. Only a copy's row proves its recipient.
    pub recipient: String,
    /// The enhanced code.
    pub status: Option<String>,
    /// One of the words of API facts 3.3, for the first three kinds.
    pub class: Option<&'static str>,
    /// What the other server said.
    pub reason: Option<String>,
}

/// Reads a mail as if it had come from the null sender to the envelope sender of a copy; `None`
/// when it tells nothing about one.
pub fn explain(raw: &[u8]) -> Option<Explained> {
    let report = report::bounce(raw)?;
    let mut explained = Explained {
        kind: "",
        recipient: recipient(&report),
        status: None,
        class: None,
        reason: None,
    };
    match mail::says(&report)? {
        Says::Bounced(bounced) => {
            explained.kind = match bounced.kind {
                BounceType::Bounce => "bounce",
                BounceType::Blocked => "blocked",
                BounceType::Expired => "expired",
            };
            explained.status = Some(bounced.status);
            explained.class = Some(bounced.class);
            explained.reason = Some(bounced.reason);
        }
        Says::Deferred { response, status } => {
            explained.kind = "deferred";
            explained.status = status;
            explained.reason = Some(response).filter(|said| !said.is_empty());
        }
        Says::Complained => explained.kind = "spamreport",
        Says::Unsubscribed => explained.kind = "unsubscribe",
        Says::Handed | Says::Delivered { .. } | Says::Dropped { .. } | Says::Left { .. } => {
            return None;
        }
    }
    Some(explained)
}

/// The address that did not get its mail, or that complains.
fn recipient(report: &Report) -> String {
    match report {
        Report::Delivery(delivery) => {
            let lost = |action| {
                let mut all = delivery.recipients.iter();
                all.find(|one| one.action == action)
            };
            let one = lost(ReportAction::Failed).or_else(|| lost(ReportAction::Delayed));
            one.map(|one| one.address.clone()).unwrap_or_default()
        }
        Report::Complaint(complaint) => complaint.recipients.first().cloned().unwrap_or_default(),
    }
}
