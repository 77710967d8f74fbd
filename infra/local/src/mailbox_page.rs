//! The port of the mailbox: its page and REST calls with what they show and do by this host, the clock, and the login.

use std::sync::Arc;

use axum::Router;
use futures_util::FutureExt as _;
use posthaste_mailbox::{Chaos, ChaosStep, Mailbox, Release, ReleasedMail, Sources};
use posthaste_mailer::{Attempt, Envelope, Mailer, Tags};
use posthaste_model::{AccountId, EnforcedTls, Entropy};
use posthaste_queue::Queue;
use posthaste_runtime::Platform;
use posthaste_store::Store;
use posthaste_submission::{FaultStep, Faults};
use posthaste_webhook::{ClientConfig, WebhookClient};

use crate::clock_routes;
use crate::mailbox_feed::LocalSchedule;
use crate::sources::sources;
use crate::start::HostSettings;
use crate::start_error::StartError;
use crate::turnable_clock::ClockHand;

/// What the port is made of.
pub(crate) struct PageParts<'a> {
    pub(crate) mailbox: &'a Mailbox,
    pub(crate) platform: &'a Platform,
    pub(crate) store: &'a Store,
    /// The queue of posts that are made again.
    pub(crate) retries: Queue,
    /// None where mail leaves for a real relay: there no chance refuses it.
    pub(crate) chaos: Option<Chaos>,
    /// The relay that recorded mails are released to.
    pub(crate) release: Option<Mailer>,
    /// The first account.
    pub(crate) account: AccountId,
    pub(crate) hand: Option<ClockHand>,
}

/// Every route of the port.
pub(crate) fn router(settings: &HostSettings, parts: PageParts<'_>) -> Result<Router, StartError> {
    let schedule = LocalSchedule(mail_batch::App::from_env(parts.platform)?);
    let links = ClientConfig {
        guard: settings.links(),
        ..ClientConfig::default()
    };
    let links = WebhookClient::open(links);
    let links =
        links.inspect_err(|error| tracing::warn!(%error, "links cannot be checked: {error}"));
    let filter = settings.outgoing_spam_filter.as_ref();
    let filter = filter.or(settings.spam_filter.as_ref());
    let (entropy, account) = (settings.entropy.clone(), parts.account);
    let sources = Sources {
        schedule: Some(Arc::new(schedule)),
        relay: settings.relay.as_ref().map(ToString::to_string),
        release_relay: settings.release_relay.as_ref().map(ToString::to_string),
        release: parts.release.map(|relay| release(relay, account, entropy)),
        links: links.ok(),
        spam: filter.cloned(),
        chaos: parts.chaos,
        ..sources(parts.store, &parts.retries, settings)
    };
    let page = parts.mailbox.clone().router(sources);
    let clock = parts.mailbox.guarded(clock_routes::routes(parts.hand));
    let page = page.merge(clock);
    Ok(match settings.mailbox_login.clone() {
        None => page,
        Some(login) => login.protect(page),
    })
}

/// The refusals that the submission ports make by chance.
pub(crate) fn faults(chaos: &Chaos) -> Faults {
    let chaos = chaos.clone();
    Arc::new(move |step| {
        chaos.code(match step {
            FaultStep::Authentication => ChaosStep::Authentication,
            FaultStep::Sender => ChaosStep::Sender,
            FaultStep::Recipient => ChaosStep::Recipient,
        })
    })
}

/// Hands a mail to a relay, to one recipient after another; the error names those that it did not go to.
fn release(relay: Mailer, account: AccountId, entropy: Entropy) -> Release {
    Arc::new(move |mail: ReleasedMail| {
        let (relay, account) = (relay.clone(), account.clone());
        let message = entropy.message_id();
        async move {
            let mut failed = Vec::new();
            for (recipient, to) in (0..).zip(mail.to) {
                let envelope = Envelope {
                    from: mail.from.as_str().to_owned(),
                    to: to.clone(),
                    foreign_sender: !mail.from.local().is_ascii(),
                    pool: None,
                    enforced_tls: EnforcedTls::default(),
                    tags: Tags {
                        account: account.clone(),
                        message: message.clone(),
                        recipient,
                    },
                };
                let attempt = relay.hand_over(&envelope, &mail.raw).await;
                if let Some(why) = refusal(attempt) {
                    failed.push(format!("{}: {why}", to.as_str()));
                }
            }
            if failed.is_empty() {
                Ok(())
            } else {
                Err(failed.join("; "))
            }
        }
        .boxed()
    })
}

/// What the relay answered, unless it took the mail.
fn refusal(attempt: Attempt) -> Option<String> {
    match attempt {
        Attempt::Accepted { .. } | Attempt::Handed { .. } => None,
        Attempt::Throttled { response, .. }
        | Attempt::Unanswered { response }
        | Attempt::Deferred { response, .. }
        | Attempt::Bounced { response, .. } => Some(response),
        Attempt::Unsupported => Some(Attempt::UNSUPPORTED.to_owned()),
    }
}
