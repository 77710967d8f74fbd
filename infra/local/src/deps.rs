//! The parts that every function of this process shares.

use std::sync::Arc;
use std::time::Duration;

use posthaste_blob::Blob;
use posthaste_http::{Authorizer, Routes};
use posthaste_identity::{Resolver, Target};
use posthaste_mailer::Mailer;
use posthaste_model::{Clock, EmailAddress, Entropy, Hostname, PublicUrl};
use posthaste_notices::Notices;
use posthaste_queue::Bus;
use posthaste_render::KeyRing;
use posthaste_spam::Filter;
use posthaste_store::Store;
use posthaste_webhook::{Sealer, Tokens, WebhookClient};

use crate::answers::Answers;
use crate::engine::Engine;
use crate::start::{DnsSettings, HostSettings};
use crate::submission::Submission;
use crate::table::Disk;

/// Names of the queues.
pub(crate) const SEND: &str = "send";
pub(crate) const EVENTS: &str = "events";
pub(crate) const RETRIES: &str = "retries";
pub(crate) const INBOUND: &str = "inbound";
pub(crate) const FEEDBACK: &str = "feedback";

/// Shared parts, as `template.yaml` wires them in the cloud.
pub(crate) struct Deps {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) blob: Blob,
    pub(crate) mailer: Mailer,
    pub(crate) keys: KeyRing,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    /// The base URL of this host for recipients.
    pub(crate) public_url: PublicUrl,
    pub(crate) bounce_domain: Option<Hostname>,
    pub(crate) hostname: Hostname,
    pub(crate) horizon: i64,
    /// Whether only verified senders may send.
    pub(crate) strict_senders: bool,
    /// The resolver for checks of received mail; without one it stays unchecked.
    pub(crate) inbound_dns: Option<Resolver>,
    pub(crate) spam_filter: Option<Filter>,
    pub(crate) outgoing_spam_filter: Option<Filter>,
    /// Days for which mails can be searched; 0: not at all.
    pub(crate) search_days: i64,
    pub(crate) gate: Authorizer,
    /// Posts to webhooks; may reach this machine, where its users' receivers run.
    pub(crate) client: WebhookClient,
    pub(crate) sealer: Arc<Sealer>,
    /// The answers of webhooks, for the mailbox page.
    pub(crate) answers: Answers,
}

/// Seconds a copy's row is stored here.
const RETENTION: i64 = 30 * 86_400;

impl Deps {
    pub(crate) fn new(settings: &HostSettings, parts: HostParts) -> Self {
        let gate = Authorizer::new(
            parts.store.clone(),
            settings.clock.clone(),
            settings.limits.clone(),
        );
        let bounce_domain = match (&settings.bounce_domain, &settings.relay) {
            (Some(domain), _) => Some(domain.clone()),
            // The embedded relay takes any envelope sender; a real one may look the domain up.
            (None, None) => Some(settings.hostname.bounce_domain()),
            (None, Some(_)) => None,
        };
        Self {
            store: parts.store,
            engine: parts.engine,
            blob: parts.blob,
            mailer: parts.mailer,
            keys: parts.keys,
            clock: settings.clock.clone(),
            entropy: settings.entropy.clone(),
            public_url: parts.public_url,
            bounce_domain,
            hostname: settings.hostname.clone(),
            horizon: settings.horizon,
            strict_senders: settings.strict_senders,
            inbound_dns: inbound_dns(&settings.inbound_dns),
            spam_filter: settings.spam_filter.clone(),
            outgoing_spam_filter: settings.outgoing_spam_filter.clone(),
            search_days: i64::from(settings.search_days),
            gate,
            client: parts.client,
            sealer: parts.sealer,
            answers: Answers::default(),
        }
    }

    /// Every route of every function.
    pub(crate) fn routes(&self) -> Routes {
        let (store, clock, entropy) = (&self.store, &self.clock, &self.entropy);
        let mail_batch = mail_batch::App {
            store: store.clone(),
            send: self.engine.queue(SEND),
            clock: clock.clone(),
            entropy: entropy.clone(),
            horizon: self.horizon,
        };
        let tracking = tracking::App {
            store: store.clone(),
            events: self.engine.queue(EVENTS),
            keys: self.keys.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
        };
        let templates = templates::App {
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
        };
        let event_settings = event_settings::App {
            store: store.clone(),
            retries: self.engine.queue(RETRIES),
            client: self.client.clone(),
            sealer: self.sealer.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            max_webhooks: event_settings::MAX_WEBHOOKS,
        };
        let activity = activity::App {
            store: store.clone(),
            blob: self.blob.clone(),
            clock: clock.clone(),
            searches: self.search_days > 0,
        };
        let gate = || self.gate.clone();
        mail_send::routes(self.mail_send(), gate())
            .merge(mail_batch::routes(mail_batch, gate()))
            .merge(event_settings::routes(event_settings, gate()))
            .merge(templates::routes(templates, gate()))
            .merge(tracking::routes(tracking, gate()))
            .merge(activity::routes(activity, gate()))
            .merge(self.access())
            .merge(self.suppressions())
            .merge(sender_identity::routes(self.sender_identity(), gate()))
            .merge(parse_settings::routes(self.parse_settings(), gate()))
    }

    /// Accepts mail by HTTP and by SMTP.
    fn mail_send(&self) -> mail_send::App {
        mail_send::App {
            store: self.store.clone(),
            queue: self.engine.queue(SEND),
            blob: self.blob.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            limits: mail_send::SendLimits {
                horizon: self.horizon,
            },
            senders: match self.strict_senders {
                true => mail_send::Senders::proven(),
                false => mail_send::Senders::Any,
            },
            templates: mail_send::Templates::default(),
        }
    }

    /// The port for submission. `open` is the key with which this machine sends without a login.
    pub(crate) fn submission(&self, open: Option<String>, disk: Disk) -> Submission {
        Submission {
            app: self.mail_send(),
            gate: self.gate.clone(),
            hostname: self.hostname.clone(),
            open,
            disk,
        }
    }

    /// The resolver for the DNS records of the accounts' own domains: none on a laptop, whose names
    /// are not in the DNS.
    fn resolver(&self) -> Resolver {
        let nobody = || Resolver::Zone(Arc::default());
        match self.strict_senders {
            false => nobody(),
            true => Resolver::system().unwrap_or_else(|error| {
                tracing::warn!(%error, "no DNS to ask; every record will be missing: {error}");
                nobody()
            }),
        }
    }

    /// The routes about received mail.
    fn parse_settings(&self) -> parse_settings::App {
        parse_settings::App {
            store: self.store.clone(),
            inbound: self.engine.queue(INBOUND),
            guard: self.client.guard().clone(),
            clock: self.clock.clone(),
        }
    }

    /// The worker that posts received mail, with the client that posts it.
    pub(crate) fn inbound_parse(&self, client: WebhookClient) -> inbound_parse::App {
        inbound_parse::App {
            store: self.store.clone(),
            blob: self.blob.clone(),
            inbound: self.engine.queue(INBOUND),
            client,
            resolver: self.inbound_dns.clone(),
            filter: self.spam_filter.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            hostname: self.hostname.clone(),
            at_once: 2,
            retention: RETENTION,
            single_process: Some(self.process_name()),
        }
    }

    /// The worker that records what happened to mails after they left.
    pub(crate) fn ses_feedback(&self) -> ses_feedback::App {
        ses_feedback::App {
            store: self.store.clone(),
            feedback: self.engine.queue(FEEDBACK),
            events: self.engine.queue(EVENTS),
            blob: self.blob.clone(),
            keys: self.keys.clone(),
            bounce_domain: self.bounce_domain.clone(),
            clock: self.clock.clone(),
            at_once: 8,
        }
    }

    /// The routes about senders and domains. A laptop's names are not in the DNS, so a domain
    /// counts as authenticated at once unless senders must be verified as on AWS.
    fn sender_identity(&self) -> sender_identity::App {
        let resolver = self.resolver();
        let bounce_domain = self.bounce_domain.clone();
        let bounce_domain =
            String::from(bounce_domain.unwrap_or_else(|| self.hostname.bounce_domain()));
        sender_identity::App {
            store: self.store.clone(),
            notices: self.notices(),
            resolver,
            trusting: !self.strict_senders,
            ses: None,
            sealer: self.sealer.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            target: Target {
                mail_host: self.hostname.to_string(),
                spf: format!("include:{bounce_domain}"),
                bounce_domain,
            },
        }
    }

    /// Mails that the service sends on request.
    fn notices(&self) -> Notices {
        Notices {
            store: self.store.clone(),
            send: self.engine.queue(SEND),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            sender: system_sender(&self.hostname),
            public_url: Some(self.public_url.clone()),
        }
    }

    /// The suppression routes.
    fn suppressions(&self) -> Routes {
        let app = suppressions::App {
            store: self.store.clone(),
            clock: self.clock.clone(),
        };
        suppressions::routes(app, self.gate.clone())
    }

    /// The routes about API access.
    fn access(&self) -> Routes {
        let (store, clock, entropy) = (&self.store, &self.clock, &self.entropy);
        let api_keys = api_keys::App {
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
        };
        let access_settings = access_settings::App {
            store: store.clone(),
            clock: clock.clone(),
        };
        let account_settings = account_settings::App {
            store: store.clone(),
            notices: self.notices(),
        };
        let subusers = subusers::App {
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
        };
        api_keys::routes(api_keys, self.gate.clone())
            .merge(access_settings::routes(access_settings, self.gate.clone()))
            .merge(account_settings::routes(
                account_settings,
                self.gate.clone(),
            ))
            .merge(subusers::routes(subusers, self.gate.clone()))
    }

    /// The worker that posts events.
    pub(crate) fn fanout(&self) -> webhook_fanout::App {
        webhook_fanout::App {
            store: self.store.clone(),
            events: self.engine.queue(EVENTS),
            retries: self.engine.queue(RETRIES),
            bus: Bus::log(),
            forwarding: Some(webhook_fanout::Forwarding {
                send: self.engine.queue(SEND),
                from: system_sender(&self.hostname),
            }),
            client: self.client.clone(),
            tokens: Arc::new(Tokens::new(self.clock.clone())),
            sealer: self.sealer.clone(),
            breaker: Arc::default(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            retry_policy: webhook_fanout::RetryPolicy::default(),
            publish_events: false,
            searchable: (self.search_days > 0).then_some(self.search_days * 86_400),
            concurrency: 16,
            watch: self.answers.watch(),
        }
    }

    /// Moves due rows to their queues.
    pub(crate) fn sweep(&self) -> schedule_sweep::App {
        schedule_sweep::App {
            store: self.store.clone(),
            send: self.engine.queue(SEND),
            retries: self.engine.queue(RETRIES),
            inbound: self.engine.queue(INBOUND),
            clock: self.clock.clone(),
            budget: Duration::from_secs(45),
            at_once: 4,
        }
    }

    /// A name for this process in claims, unique across processes.
    fn process_name(&self) -> String {
        let [high, low] = [self.entropy.below(u64::MAX), self.entropy.below(u64::MAX)];
        format!("local-{high:016x}{low:016x}")
    }

    /// The delivery worker.
    pub(crate) fn delivery(&self) -> delivery::App {
        delivery::App {
            store: self.store.clone(),
            send: self.engine.queue(SEND),
            events: self.engine.queue(EVENTS),
            blob: self.blob.clone(),
            mailer: self.mailer.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            keys: self.keys.clone(),
            identity: delivery::Identity {
                hostname: self.hostname.clone(),
                bounce_domain: self.bounce_domain.clone(),
            },
            dkim: Some(delivery::Dkim::new(self.sealer.clone())),
            spam: self.outgoing_spam_filter.clone().map(delivery::Spam::new),
            templates: delivery::Templates::default(),
            owner: self.process_name(),
            single_process: true,
            concurrency: 16,
            tracking: Some(self.public_url.clone()),
            retention: RETENTION,
            accounts: Arc::default(),
        }
    }
}

/// The domains of external senders are in the DNS, on a laptop as anywhere.
fn inbound_dns(dns: &DnsSettings) -> Option<Resolver> {
    match dns {
        DnsSettings::Nobody => None,
        DnsSettings::Zone(zone) => Some(Resolver::Zone(Arc::clone(zone))),
        DnsSettings::System => Resolver::system()
            .inspect_err(
                |error| tracing::warn!(%error, "no DNS to ask about received mail: {error}"),
            )
            .ok(),
    }
}

/// Sends the service's own mails.
fn system_sender(hostname: &Hostname) -> EmailAddress {
    EmailAddress::parse(&format!("no-reply@{hostname}")).expect("a host name is a domain")
}

/// Parts started before the functions.
pub(crate) struct HostParts {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) blob: Blob,
    pub(crate) mailer: Mailer,
    pub(crate) keys: KeyRing,
    pub(crate) public_url: PublicUrl,
    pub(crate) client: WebhookClient,
    pub(crate) sealer: Arc<Sealer>,
}
