//! A mail's row before it is written, and what it takes of the disk.

use posthaste_model::Millis;

use crate::parse::{Digest, SearchWords};
use crate::rows::rfc3339;
use crate::{Error, StoredEnvelope, Summary};

/// What a mail may take beside its bytes: pages of its tables and of the index that are not full.
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

    /// Bytes that the mail takes at most. A page that a text runs over holds four bytes less, and
    /// of eight hundred pages one holds the places of the others.
    pub(crate) fn space(&self, raw: &[u8]) -> u64 {
        let bytes = u64::try_from(self.size + raw.len()).unwrap_or(u64::MAX);
        bytes.saturating_add(bytes / 64).saturating_add(PAGES)
    }
}
