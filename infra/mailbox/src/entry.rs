//! A mail's row before it is written, and its size on disk.

use posthaste_model::Millis;

use crate::parse::{Digest, SearchWords};
use crate::rows::rfc3339;
use crate::{Error, StoredEnvelope, Summary};

/// Overhead of a mail beside its bytes: partly filled pages of its tables and of the index.
const PAGES: u64 = 8 * 4096;

/// A mail's row before it has an id.
pub(crate) struct NewRow {
    pub received: Millis,
    /// As JSON.
    pub envelope: String,
    pub summary: Summary,
    pub inlines: usize,
    pub words: SearchWords,
    /// Bytes of the row.
    size: usize,
}

impl NewRow {
    pub(crate) fn new(
        digest: Digest,
        envelope: &StoredEnvelope,
        received: Millis,
        raw: &[u8],
    ) -> Result<Self, Error> {
        let summary = Summary {
            created: rfc3339(received),
            size: raw.len(),
            ..digest.summary
        };
        let envelope = serde_json::to_string(envelope)?;
        let size = [
            envelope.len(),
            serde_json::to_string(&summary)?.len(),
            summary.message_id.len(),
            digest.search.size(),
        ];
        Ok(Self {
            received,
            envelope,
            summary,
            inlines: digest.inlines,
            words: digest.search,
            size: size.iter().sum(),
        })
    }

    /// The most bytes that the mail takes. A page that a text overflows holds four bytes less, and
    /// one page in eight hundred holds the positions of the others.
    pub(crate) fn space(&self, raw: &[u8]) -> u64 {
        let bytes = u64::try_from(self.size + raw.len()).unwrap_or(u64::MAX);
        bytes.saturating_add(bytes / 64).saturating_add(PAGES)
    }
}
