//! Bounces in words alone, as qmail, Exim, Domino, Exchange before 2007 and many gateways write them.
//!
//! There is no standard. What calls itself a bounce is one, if its text or its sender agrees; what
//! calls itself an automatic reply first (RFC 3834, section 3.1.5: the subject begins so) is none.

use super::fields::{self, Delivery, ReportAction, ReportedRecipient};
use super::human::Human;
use super::{phrases, reply};
use crate::read::ParsedMail;

/// The field in which Exim, and others after it, names the recipients.
const FAILED: &str = "X-Failed-Recipients";

/// The bounce or the notice of a delay; `None` for another mail.
pub(super) fn read(mail: &ParsedMail<'_>, human: &Human) -> Option<Delivery> {
    let subject = mail.text("Subject").unwrap_or_default().to_lowercase();
    let failed = mail.text(FAILED);
    let class = human.lines().filter_map(reply::class).max();
    let text = human.folded();
    if is_notice(mail, &subject) || (failed.is_none() && is_reply(mail, &subject)) {
        return None;
    }
    let titled = phrases::any(&subject, phrases::SUBJECTS)
        || phrases::any(&subject, phrases::DELAYED_SUBJECTS);
    let says_so = phrases::any(&text, phrases::BODIES);
    let given = class.is_some() || phrases::any(&text, phrases::REASONS);
    let daemon = is_daemon(mail);
    let is_bounce = failed.is_some()
        || (titled && (says_so || daemon || class.is_some()))
        || (says_so && (daemon || given))
        || (daemon && class.is_some());
    if !is_bounce {
        return None;
    }
    let diagnostic = human.diagnostic();
    let stated = |said: &String| reply(said).status.map(str::to_owned);
    let first = failed.as_deref().and_then(|all| all.split(',').next());
    let recipient = ReportedRecipient {
        address: first
            .map(fields::address)
            .or_else(|| human.recipient())
            .unwrap_or_default(),
        original: None,
        action: if is_delay(&subject, &text, class) {
            ReportAction::Delayed
        } else {
            ReportAction::Failed
        },
        status: diagnostic.as_ref().and_then(stated),
        diagnostic,
        remote_mta: None,
    };
    Some(Delivery {
        recipients: vec![recipient],
        ..Delivery::default()
    })
}

/// A notice of reading or of success, or an aggregate report.
fn is_notice(mail: &ParsedMail<'_>, subject: &str) -> bool {
    let mut notices = phrases::NOTICES.iter();
    notices.any(|notice| subject.starts_with(notice))
        || phrases::any(subject, phrases::SUCCESSES)
        || mail
            .parts()
            .iter()
            .any(|part| part.media_type == "message/disposition-notification")
}

/// An automatic reply of a person: it says so before it says anything of a bounce, whose subject
/// may quote such a reply.
fn is_reply(mail: &ParsedMail<'_>, subject: &str) -> bool {
    let marks = ["X-Autoreply", "X-Autorespond", "X-Auto-Reply-From"];
    if marks.iter().any(|name| mail.text(name).is_some()) {
        return true;
    }
    let submitted = mail.text("Auto-Submitted").unwrap_or_default();
    if submitted.to_lowercase().contains("vacation") {
        return true;
    }
    let away = phrases::first(subject, phrases::AWAY);
    let bounce = phrases::first(subject, phrases::SUBJECTS);
    away.is_some_and(|away| bounce.is_none_or(|bounce| away < bounce))
}

/// Whether a server is the author, by the names servers have.
fn is_daemon(mail: &ParsedMail<'_>) -> bool {
    let from = mail.text("From").unwrap_or_default().to_lowercase();
    from.trim().is_empty() || phrases::any(&from, phrases::DAEMONS)
}

/// Whether the mail is still tried: the subject says so and nothing of a failure, or the text does
/// and names neither an end nor a refusal for good.
fn is_delay(subject: &str, text: &str, class: Option<u8>) -> bool {
    let titled = phrases::any(subject, phrases::DELAYED_SUBJECTS);
    let failure = ["undeliver", "fail", "returned", "rejected"];
    let ends = phrases::any(text, phrases::FINAL);
    (titled && !phrases::any(subject, &failure))
        || (phrases::any(text, phrases::DELAYED) && !ends && class != Some(5))
}
