//! Mails to the bounce domain: delivery reports (RFC 3464), bounces in words, and complaints (RFC
//! 5965, or with the mail complained of attached).
//!
//! A report is trusted when it names a copy by something only its mail contains: it was sent to its
//! envelope sender, or returns that, or a signed link. Other mails to the domain are automatic
//! replies.

use posthaste_mailer::RefusalStage;
use posthaste_mime::report::{
    self, Complaint, Delivery, MailReport, Original, ReportAction, ReportedRecipient,
};
use posthaste_model::{BounceType, Timestamp, Verp};

use crate::App;
use crate::accept;
use crate::classify;
use crate::feedback::{FeedbackKind, SesFeedback};

/// The number of a mail's addresses that are checked for a valid mark.
const MOST: usize = 100;

/// The feedback that a mail contains; `None` when it is no report, or concerns no copy of ours.
pub(crate) fn word(
    app: &App,
    from: &str,
    to: &[String],
    raw: &[u8],
    now: Timestamp,
) -> Option<SesFeedback> {
    let sent_to = to.iter().take(MOST).find_map(|address| app.copy(address));
    let (kind, copy) = match sent_to {
        // Only a copy's own refusals are sent to its envelope sender from the null sender (RFC 5321, section
        // 4.5.5), so every form of them is read.
        Some(copy) if is_null_sender(from) => (feedback(&report::bounce(raw)?)?, copy),
        _ => {
            let report = report::read(raw).or_else(|| complaint(app, to, raw))?;
            (feedback(&report)?, copy(app, &report).or(sent_to)?)
        }
    };
    Some(SesFeedback {
        account: copy.account,
        message: copy.message,
        recipient: copy.recipient,
        // The recipient that a mail states is unauthenticated.
        email: None,
        at: now,
        kind,
    })
}

/// The null sender, or what a server that cannot write it says instead.
fn is_null_sender(from: &str) -> bool {
    let from = from.trim_matches(['<', '>', ' ']);
    let local = from.split('@').next().unwrap_or_default();
    from.is_empty() || local.eq_ignore_ascii_case("mailer-daemon")
}

/// What a report says about its copy.
fn feedback(report: &MailReport) -> Option<FeedbackKind> {
    match report {
        MailReport::Delivery(delivery) => of_delivery(delivery),
        MailReport::Complaint(complaint) => of_complaint(complaint),
    }
}

/// A mail to a mailbox for complaints with the mail complained of attached.
fn complaint(app: &App, to: &[String], raw: &[u8]) -> Option<MailReport> {
    let mut locals = to.iter().filter_map(|address| app.local(address));
    let meant = locals.any(accept::is_for_complaints);
    let complaint = meant.then(|| report::attached(raw)).flatten();
    complaint.map(MailReport::Complaint)
}

/// The copy whose mail a report returns: by its envelope sender, or by the signed token of its
/// `List-Unsubscribe`, which stays where a reporting service removes the envelope.
fn copy(app: &App, report: &MailReport) -> Option<Verp> {
    let (original, named) = match report {
        MailReport::Delivery(delivery) => (&delivery.original, None),
        MailReport::Complaint(complaint) => (&complaint.original, complaint.mail_from.as_deref()),
    };
    let path = original.header("Return-Path");
    let path = path.map(|path| path.trim_matches(['<', '>', ' ']));
    let mut senders = named.into_iter().chain(path);
    let by_sender = senders.find_map(|address| app.copy(address));
    by_sender.or_else(|| by_link(app, original))
}

fn by_link(app: &App, original: &Original) -> Option<Verp> {
    let links = original.header("List-Unsubscribe")?;
    // A token is the value of a parameter, and has white space only where lines were folded.
    let links: String = links.split_whitespace().collect();
    let values = links.split('=').skip(1).take(MOST);
    let token = values.filter_map(|value| value.split(['>', '&']).next());
    let token = token
        .filter_map(|token| app.keys.verify(token).ok())
        .next()?;
    Some(Verp {
        account: token.account,
        message: token.message,
        recipient: token.recipient,
    })
}

/// A copy has one recipient, so a reported failure applies to this copy, whatever address was tried
/// last.
fn of_delivery(delivery: &Delivery) -> Option<FeedbackKind> {
    let of = |action| {
        let mut all = delivery.recipients.iter();
        all.find(|recipient: &&ReportedRecipient| recipient.action == action)
    };
    if let Some(failed) = of(ReportAction::Failed) {
        let (status, said) = (failed.status.as_deref(), failed.diagnostic.as_deref());
        return Some(FeedbackKind::Bounced(classify::bounced(
            status,
            said,
            RefusalStage::Data,
        )));
    }
    let delayed = of(ReportAction::Delayed)?;
    let said = delayed.diagnostic.as_deref().unwrap_or_default();
    Some(FeedbackKind::Deferred {
        response: classify::words(said),
        status: delayed.status.clone(),
    })
}

/// The types of RFC 5965, section 7.3, and of the registry it establishes.
fn of_complaint(complaint: &Complaint) -> Option<FeedbackKind> {
    match complaint.feedback_type.as_str() {
        "abuse" | "fraud" | "virus" | "other" => Some(FeedbackKind::Complained),
        "opt-out" | "opt-out-list" => Some(FeedbackKind::Unsubscribed),
        // `not-spam` is positive feedback; `auth-failure` and `dmarc` concern the domain.
        _ => None,
    }
}

/// What a mail reports, as its event would say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedMail {
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
/// when it reports nothing about one.
pub fn explain(raw: &[u8]) -> Option<ExplainedMail> {
    let report = report::bounce(raw)?;
    let mut explained = ExplainedMail {
        kind: "",
        recipient: stated_recipient(&report),
        status: None,
        class: None,
        reason: None,
    };
    match feedback(&report)? {
        FeedbackKind::Bounced(bounced) => {
            explained.kind = match bounced.kind {
                BounceType::Bounce => "bounce",
                BounceType::Blocked => "blocked",
                BounceType::Expired => "expired",
            };
            explained.status = Some(bounced.status);
            explained.class = Some(bounced.class);
            explained.reason = Some(bounced.reason);
        }
        FeedbackKind::Deferred { response, status } => {
            explained.kind = "deferred";
            explained.status = status;
            explained.reason = Some(response).filter(|said| !said.is_empty());
        }
        FeedbackKind::Complained => explained.kind = "spamreport",
        FeedbackKind::Unsubscribed => explained.kind = "unsubscribe",
        FeedbackKind::Handed
        | FeedbackKind::Delivered { .. }
        | FeedbackKind::Dropped { .. }
        | FeedbackKind::Left { .. } => {
            return None;
        }
    }
    Some(explained)
}

/// The address that did not get its mail, or that complains.
fn stated_recipient(report: &MailReport) -> String {
    match report {
        MailReport::Delivery(delivery) => {
            let lost = |action| {
                let mut all = delivery.recipients.iter();
                all.find(|one| one.action == action)
            };
            let one = lost(ReportAction::Failed).or_else(|| lost(ReportAction::Delayed));
            one.map(|one| one.address.clone()).unwrap_or_default()
        }
        MailReport::Complaint(complaint) => {
            complaint.recipients.first().cloned().unwrap_or_default()
        }
    }
}
