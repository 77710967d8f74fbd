//! The jobs that erase addresses: how far each has come, its addresses, and the copies that it could
//! not erase yet. All of it lies with the account, and goes with it.
//!
//! The same addresses of one account have one job: what starts it a second time finds it. Once it has
//! ended, nothing stores the addresses any more, and they can be erased anew.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, ErasureId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::erase::{CopyTrace, ScanPosition};
use crate::key::Key;
use crate::table::{PageQuery, Put, Store, StoreError, StoredRow, to_item};

/// Seconds after which a job that nothing changes any more expires.
const KEPT: i64 = 30 * 86_400;

/// Addresses in one row, of at most 320 characters each.
const ADDRESSES: usize = 500;

/// The addresses that one job may have.
pub const MOST_ERASED: usize = 5_000;

/// What a job is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasureState {
    /// It has not begun.
    Pending,
    Running,
    /// What can be erased is erased; mails to the addresses have not ended.
    Waiting,
    Done,
}

/// The part of the work that comes next, and where it continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasurePhase {
    /// Marks, suppressions and search rows, by the number of the address. It comes twice: the last time
    /// for rows that work in progress has written since.
    Addresses { next: usize, last: bool },
    /// Events that no webhook took, after this sort key.
    Events { after: Option<String> },
    /// Received mails that were not taken, after this sort key.
    Received { after: Option<String> },
    /// The whole table.
    Table { after: Option<ScanPosition> },
    /// Copies that were in progress when they were found, after this sort key.
    InProgress { after: Option<String> },
}

/// A job that erases addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    pub id: ErasureId,
    pub account: AccountId,
    pub state: ErasureState,
    pub phase: ErasurePhase,
    /// Whether the addresses leave the suppression lists too.
    pub suppressions: bool,
    /// The number of addresses.
    pub addresses: usize,
    /// Rows and bodies that were deleted or changed.
    pub erased: usize,
    /// Copies that have not ended, of those looked at in this phase.
    pub under_way: usize,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// The time of the one due row by which the job goes on.
    pub due_at: Timestamp,
    /// Whether [`Store::erasure_ended`] has answered yes.
    #[serde(default)]
    pub answered: bool,
}

impl Erasure {
    /// The job of these addresses (as they compare).
    fn new(
        account: &AccountId,
        addresses: &BTreeSet<String>,
        suppressions: bool,
        now: Timestamp,
    ) -> Self {
        let mut hash = Sha256::new();
        hash.update(account.as_str());
        hash.update([u8::from(suppressions)]);
        for address in addresses {
            hash.update(address);
            // An address contains no line break.
            hash.update("\n");
        }
        Self {
            id: ErasureId::from_digest(hash.finalize().into()),
            account: account.clone(),
            state: ErasureState::Pending,
            phase: ErasurePhase::Addresses {
                next: 0,
                last: false,
            },
            suppressions,
            addresses: addresses.len(),
            erased: 0,
            under_way: 0,
            created_at: now,
            updated_at: now,
            finished_at: None,
            due_at: now,
            answered: false,
        }
    }

    fn key(account: &AccountId, id: &ErasureId) -> Key {
        Key::of_account(account, format!("ERASURE#{id}"))
    }

    fn address_keys(&self) -> Vec<Key> {
        let rows = 0..self.addresses.div_ceil(ADDRESSES);
        let key = |n| Key::of_account(&self.account, format!("ERASURE#{}#A#{n:03}", self.id));
        rows.map(key).collect()
    }

    fn in_progress_prefix(&self) -> String {
        format!("ERASURE#{}#P#", self.id)
    }
}

#[derive(Serialize, Deserialize)]
struct ErasedAddresses {
    addresses: Vec<String>,
}

impl Store {
    /// The job that erases these addresses (as they compare; at most [`MOST_ERASED`]): the one that is
    /// under way, or a new one. The caller stores its due row.
    pub async fn start_erasure(
        &self,
        account: &AccountId,
        addresses: &BTreeSet<String>,
        suppressions: bool,
        now: Timestamp,
    ) -> Result<Erasure, StoreError> {
        let new = Erasure::new(account, addresses, suppressions, now);
        let key = Erasure::key(account, &new.id);
        let expires = Some(now.plus(KEPT));
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let row = self.get::<Erasure>(&key).await?;
            let rev = row.as_ref().map(|row| row.rev);
            if let Some(row) = row
                && row.value.state != ErasureState::Done
            {
                return Ok(row.value);
            }
            let addresses: Vec<_> = addresses.iter().cloned().collect();
            let rows = addresses.chunks(ADDRESSES).map(|some| ErasedAddresses {
                addresses: some.to_vec(),
            });
            let rows: Vec<_> = new.address_keys().into_iter().zip(rows).collect();
            // First, so that a job has its addresses.
            self.put_many(&rows, expires).await?;
            let item = to_item(&key, &new, rev.unwrap_or(0) + 1, expires)?;
            if self.put_if(item, rev).await? == Put::Stored {
                return Ok(new);
            }
        }
        Err(StoreError::Contended(format!("erasure {}", new.id)))
    }

    /// Whether the job of these addresses has ended since `since`; the answer is yes once.
    pub async fn erasure_ended(
        &self,
        account: &AccountId,
        addresses: &BTreeSet<String>,
        suppressions: bool,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = Erasure::new(account, addresses, suppressions, since).id;
        let Some(row) = self.erasure(account, &id).await? else {
            return Ok(false);
        };
        let is_new = row.value.finished_at.is_some_and(|at| at >= since);
        if row.value.answered || !is_new {
            return Ok(false);
        }
        let answered = Erasure {
            answered: true,
            ..row.value
        };
        Ok(self.save_erasure(&answered, row.rev).await?.is_some())
    }

    /// A job and its revision.
    pub async fn erasure(
        &self,
        account: &AccountId,
        id: &ErasureId,
    ) -> Result<Option<StoredRow<Erasure>>, StoreError> {
        self.get(&Erasure::key(account, id)).await
    }

    /// Stores how far a job has come, unless it has changed since it was read at this revision. The new
    /// revision; `None` when it has changed.
    pub async fn save_erasure(
        &self,
        erasure: &Erasure,
        rev: u64,
    ) -> Result<Option<u64>, StoreError> {
        let key = Erasure::key(&erasure.account, &erasure.id);
        let expires = Some(erasure.updated_at.plus(KEPT));
        let item = to_item(&key, erasure, rev + 1, expires)?;
        let put = self.put_if(item, Some(rev)).await?;
        Ok((put == Put::Stored).then_some(rev + 1))
    }

    /// The addresses of a job that has not ended.
    pub async fn erasure_addresses(
        &self,
        erasure: &Erasure,
    ) -> Result<BTreeSet<String>, StoreError> {
        let keys = erasure.address_keys();
        let rows = self.get_many::<ErasedAddresses>(&keys).await?.into_iter();
        Ok(rows.flat_map(|row| row.value.addresses).collect())
    }

    /// Deletes the addresses of a job that ends.
    pub async fn forget_erasure_addresses(&self, erasure: &Erasure) -> Result<(), StoreError> {
        self.delete_many(&erasure.address_keys()).await
    }

    /// Stores copies that a job cannot erase yet.
    pub async fn leave_in_progress(
        &self,
        erasure: &Erasure,
        copies: &[CopyTrace],
    ) -> Result<(), StoreError> {
        let prefix = erasure.in_progress_prefix();
        let row = |copy: &CopyTrace| {
            let sk = format!("{prefix}{}#{:05}", copy.message, copy.recipient);
            (Key::of_account(&erasure.account, sk), copy.clone())
        };
        let rows: Vec<_> = copies.iter().map(row).collect();
        let expires = Some(erasure.updated_at.plus(KEPT));
        self.put_many(&rows, expires).await
    }

    /// At most `limit` copies that a job could not erase, after this sort key.
    pub async fn left_in_progress(
        &self,
        erasure: &Erasure,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<StoredRow<CopyTrace>>, StoreError> {
        let page = PageQuery {
            limit,
            after,
            backwards: false,
        };
        let pk = Key::account_pk(&erasure.account);
        self.list(&pk, &erasure.in_progress_prefix(), &page).await
    }
}
