//! What the functions of a local host are opened from: the same variables as on AWS, and the parts that this
//! process holds instead of AWS's services. Everything in which a laptop differs is here.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::Extensions;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_blob::Blob;
use posthaste_dns::Resolver;
use posthaste_mailbox::Mailbox;
use posthaste_mailer::Mailer;
use posthaste_model::{Entropy, Hostname, PublicUrl};
use posthaste_queue::{Bus, Queue};
use posthaste_runtime::{Env, LocalServices, Platform};
use posthaste_store::Store;
use posthaste_webhook::Schedule;

use crate::engine::{EVENTS, Engine, FEEDBACK, INBOUND, RETRIES, SEND};
use crate::folder::Folder;
use crate::mailbox_feed::MailboxFeed;
use crate::start::{DnsSettings, HostSettings};
use crate::start_error::StartError;

/// Parts that are started before the functions.
pub(crate) struct HostParts<'a> {
    pub(crate) store: Store,
    pub(crate) engine: &'a Engine,
    pub(crate) blob: Blob,
    pub(crate) mailer: Mailer,
    /// The embedded relay, which records.
    pub(crate) recorder: Mailer,
    /// The key ring that signs links and seals secrets.
    pub(crate) secret: String,
    /// The base URL of this host for recipients.
    pub(crate) public_url: PublicUrl,
    /// The mailbox, whose page lists every copy.
    pub(crate) mailbox: &'a Mailbox,
    /// Where the mailbox is, which `/` names.
    pub(crate) mailbox_address: SocketAddr,
}

/// The platform of a host with these settings.
pub(crate) fn platform(settings: &HostSettings, parts: HostParts<'_>) -> Platform {
    let queues = queues(parts.engine);
    let services = LocalServices {
        store: parts.store.clone(),
        blob: parts.blob.clone(),
        bus: Bus::log(),
        queue: Arc::new(move |name| queues(name)),
        limits: settings.limits.clone(),
        any_sender: !settings.strict_senders,
        process: process(&settings.entropy),
        parts: own(settings, &parts),
    };
    let vars = variables(settings, &parts);
    let (clock, entropy) = (settings.clock.clone(), settings.entropy.clone());
    Platform::local(vars, services, clock, entropy)
}

/// What the template sets on AWS.
fn variables(settings: &HostSettings, parts: &HostParts<'_>) -> Env {
    let hostname = &settings.hostname;
    let set = [
        ("STACK_SECRET", parts.secret.clone()),
        ("PUBLIC_URL", parts.public_url.to_string()),
        ("HOSTNAME_OF_SERVICE", hostname.to_string()),
        ("MAIL_HOSTNAME", hostname.to_string()),
        ("MAIL_HOST", hostname.to_string()),
        ("LINK_TARGET", link_target(settings, parts)),
        ("BOUNCE_DOMAIN", bounce_domain(settings).to_string()),
        ("SYSTEM_SENDER", format!("no-reply@{hostname}")),
        ("HORIZON_SECONDS", settings.horizon.to_string()),
        ("SEARCH_DAYS", settings.search_days.to_string()),
        ("AUDIT_DAYS", settings.audit_days.to_string()),
        // For the mailbox page.
        ("WEBHOOK_POSTS", "true".to_owned()),
        ("REPUTATION_GUARD", settings.reputation_guard.to_string()),
    ];
    Env::new(move |name| {
        let found = set.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    })
}

/// What branded links are aliases of: the name in the public address, or that of the service where it has none.
fn link_target(settings: &HostSettings, parts: &HostParts<'_>) -> String {
    let public = parts.public_url.host().parse::<Hostname>();
    public
        .unwrap_or_else(|_| settings.hostname.clone())
        .to_string()
}

fn bounce_domain(settings: &HostSettings) -> Hostname {
    let given = settings.bounce_domain.clone();
    given.unwrap_or_else(|| settings.hostname.bounce_domain())
}

/// What the functions take instead of making it from their variables.
fn own(settings: &HostSettings, parts: &HostParts<'_>) -> Extensions {
    let mut own = Extensions::new();
    own.insert(parts.mailer.clone());
    own.insert(delivery::TestRelay(parts.recorder.clone()));
    let feed = MailboxFeed {
        mailbox: parts.mailbox.clone(),
        store: parts.store.clone(),
    };
    let feed = feed.parts();
    own.insert(feed.acceptance);
    own.insert(feed.events);
    own.insert(feed.elsewhere);
    let places = [
        ("mailbox", format!("http://{}", parts.mailbox_address)),
        ("health", "/health".to_owned()),
    ];
    let places = places.map(|(name, target)| (name.to_owned(), target));
    own.insert(api_keys::OtherPlaces(BTreeMap::from(places)));
    // Receivers may run on this machine.
    own.insert(settings.receivers());
    if settings.quick_retries {
        own.insert(Schedule::QuickEvents);
    }
    own.insert(inbound_parse::SenderChecks(inbound_dns(
        &settings.inbound_dns,
    )));
    own.insert(ips::NameDns(inbound_dns(&settings.inbound_dns)));
    own.insert(suppressions::AddressDns(inbound_dns(&settings.inbound_dns)));
    own.insert(parse_settings::ReceivingDns(inbound_dns(
        &settings.inbound_dns,
    )));
    // Mail to the embedded relay reaches no mailbox: its recipients are not asked about.
    let recipients = settings.relay.as_ref();
    let recipients = recipients.and_then(|_| inbound_dns(&settings.inbound_dns));
    own.insert(webhook_fanout::RecipientDns(recipients));
    // One variable on AWS, where each function has its own.
    if let Some(filter) = settings.spam_filter.clone() {
        own.insert(filter);
    }
    if let Some(filter) = settings.outgoing_spam_filter.clone() {
        own.insert(delivery::SpamFilter::new(filter));
    }
    // The embedded relay takes any envelope sender; a real one may look the domain up.
    if settings.relay.is_some() && settings.bounce_domain.is_none() {
        own.insert(delivery::Identity {
            hostname: settings.hostname.clone(),
            bounce_domain: None,
        });
    }
    own
}

/// The queue that a variable names.
fn queues(engine: &Engine) -> impl Fn(&str) -> Queue + Send + Sync + 'static {
    let [send, events, retries, inbound, feedback] =
        [SEND, EVENTS, RETRIES, INBOUND, FEEDBACK].map(|name| engine.queue(name));
    move |variable| {
        let queue = match variable {
            "EVENTS_QUEUE_URL" => &events,
            "RETRIES_QUEUE_URL" => &retries,
            "INBOUND_QUEUE_URL" => &inbound,
            "FEEDBACK_QUEUE_URL" => &feedback,
            _ => &send,
        };
        queue.clone()
    }
}

/// The domains of external senders are in the DNS, on a laptop as anywhere.
fn inbound_dns(dns: &DnsSettings) -> Option<Resolver> {
    match dns {
        DnsSettings::Disabled => None,
        DnsSettings::Zone(zone) => Some(Resolver::Zone(Arc::clone(zone))),
        DnsSettings::System => Resolver::system()
            .inspect_err(
                |error| tracing::warn!(%error, "no DNS to ask about received mail: {error}"),
            )
            .ok(),
    }
}

/// Unique across processes.
fn process(entropy: &Entropy) -> String {
    let [high, low] = [entropy.below(u64::MAX), entropy.below(u64::MAX)];
    format!("local-{high:016x}{low:016x}")
}

/// The secret that signs links and encrypts secrets; the same in every run of a data folder.
pub(crate) fn stack_secret(
    settings: &HostSettings,
    folder: Option<&Folder>,
) -> Result<String, StartError> {
    let make = || {
        format!(
            "1:{}",
            URL_SAFE_NO_PAD.encode(settings.entropy.bytes::<32>())
        )
    };
    // The folder was opened only if what its file holds is a secret.
    Ok(match folder {
        None => make(),
        Some(folder) => folder.secret("stack-secret", make)?,
    })
}
