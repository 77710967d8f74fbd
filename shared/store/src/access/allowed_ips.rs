//! The allow list of an account: networks that may use it (SPEC, "Allowed IP").
//!
//! Every change bumps `allow_list` of the account's own row in the same transaction. A cache of the
//! compiled list compares that number, so an unchanged list is not read again, however long it is.

use ipnet::IpNet;
use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, Transact};

/// One network that may use the account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedIp {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    /// Without host bits.
    pub net: IpNet,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// How adding to the list ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Allow {
    Added(Vec<AllowedIp>),
    /// The networks at these positions are on the list already, or named twice.
    Taken(Vec<usize>),
    /// There is no such account.
    NoAccount,
}

/// How removing from the list ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Disallow {
    Removed,
    /// The ids at these positions are not on the list; nothing was removed.
    Unknown(Vec<usize>),
}

/// DynamoDB's limit for one transaction is 100 steps; one of them bumps the account.
const STEPS: usize = 99;

impl Store {
    /// The allow list of an account, by id.
    pub async fn allowed_ips(&self, account: &AccountId) -> Result<Vec<AllowedIp>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self
            .list::<AllowedIp>(&pk, "IP#", &PageQuery::all())
            .await?;
        let mut list: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        list.sort_by_key(|entry| entry.id);
        Ok(list)
    }

    /// Adds networks. All or nothing up to 99 of them; a longer list is added 99 at a time, and
    /// a failure may leave the first ones added.
    pub async fn allow_ips(
        &self,
        account: &AccountId,
        nets: &[IpNet],
        now: Timestamp,
    ) -> Result<Allow, StoreError> {
        let listed = self.allowed_ips(account).await?;
        let mut known: std::collections::HashSet<_> = listed.iter().map(|e| e.net).collect();
        let twins = (0..).zip(nets).filter(|(_, net)| !known.insert(**net));
        let taken: Vec<_> = twins.map(|(i, _)| i).collect();
        if !taken.is_empty() {
            return Ok(Allow::Taken(taken));
        }
        let count = i64::try_from(nets.len()).unwrap_or(i64::MAX);
        let ids = Key::count(account, "IPIDS");
        let last = self.add(&ids, &[("n", count)], None).await?;
        let first = last.first().copied().unwrap_or(count) - count + 1;
        let entry = |(id, net): (i64, &IpNet)| AllowedIp {
            id,
            net: *net,
            created_at: now,
            updated_at: now,
        };
        let entries: Vec<_> = (first..).zip(nets).map(entry).collect();
        for (chunk_no, chunk) in entries.chunks(STEPS).enumerate() {
            let mut steps = vec![self.write_bump(&Key::account(account), "allow_list")?];
            for entry in chunk {
                let key = Key::allowed_ip(account, &entry.net);
                steps.push(self.write_new(&key, entry, None)?);
            }
            match self.transact(steps).await? {
                Transact::Done => {}
                Transact::Refused(0) => return Ok(Allow::NoAccount),
                // The same network was added concurrently.
                Transact::Refused(step) => {
                    return Ok(Allow::Taken(vec![chunk_no * STEPS + step - 1]));
                }
            }
        }
        Ok(Allow::Added(entries))
    }

    /// Removes entries by their ids, all of them or none (99 at a time).
    ///
    /// # Errors
    /// [`StoreError::Contended`] when the list keeps changing.
    pub async fn disallow_ips(
        &self,
        account: &AccountId,
        ids: &[i64],
    ) -> Result<Disallow, StoreError> {
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let listed = self.allowed_ips(account).await?;
            let find = |id: &i64| listed.binary_search_by_key(id, |entry| entry.id).ok();
            let unknown = (0..).zip(ids).filter(|(_, id)| find(id).is_none());
            let unknown: Vec<_> = unknown.map(|(i, _)| i).collect();
            if !unknown.is_empty() {
                return Ok(Disallow::Unknown(unknown));
            }
            let found = ids.iter().filter_map(|id| listed.get(find(id)?));
            let nets: std::collections::BTreeSet<_> = found.map(|entry| entry.net).collect();
            if self.drop_nets(account, nets.into_iter().collect()).await? {
                return Ok(Disallow::Removed);
            }
        }
        Err(StoreError::Contended(format!("allow list of {account}")))
    }

    /// Removes every entry, to restore access for an owner who is locked out. Returns how many
    /// there were.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when the list keeps changing.
    pub async fn clear_allowed_ips(&self, account: &AccountId) -> Result<usize, StoreError> {
        let listed = self.allowed_ips(account).await?;
        let ids: Vec<_> = listed.iter().map(|entry| entry.id).collect();
        match self.disallow_ips(account, &ids).await? {
            Disallow::Removed => Ok(ids.len()),
            Disallow::Unknown(_) => Err(StoreError::Contended(format!("allow list of {account}"))),
        }
    }

    async fn drop_nets(&self, account: &AccountId, nets: Vec<IpNet>) -> Result<bool, StoreError> {
        for chunk in nets.chunks(STEPS) {
            let mut steps = vec![self.write_bump(&Key::account(account), "allow_list")?];
            for net in chunk {
                steps.push(self.write_delete(&Key::allowed_ip(account, net))?);
            }
            if self.transact(steps).await? != Transact::Done {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
