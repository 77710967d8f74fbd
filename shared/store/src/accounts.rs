//! Accounts: tenants, their subusers and customer accounts.

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Key, Page, Store, StoreError, Transact};

/// Where an account's base address lies. One deployment answers under every base address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    #[default]
    Global,
    Eu,
}

/// Whether an account may use the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Active,
    /// Its parent switched it off: it cannot send.
    Disabled,
    /// The operator did: it cannot send, and its webhooks hear of it.
    Suspended,
}

/// One account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub id: AccountId,
    /// The user name: unique among the subusers of one parent.
    pub username: String,
    #[serde(default)]
    pub email: String,
    /// The number that `user_id` fields of the API carry.
    #[serde(default)]
    pub user_id: u32,
    /// The account that may act for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AccountId>,
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub region: Region,
    /// Whether compressed request bodies are taken (SPEC: "enabled by support").
    #[serde(default = "yes")]
    pub gzip: bool,
    pub created_at: Timestamp,
}

fn yes() -> bool {
    true
}

impl Account {
    /// A new, active account without a parent.
    pub fn new(id: AccountId, username: &str, now: Timestamp) -> Self {
        // Stable, and small enough for every client's integer: the id itself is the identity.
        let user_id = id.as_str().bytes().fold(0x811c_9dc5_u32, |hash, b| {
            (hash ^ u32::from(b)).wrapping_mul(0x0100_0193)
        });
        Self {
            id,
            username: username.to_owned(),
            email: String::new(),
            user_id: user_id & 0x7fff_ffff,
            parent: None,
            status: Status::Active,
            region: Region::Global,
            gzip: true,
            created_at: now,
        }
    }
}

impl Store {
    /// Writes a new account; `false` when the id is taken.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn create_account(&self, account: &Account) -> Result<bool, StoreError> {
        let steps = vec![
            self.write_new(&Key::account(&account.id), account, None)?,
            self.write(&Key::account_entry(&account.id), account, None)?,
        ];
        Ok(self.transact(steps).await? == Transact::Done)
    }

    /// One account.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        Ok(self.get(&Key::account(id)).await?.map(|row| row.value))
    }

    /// Every account, by id. For the operator; no request does this.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        let rows = self.list(Key::account_entries(), "", &Page::all()).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// Overwrites an account that exists.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn save_account(&self, account: &Account) -> Result<(), StoreError> {
        let steps = vec![
            self.write(&Key::account(&account.id), account, None)?,
            self.write(&Key::account_entry(&account.id), account, None)?,
        ];
        let Transact::Done = self.transact(steps).await? else {
            return Err(StoreError::Contended(account.id.to_string()));
        };
        Ok(())
    }
}
