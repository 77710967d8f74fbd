//! The dependencies of the worker, and which part of the work a call does.

use std::time::Duration;

use posthaste_blob::Blob;
use posthaste_erasure::OtherStore;
use posthaste_model::{Clock, EmailAddress};
use posthaste_outage::OutageStore;
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::{NEAR, Store};
use serde::Deserialize;
use serde_json::Value;

/// How far a sweep looks ahead, in seconds: two calls may fail or be missed before anything is
/// late. Less than [`NEAR`], so that a minute is complete when it is first read.
pub const AHEAD: i64 = 180;
const _: () = assert!(AHEAD < NEAR);

/// The dependencies of the sweep.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// Stores the bodies of large mails and undelivered received mails, which erasures delete.
    pub blob: Blob,
    /// The mail that waits for the relay.
    pub outage: OutageStore,
    /// The send queue.
    pub send: Queue,
    /// The webhook retry queue.
    pub retries: Queue,
    /// The inbound queue.
    pub inbound: Queue,
    /// The feedback queue, if SES is to be asked about copies without news.
    pub insights: Option<Queue>,
    pub clock: Clock,
    /// The sender of alerts.
    pub system_sender: EmailAddress,
    /// The time after which a sweep starts no new turn and leaves the rest to the next.
    pub budget: Duration,
    /// How many partitions are read at once.
    pub concurrency: usize,
    /// What a host stores beside the table and the bucket, for erasures; none on AWS.
    pub elsewhere: Option<OtherStore>,
}

impl App {
    /// Reads `TABLE_NAME`, `BUCKET_NAME`, `SEND_QUEUE_URL`, `RETRIES_QUEUE_URL`, `INBOUND_QUEUE_URL`,
    /// `SWEEP_SECONDS` (of work per call, 45), `SWEEP_AT_ONCE` (16), `MESSAGE_INSIGHTS` (`false`) and with
    /// it `FEEDBACK_QUEUE_URL`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER` (`no-reply` at the bounce domain).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let vars = platform.env();
        let (store, blob) = (platform.store()?, platform.blob()?);
        let (clock, entropy) = (platform.clock(), platform.entropy());
        Ok(Self {
            outage: OutageStore::new(store.clone(), blob.clone(), clock.clone(), entropy),
            store,
            blob,
            send: platform.queue("SEND_QUEUE_URL")?,
            retries: platform.queue("RETRIES_QUEUE_URL")?,
            inbound: platform.queue("INBOUND_QUEUE_URL")?,
            insights: if vars.or_default("MESSAGE_INSIGHTS", false)? {
                Some(platform.queue("FEEDBACK_QUEUE_URL")?)
            } else {
                None
            },
            clock,
            system_sender: platform.system_sender()?,
            // The rule fires every minute: a sweep that ends before the next one begins does not
            // read the same rows at the same time.
            budget: Duration::from_secs(vars.positive("SWEEP_SECONDS", 45)?),
            concurrency: vars.positive("SWEEP_AT_ONCE", 16)?,
            elsewhere: platform.part(),
        })
    }
}

/// Which partitions of every minute a call sweeps: those whose number leaves `part` when divided
/// by `of`.
///
/// One call for all of them is enough up to some thousand rows a second; beyond that the rule gets
/// several targets, each with its own `{"part": 0, "of": 4}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Share {
    pub part: u16,
    pub of: u16,
}

impl Share {
    /// Everything.
    pub const ALL: Self = Self { part: 0, of: 1 };

    /// Reads the input of the rule's target; the rule's own event selects everything.
    ///
    /// # Errors
    /// When it names a part that is not one.
    pub fn from_event(event: &Value) -> Result<Self, Error> {
        if event.get("part").is_none() {
            return Ok(Self::ALL);
        }
        let share = Self::deserialize(event)?;
        if share.part < share.of {
            Ok(share)
        } else {
            Err(format!("there is no part {} of {}", share.part, share.of).into())
        }
    }

    pub(crate) fn holds(self, shard: u16) -> bool {
        shard % self.of.max(1) == self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_rules_own_event_means_everything() {
        let event = json!({"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}});
        assert_eq!(Share::from_event(&event).unwrap(), Share::ALL);
    }

    #[test]
    fn the_parts_of_a_share_make_a_whole() {
        for of in [1, 3, 4] {
            let parts = (0..of).map(|part| Share::from_event(&json!({"part": part, "of": of})));
            let parts: Vec<_> = parts.map(Result::unwrap).collect();
            for shard in 0..16 {
                let holding = parts.iter().filter(|share| share.holds(shard)).count();
                assert_eq!(holding, 1, "shard {shard} of {of}");
            }
        }
    }

    #[test]
    fn a_part_that_is_not_one_is_refused() {
        for bad in [
            json!({"part": 4, "of": 4}),
            json!({"part": 0, "of": 0}),
            json!({"part": -1, "of": 4}),
            json!({"part": 0}),
            json!({"part": "0", "of": 4}),
        ] {
            assert!(Share::from_event(&bad).is_err(), "{bad}");
        }
    }
}
