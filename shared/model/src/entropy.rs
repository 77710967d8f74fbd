//! Randomness as an argument.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    AccountId, BatchId, DownloadId, KeyId, MessageId, PolicyId, ReplayId, TemplateId, VersionId,
    WebhookId,
};

type Fill = dyn Fn(&mut [u8]) + Send + Sync;

/// A source of random bytes. `runtime` creates the real one; tests pass a counter.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

impl Entropy {
    /// Wraps a function that fills a slice with unpredictable bytes.
    pub fn new(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    /// A predictable source for tests: every call gives different bytes, every run the same.
    pub fn counting() -> Self {
        let next = AtomicU64::new(1);
        Self::new(move |slice| {
            let mut state = next.fetch_add(1, Ordering::Relaxed);
            for byte in slice {
                state = state.wrapping_add(STEP);
                *byte = u8::try_from(mixed(state) >> 56).unwrap_or(0);
            }
        })
    }

    /// A predictable source: the same bytes for the same seed. Each length has a sequence of its own, so that ids,
    /// which callers draw, do not depend on what workers draw meanwhile for pauses.
    ///
    /// The seed gives away every key that is made with it.
    pub fn seeded(seed: u64) -> Self {
        /// Lengths above the last share its sequence; ids and keys are shorter.
        const LENGTHS: usize = 65;
        let drawn: [AtomicU64; LENGTHS] = std::array::from_fn(|_| AtomicU64::new(0));
        Self::new(move |slice| {
            let length = slice.len().min(LENGTHS - 1);
            let Some(drawn) = drawn.get(length) else {
                return;
            };
            let number = drawn.fetch_add(1, Ordering::Relaxed);
            let length = u64::try_from(length).unwrap_or_default();
            let mut state = mixed(seed ^ mixed(number ^ mixed(length)));
            for part in slice.chunks_mut(8) {
                state = state.wrapping_add(STEP);
                part.copy_from_slice(
                    mixed(state)
                        .to_le_bytes()
                        .get(..part.len())
                        .unwrap_or_default(),
                );
            }
        })
    }

    /// `N` fresh bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.0)(&mut bytes);
        bytes
    }

    /// A number below `bound`, for jitter. `bound` 0 gives 0.
    pub fn below(&self, bound: u64) -> u64 {
        match bound {
            0 => 0,
            _ => u64::from_le_bytes(self.bytes()) % bound,
        }
    }

    /// A new account id.
    pub fn account_id(&self) -> AccountId {
        AccountId::from_bytes(self.bytes())
    }

    /// A new message id.
    pub fn message_id(&self) -> MessageId {
        MessageId::from_bytes(self.bytes())
    }

    /// A new batch id.
    pub fn batch_id(&self) -> BatchId {
        BatchId::from_bytes(self.bytes())
    }

    /// A new API key id.
    pub fn key_id(&self) -> KeyId {
        KeyId::from_bytes(self.bytes())
    }

    /// A new event webhook id.
    pub fn webhook_id(&self) -> WebhookId {
        WebhookId::from_bytes(self.bytes())
    }

    /// A new id for a security policy.
    pub fn policy_id(&self) -> PolicyId {
        PolicyId::from_bytes(self.bytes())
    }

    /// A new id for a job that posts events again.
    pub fn replay_id(&self) -> ReplayId {
        ReplayId::from_bytes(self.bytes())
    }

    /// A new id for a legacy template.
    pub fn legacy_template_id(&self) -> TemplateId {
        TemplateId::legacy(self.bytes())
    }

    /// A new id for a dynamic template.
    pub fn dynamic_template_id(&self) -> TemplateId {
        TemplateId::dynamic(self.bytes())
    }

    /// A new id for a requested download.
    pub fn download_id(&self) -> DownloadId {
        DownloadId::from_bytes(self.bytes())
    }

    /// A new id for a version of a template.
    pub fn version_id(&self) -> VersionId {
        VersionId::from_bytes(self.bytes())
    }
}

/// Between two states of splitmix64: enough to look random in a test, never used outside one.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of a state of splitmix64.
fn mixed(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_ids_whatever_else_is_drawn() {
        let (first, second) = (Entropy::seeded(7), Entropy::seeded(7));
        let ids = [first.message_id(), first.message_id()];
        assert_eq!(second.message_id(), ids[0]);
        for _ in 0..10 {
            second.below(100);
        }
        assert_eq!(second.message_id(), ids[1]);
        assert_ne!(ids[0], ids[1]);
        assert_ne!(Entropy::seeded(8).message_id(), ids[0]);
        assert_ne!(first.bytes::<32>()[..16], first.bytes::<16>());
    }
}
