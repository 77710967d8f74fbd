//! Mails to the bounce domain: delivery reports (RFC 3464) and complaints (RFC 5965).
//!
//! A report is trusted when it names a copy by an envelope sender with a valid mark: it was sent to
//! that address, or returns it. Other mails to the domain are automatic replies.

use posthaste_mailer::RefusalStage;
use posthaste_mime::report::{
    self, Complaint, Delivery, Original, Recipient, Report, ReportAction,
};
use posthaste_model::{Timestamp, Verp};

use crate::App;
use crate::judge;
use crate::word::{Says, SesFeedback};

/// The number of a mail's addresses that are checked for a valid mark.
const MOST: usize = 100;

/// The feedback that a mail contains; `None` when it is no report, or concerns no copy of ours.
pub(crate) fn word(app: &App, to: &[String], raw: &[u8], now: Timestamp) -> Option<SesFeedback> {
    let report = report::read(raw)?;
    let (says, original, named) = match &report {
        Report::Delivery(delivery) => (of_delivery(delivery)?, &delivery.original, None),
        Report::Complaint(complaint) => {
            let from = complaint.mail_from.as_deref();
            (of_complaint(complaint)?, &complaint.original, from)
        }
    };
    let copy = copy(app, to, named, original)?;
    Some(SesFeedback {
        account: copy.account,
        message: copy.message,
        recipient: copy.recipient,
        // The recipient that a mail states is unauthenticated.
        email: None,
        at: now,
        says,
    })
}

/// The copy a report is about: a complaint returns the envelope sender; a delivery report is sent
/// to it.
fn copy(app: &App, to: &[String], named: Option<&str>, original: &Original) -> Option<Verp> {
    let path = original.header("Return-Path");
    let path = path.map(|path| path.trim_matches(['<', '>', ' ']));
    let to = to.iter().map(String::as_str).take(MOST);
    let all = named.into_iter().chain(path).chain(to);
    all.filter_map(|address| app.copy(address)).next()
}

/// A copy has one recipient, so a reported failure applies to this copy, whatever address was tried
/// last.
pub(crate) fn of_delivery(delivery: &Delivery) -> Option<Says> {
    let of = |action| {
        let mut all = delivery.recipients.iter();
        all.find(|recipient: &&Recipient| recipient.action == action)
    };
    if let Some(failed) = of(ReportAction::Failed) {
        let (status, said) = (failed.status.as_deref(), failed.diagnostic.as_deref());
        return Some(Says::Bounced(judge::bounced(
            status,
            said,
            RefusalStage::Data,
        )));
    }
    let delayed = of(ReportAction::Delayed)?;
    let said = delayed.diagnostic.as_deref().unwrap_or_default();
    Some(Says::Deferred {
        response: judge::words(said),
        status: delayed.status.clone(),
    })
}

/// The types of RFC 5965, section 7.3, and of the registry it establishes.
pub(crate) fn of_complaint(complaint: &Complaint) -> Option<Says> {
    match complaint.feedback_type.as_str() {
        "abuse" | "fraud" | "virus" | "other" => Some(Says::Complained),
        "opt-out" | "opt-out-list" => Some(Says::Unsubscribed),
        // `not-spam` is positive feedback; `auth-failure` and `dmarc` concern the domain.
        _ => None,
    }
}
