//! Randomness as an argument.

use std::fmt;
use std::sync::Arc;

use crate::{AccountId, BatchId, DownloadId, KeyId, MessageId, TemplateId, VersionId, WebhookId};

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
        let next = std::sync::atomic::AtomicU64::new(1);
        Self::new(move |slice| {
            let mut state = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            for byte in slice {
                // splitmix64: enough to look random in a test, never used outside one.
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                *byte = u8::try_from((z >> 56) & 0xff).unwrap_or(0);
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

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy(…)")
    }
}
