//! Sending addresses: the pools that an account has named, and the names that it wants its addresses to have. A row for
//! each of both.
//!
//! What a mail's pool means for its way is decided where it leaves: SES has configuration sets by the names of pools,
//! and a relay none.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{RowChange, Store, StoreError};

/// Pools that an account has at most.
pub const MOST_IP_POOLS: usize = 100;

/// Addresses in all pools of an account together, at most: its row, which each mail that names a pool reads, stays
/// below 50 KB.
pub const MOST_IPS_IN_POOLS: usize = 500;

/// Names of addresses that an account has at most.
pub const MOST_REVERSE_DNS: usize = 100;

/// The name of an address in the DNS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReverseDns {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    pub ip: String,
    pub domain: String,
    pub subdomain: String,
    /// Whether the name led to the address at the last look-up.
    pub valid: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
}

impl ReverseDns {
    /// The name itself.
    pub fn name(&self) -> String {
        format!("{}.{}", self.subdomain, self.domain)
    }
}

/// All of an account.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ReverseDnsList {
    names: Vec<ReverseDns>,
}

/// The pools of an account by their names, each with its addresses as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpPools {
    pub pools: BTreeMap<String, BTreeSet<String>>,
}

impl IpPools {
    /// The names of the pools that have this address.
    pub fn of(&self, ip: &str) -> Vec<String> {
        let with = self.pools.iter().filter(|(_, ips)| ips.contains(ip));
        with.map(|(name, _)| name.clone()).collect()
    }

    /// How many addresses the pools have; one that is in two of them counts twice.
    pub fn ips(&self) -> usize {
        self.pools.values().map(BTreeSet::len).sum()
    }
}

impl Store {
    /// The pools of an account.
    pub async fn ip_pools(&self, account: &AccountId) -> Result<IpPools, StoreError> {
        let row = self.get(&Key::ip_pools(account)).await?;
        Ok(row.map(|row| row.value).unwrap_or_default())
    }

    /// Changes the pools of an account; `change` may run several times, each time on what they are then.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_ip_pools<E: From<StoreError>>(
        &self,
        account: &AccountId,
        mut change: impl FnMut(&mut IpPools) -> Result<(), E>,
    ) -> Result<IpPools, E> {
        let key = Key::ip_pools(account);
        let changed = self.modify(&key, None, |old: Option<&IpPools>| {
            let mut pools = old.cloned().unwrap_or_default();
            change(&mut pools)?;
            Ok::<_, E>(RowChange::Put(pools))
        });
        Ok(changed.await?.unwrap_or_default())
    }

    /// An id for a new name of an address.
    pub async fn next_reverse_dns_id(&self, account: &AccountId) -> Result<i64, StoreError> {
        self.next_id(account, "REVERSEDNSIDS").await
    }

    /// The names of addresses of an account, oldest first.
    pub async fn reverse_dns(&self, account: &AccountId) -> Result<Vec<ReverseDns>, StoreError> {
        let row = self
            .get::<ReverseDnsList>(&Key::reverse_dns(account))
            .await?;
        Ok(row.map(|row| row.value.names).unwrap_or_default())
    }

    /// Changes the names of addresses of an account; `change` may run several times, each time on what they are then.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_reverse_dns<E: From<StoreError>>(
        &self,
        account: &AccountId,
        mut change: impl FnMut(&mut Vec<ReverseDns>) -> Result<(), E>,
    ) -> Result<(), E> {
        let key = Key::reverse_dns(account);
        let changed = self.modify(&key, None, |old: Option<&ReverseDnsList>| {
            let mut names = old.map(|old| old.names.clone()).unwrap_or_default();
            change(&mut names)?;
            Ok::<_, E>(RowChange::Put(ReverseDnsList { names }))
        });
        changed.await.map(drop)
    }
}
