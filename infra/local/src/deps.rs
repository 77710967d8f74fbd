//! The parts that every function of this process shares.

use posthaste_blob::Blob;
use posthaste_http::{Gate, Routes};
use posthaste_mailer::Mailer;
use posthaste_model::{Clock, Entropy};
use posthaste_render::KeyRing;
use posthaste_store::Store;

use crate::engine::Engine;
use crate::start::Settings;

/// Names of the queues.
pub(crate) const SEND: &str = "send";
pub(crate) const EVENTS: &str = "events";

/// Shared parts, as `template.yaml` wires them in the cloud.
pub(crate) struct Deps {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) blob: Blob,
    pub(crate) mailer: Mailer,
    pub(crate) keys: KeyRing,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    /// Where recipients reach this host.
    pub(crate) public_url: String,
    pub(crate) bounce_domain: Option<String>,
    pub(crate) hostname: String,
    pub(crate) horizon: i64,
    pub(crate) gate: Gate,
}

/// Seconds a copy's row is kept here.
const RETENTION: i64 = 30 * 86_400;

impl Deps {
    pub(crate) fn new(settings: &Settings, parts: Parts) -> Self {
        let gate = Gate::new(
            parts.store.clone(),
            settings.clock.clone(),
            settings.limits.clone(),
        );
        let bounce_domain = match (&settings.bounce_domain, &settings.relay) {
            (Some(domain), _) => Some(domain.clone()),
            // The embedded relay takes any envelope sender; a real one may look the domain up.
            (None, None) => Some(format!("bounce.{}", settings.hostname)),
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
            gate,
        }
    }

    /// Every route of every function.
    pub(crate) fn routes(&self) -> Routes {
        mail_send::routes(
            mail_send::App {
                store: self.store.clone(),
                queue: self.engine.queue(SEND),
                blob: self.blob.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                limits: mail_send::Limits {
                    horizon: self.horizon,
                },
            },
            self.gate.clone(),
        )
    }

    /// The delivery worker.
    pub(crate) fn delivery(&self) -> delivery::App {
        let [high, low] = [self.entropy.below(u64::MAX), self.entropy.below(u64::MAX)];
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
            owner: format!("local-{high:016x}{low:016x}"),
            exclusive: true,
            at_once: 16,
            tracking: Some(self.public_url.clone()),
            retention: RETENTION,
        }
    }
}

/// What was started before the functions.
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) blob: Blob,
    pub(crate) mailer: Mailer,
    pub(crate) keys: KeyRing,
    pub(crate) public_url: String,
}
