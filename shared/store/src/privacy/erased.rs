//! Marks of erased addresses, for work in progress that still holds them: events that wait for a
//! webhook, mails that wait for their time.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::table::{Store, StoreError};

/// Seconds a mark is kept: longer than a mail waits (72 hours), is retried (72 more), and its last
/// event waits for a webhook (24).
const KEPT: i64 = 8 * 86_400;

#[derive(Debug, Serialize, Deserialize)]
struct Erased {
    at: Timestamp,
}

/// The address itself is not in the mark.
fn key(account: &AccountId, folded: &str) -> Key {
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(folded));
    Key::of_account(account, format!("ERASED#{hash}"))
}

impl Store {
    /// Records that an address (as it compares) is erased from now on.
    pub async fn mark_erased(
        &self,
        account: &AccountId,
        folded: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let erased = Erased { at: now };
        self.put(&key(account, folded), &erased, Some(now.plus(KEPT)))
            .await
    }

    /// When an address was last erased, if its mark has not expired.
    pub async fn erased_at(
        &self,
        account: &AccountId,
        folded: &str,
    ) -> Result<Option<Timestamp>, StoreError> {
        let row = self.get::<Erased>(&key(account, folded)).await?;
        Ok(row.map(|row| row.value.at))
    }
}
