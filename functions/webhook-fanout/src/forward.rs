//! Bounces and spam reports, forwarded by mail to the addresses that the account names
//! (`mail_settings/forward_bounce`, `mail_settings/forward_spam`), each once it
//! is confirmed, is a verified sender, or lies in an authenticated domain of the account.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use posthaste_model::{AccountId, EmailAddress, Event, EventKind, Mail, Masked, MessageId};
use posthaste_queue::{Disposition, Job};
use posthaste_runtime::WorkError;
use posthaste_store::{AccountSettings, StoreError};
use sha2::{Digest as _, Sha256};

use crate::app::{App, Forwarding};

/// Forwards the events that the account subscribes to. A batch that is delivered again produces the
/// same notices under the same ids, and each is sent once.
pub(crate) async fn work(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    let forwarded = events.iter().filter(|event| is_forwarded(event.kind));
    let forwarded: Vec<&Event> = forwarded.collect();
    let Some(forwarding) = app.forwarding.as_ref().filter(|_| !forwarded.is_empty()) else {
        return Disposition::Done;
    };
    let settings = match app.store.settings(account).await {
        Ok(settings) => settings,
        Err(error) => {
            tracing::error!(account.id = %account, "settings of account {account} cannot be read: {error}");
            return WorkError::from(error).disposition();
        }
    };
    let mut notices = Vec::new();
    let mut confirmed = BTreeMap::new();
    let forwards = forwarded.into_iter().flat_map(|event| {
        let to = recipients(&settings, event).into_iter().enumerate();
        to.map(move |(place, to)| (event, place, to))
    });
    for (event, place, to) in forwards {
        match is_confirmed(app, account, &to, &mut confirmed).await {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                tracing::error!(account.id = %account, "whether account {account} may forward to an address cannot be read: {error}");
                return Disposition::Retry;
            }
        }
        let id = notice_id(event, (place > 0).then_some(&to));
        match job(app, forwarding, event, id, to).to_text() {
            Ok(text) => notices.push((text, Duration::ZERO)),
            Err(error) => tracing::error!("a notice cannot be written to the queue: {error}"),
        }
    }
    if notices.is_empty() {
        return Disposition::Done;
    }
    match forwarding.send.send_all(notices).await {
        Ok(()) => Disposition::Done,
        Err(error) => {
            tracing::error!(account.id = %account, "notices of account {account} could not be queued: {error}");
            Disposition::Retry
        }
    }
}

/// Whether events may be forwarded to the address; `known` caches the results of this batch.
async fn is_confirmed(
    app: &App,
    account: &AccountId,
    to: &EmailAddress,
    known: &mut BTreeMap<String, bool>,
) -> Result<bool, StoreError> {
    let folded = to.folded();
    if let Some(confirmed) = known.get(&folded) {
        return Ok(*confirmed);
    }
    let confirmed = app.store.may_forward_to(account, to).await?;
    if !confirmed {
        let to = Masked(to.as_str());
        tracing::info!(account.id = %account, "account {account} forwards to {to}, which is not confirmed: nothing is forwarded");
    }
    known.insert(folded, confirmed);
    Ok(confirmed)
}

fn is_forwarded(kind: EventKind) -> bool {
    matches!(kind, EventKind::Bounce | EventKind::SpamReport)
}

/// The addresses that receive the notice, each once. Events about mail to any of them are not
/// forwarded at all: notices that bounce would cause the next ones, in turn or without end.
fn recipients(settings: &AccountSettings, event: &Event) -> Vec<EmailAddress> {
    let mut to = match event.kind {
        EventKind::SpamReport => settings.forward_spam.addresses(),
        _ => settings.forward_bounce.addresses(),
    };
    let mut seen = BTreeSet::new();
    to.retain(|to| seen.insert(to.folded()));
    let about = EmailAddress::parse_stored(&event.email);
    if about.is_ok_and(|about| seen.contains(&about.folded())) {
        to.clear();
    }
    to
}

fn job(app: &App, forwarding: &Forwarding, event: &Event, id: MessageId, to: EmailAddress) -> Job {
    let what = match event.kind {
        EventKind::SpamReport => "Spam report",
        _ => "Bounce",
    };
    let subject = format!("{what}: {}", event.email);
    let mail = Mail::notice(forwarding.from.clone(), to, &subject, text(event));
    let account = event.account.clone();
    let job = Job::notice(account, id, app.clock.now_ms(), mail);
    if event.is_test { job.of_test() } else { job }
}

/// Derives the id of a notice from its event, and from its address if an earlier address of the
/// list gets a notice too.
fn notice_id(event: &Event, to: Option<&EmailAddress>) -> MessageId {
    let of = format!("notice of {}", event.id);
    let text = to.map_or_else(|| of.clone(), |to| format!("{of} to {}", to.folded()));
    MessageId::from_digest(Sha256::digest(text).into())
}

fn text(event: &Event) -> String {
    let first = match event.kind {
        EventKind::SpamReport => format!("{} marked a mail as spam.", event.email),
        _ => format!("A mail to {} could not be delivered.", event.email),
    };
    let message = event.message.as_ref();
    let lines = [
        ("Reason", event.reason.clone()),
        ("Status", event.status.clone()),
        (
            "Message",
            message.map(|message| message.of_copy(event.recipient)),
        ),
        ("Time", Some(event.at.iso())),
    ];
    let lines = lines
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}: {}\n", value?)));
    format!("{first}\n\n{}", lines.collect::<String>())
}
