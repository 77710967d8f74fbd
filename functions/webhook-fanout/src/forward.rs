//! Bounces and spam reports, forwarded by mail to the address that the account names
//! (`mail_settings/forward_bounce`, `mail_settings/forward_spam`), once that address is confirmed,
//! is a verified sender, or lies in an authenticated domain of the account.

use std::collections::BTreeMap;
use std::time::Duration;

use posthaste_model::{AccountId, EmailAddress, Event, EventKind, Mail, Masked, MessageId};
use posthaste_queue::{Disposition, Job, Queue};
use posthaste_store::{AccountSettings, Forward, StoreError};
use sha2::{Digest as _, Sha256};

use crate::App;

/// How notices are sent.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The send queue.
    pub send: Queue,
    /// The sender of notices.
    pub from: EmailAddress,
}

/// Forwards the events that the account subscribes to. A batch that is delivered again produces the
/// same notices under the same ids, and each is sent once.
pub(crate) async fn work(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    let told: Vec<&Event> = events.iter().filter(|event| is_told(event.kind)).collect();
    let Some(forwarding) = app.forwarding.as_ref().filter(|_| !told.is_empty()) else {
        return Disposition::Done;
    };
    let settings = match app.store.settings(account).await {
        Ok(settings) => settings,
        Err(error) => {
            tracing::error!(account.id = %account, "settings of account {account} cannot be read: {error}");
            return crate::failure::of_store(&error);
        }
    };
    let mut notices = Vec::new();
    let mut confirmed = BTreeMap::new();
    for event in told {
        let Some(to) = listener(&settings, event) else {
            continue;
        };
        match is_confirmed(app, account, &to, &mut confirmed).await {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                tracing::error!(account.id = %account, "whether account {account} may forward to an address cannot be read: {error}");
                return Disposition::Retry;
            }
        }
        match job(app, forwarding, event, to).to_text() {
            Ok(text) => notices.push((text, Duration::ZERO)),
            Err(error) => tracing::error!("a notice has no form on the queue: {error}"),
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

fn is_told(kind: EventKind) -> bool {
    matches!(kind, EventKind::Bounce | EventKind::SpamReport)
}

/// The address that receives the notice. Events about mail to that address itself are not
/// forwarded: a notice that bounces would cause the next one.
fn listener(settings: &AccountSettings, event: &Event) -> Option<EmailAddress> {
    let Forward { enabled, email } = match event.kind {
        EventKind::SpamReport => &settings.forward_spam,
        _ => &settings.forward_bounce,
    };
    let to = email.as_deref().filter(|_| *enabled)?;
    let to = EmailAddress::parse(to).ok()?;
    let about = EmailAddress::parse(&event.email).ok();
    let itself = about.is_some_and(|about| about.folded() == to.folded());
    (!itself).then_some(to)
}

fn job(app: &App, forwarding: &Forwarding, event: &Event, to: EmailAddress) -> Job {
    let what = match event.kind {
        EventKind::SpamReport => "Spam report",
        _ => "Bounce",
    };
    let subject = format!("{what}: {}", event.email);
    let mail = Mail::notice(forwarding.from.clone(), to, &subject, text(event));
    let account = event.account.clone();
    Job::notice(account, message(event), app.clock.now_ms(), mail)
}

/// Derives the id of the notice from the event.
fn message(event: &Event) -> MessageId {
    MessageId::from_digest(Sha256::digest(format!("notice of {}", event.id)).into())
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
