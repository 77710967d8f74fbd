//! Accounts: tenants, their subusers and customer accounts.
//!
//! An account has its own partition. One more row lists it for the operator, and one under its parent
//! lists a subuser by its name, where on-behalf-of finds it, or a customer account by its id.

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use super::status::{AccountStatus, SuspensionCause, SuspensionChange};
use super::username::LONGEST_USERNAME;
use crate::key::Key;
use crate::table::{PageQuery, RowChange, Store, StoreError, StoredRow, Transact, Write};

/// Where an account's base address lies. One deployment answers under every base address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    #[default]
    Global,
    Eu,
}

/// Samples of a subuser's mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Monitor {
    /// The address that receives them.
    pub email: String,
    /// How many copies there are to each sample, at least 1.
    pub frequency: u32,
}

/// One account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub id: AccountId,
    /// The user name: unique among the subusers of one parent, whatever its case.
    pub username: String,
    #[serde(default)]
    pub email: String,
    /// The number that `user_id` fields of the API carry.
    #[serde(default)]
    pub user_id: u32,
    /// The account that may act for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AccountId>,
    /// Whether it is a customer account of its parent (acted for by id) rather than a subuser
    /// (acted for by name).
    #[serde(default)]
    pub customer: bool,
    #[serde(default)]
    pub status: AccountStatus,
    /// The operator's last suspension or reinstatement, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<SuspensionChange>,
    #[serde(default)]
    pub region: Region,
    /// Whether compressed request bodies are accepted (SPEC: "enabled by support").
    #[serde(default = "yes")]
    pub gzip: bool,
    /// Changes with every change of the allow list; 0 while there has never been an entry, so
    /// that an account without a list costs no read.
    #[serde(default)]
    pub allow_list: u64,
    /// Changes with every change of the mail and tracking settings; 0 while there are none.
    #[serde(default)]
    pub settings: u64,
    /// Changes with every change of its branded links; 0 while there have never been any.
    #[serde(default)]
    pub links: u64,
    /// Whether the account has a sending allowance ([`Store::spend_credits`]).
    #[serde(default)]
    pub metered: bool,
    /// Whether its parent disabled access to the web application, which is not part of this
    /// service.
    #[serde(default)]
    pub website_disabled: bool,
    /// The sending addresses its parent assigned to it, as given.
    #[serde(default)]
    pub ips: Vec<String>,
    /// Where its parent has samples of its mail sent; `None` for an account that is not a subuser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
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
            customer: false,
            status: AccountStatus::Active,
            verdict: None,
            region: Region::Global,
            gzip: true,
            allow_list: 0,
            settings: 0,
            links: 0,
            metered: false,
            website_disabled: false,
            ips: Vec::new(),
            monitor: None,
            created_at: now,
        }
    }

    /// Why it is suspended, if it is.
    pub fn suspension_cause(&self) -> Option<SuspensionCause> {
        let is_suspended = self.status.is_suspended();
        // Releases before the first change of this kind recorded none.
        is_suspended.then(|| self.verdict.map_or(SuspensionCause::Operator, |v| v.cause))
    }

    /// Whether it is a subuser: it has a name under its parent.
    pub fn is_subuser(&self) -> bool {
        self.parent.is_some() && !self.customer
    }

    /// The row by which the parent finds it: a subuser by its name, a customer account by its id.
    pub(crate) fn name_under_parent(&self) -> Option<Key> {
        let parent = self.parent.as_ref()?;
        Some(if self.customer {
            Key::customer(parent, &self.id)
        } else {
            Key::subuser(parent, &self.username)
        })
    }
}

/// The result of a renaming.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Renamed {
    Done(Box<Account>),
    /// There is no such account.
    Missing,
    /// Another subuser of the parent has the name.
    Taken,
}

/// A row that only names an account.
#[derive(Serialize, Deserialize)]
pub(crate) struct AccountName {
    pub(crate) id: AccountId,
}

impl Store {
    /// Writes a new account; `false` when the id, or the name under its parent, is taken.
    pub async fn create_account(&self, account: &Account) -> Result<bool, StoreError> {
        let steps = self.steps_of_account(account)?;
        Ok(self.transact(steps).await? == Transact::Done)
    }

    pub(crate) fn steps_of_account(&self, account: &Account) -> Result<Vec<Write>, StoreError> {
        let named = AccountName {
            id: account.id.clone(),
        };
        let mut steps = vec![
            self.write_new(&Key::account(&account.id), account, None)?,
            self.write_new(&Key::account_entry(&account.id), &named, None)?,
        ];
        if let Some(name) = account.name_under_parent() {
            steps.push(self.write_new(&name, &named, None)?);
        }
        Ok(steps)
    }

    /// One account.
    pub async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        Ok(self.get(&Key::account(id)).await?.map(|row| row.value))
    }

    /// Every account, oldest first. For the operator; a request does this once for each parent that
    /// lists its customer accounts.
    pub async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.named(Key::account_entries(), "").await
    }

    /// The subusers of an account, oldest first.
    pub async fn subusers(&self, parent: &AccountId) -> Result<Vec<Account>, StoreError> {
        self.named(&Key::account_pk(parent), "SUB#").await
    }

    /// At most `limit` customer accounts of an account, by id, from the one that follows `after`.
    pub async fn customers(
        &self,
        parent: &AccountId,
        after: Option<&AccountId>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        self.index_customers(parent).await?;
        let page = PageQuery {
            limit,
            after: after.map(|id| Key::customer(parent, id).sk),
            backwards: false,
        };
        let pk = Key::account_pk(parent);
        let names = self.list(&pk, "CUSTOMER#", &page).await?;
        let mut accounts = self.accounts_of(names).await?;
        accounts.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(accounts)
    }

    /// Releases up to 0.1 wrote no row under the parent for a customer account: the first call finds
    /// them among all accounts.
    async fn index_customers(&self, parent: &AccountId) -> Result<(), StoreError> {
        let mark = Key::customers_indexed(parent);
        let named = |id: &AccountId| AccountName { id: id.clone() };
        if self.get::<AccountName>(&mark).await?.is_some() {
            return Ok(());
        }
        for account in self.accounts().await? {
            if account.customer && account.parent.as_ref() == Some(parent) {
                let key = Key::customer(parent, &account.id);
                self.put(&key, &named(&account.id), None).await?;
            }
        }
        self.put(&mark, &named(parent), None).await
    }

    async fn named(&self, pk: &str, prefix: &str) -> Result<Vec<Account>, StoreError> {
        let names = self.list(pk, prefix, &PageQuery::all()).await?;
        let mut accounts = self.accounts_of(names).await?;
        accounts.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(accounts)
    }

    async fn accounts_of(
        &self,
        names: Vec<StoredRow<AccountName>>,
    ) -> Result<Vec<Account>, StoreError> {
        let keys: Vec<_> = names
            .iter()
            .map(|row| Key::account(&row.value.id))
            .collect();
        let rows = self.get_many::<Account>(&keys).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// The id of the subuser with this name under `parent`.
    pub async fn subuser_id(
        &self,
        parent: &AccountId,
        username: &str,
    ) -> Result<Option<AccountId>, StoreError> {
        if username.len() > LONGEST_USERNAME {
            return Ok(None);
        }
        let row = self
            .get::<AccountName>(&Key::subuser(parent, username))
            .await?;
        Ok(row.map(|row| row.value.id))
    }

    /// Changes an account; `change` may run several times, each time on what the row is then.
    /// The account as it is now, or `None` when there is none.
    ///
    /// Name, parent and kind stay as they are: other rows are found by them
    /// ([`Store::rename_account`]).
    pub async fn update_account(
        &self,
        id: &AccountId,
        mut change: impl FnMut(&mut Account),
    ) -> Result<Option<Account>, StoreError> {
        self.modify::<Account, StoreError>(&Key::account(id), None, |row| {
            let Some(old) = row else {
                return Ok(RowChange::Keep);
            };
            let mut account = old.clone();
            change(&mut account);
            Ok(RowChange::Put(account))
        })
        .await
    }

    /// Gives an account another user name, by which its parent then finds it.
    pub async fn rename_account(
        &self,
        id: &AccountId,
        username: &str,
    ) -> Result<Renamed, StoreError> {
        let key = Key::account(id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Account>(&key).await? else {
                return Ok(Renamed::Missing);
            };
            let renamed = Account {
                username: username.to_owned(),
                ..row.value.clone()
            };
            if renamed == row.value {
                return Ok(Renamed::Done(Box::new(renamed)));
            }
            let names = (row.value.name_under_parent(), renamed.name_under_parent());
            let mut steps = vec![self.write_unchanged(&key, &renamed, row.rev)?];
            if let (Some(old), Some(new)) = &names
                && old != new
            {
                let named = AccountName { id: id.clone() };
                steps.push(self.write_new(new, &named, None)?);
                steps.push(self.write_absent(old)?);
            }
            match self.transact(steps).await? {
                Transact::Done => return Ok(Renamed::Done(Box::new(renamed))),
                Transact::Refused(1) => return Ok(Renamed::Taken),
                // The row was changed in between.
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("name of {id}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_earlier_release_reads() {
        for (word, want) in [
            ("active", AccountStatus::Active),
            ("disabled", AccountStatus::Disabled),
            ("suspended", AccountStatus::Suspended),
        ] {
            let row = serde_json::json!({"id": AccountId::from_bytes([7; 10]),
                "username": "ann", "status": word, "created_at": 1});
            let account: Account = serde_json::from_value(row).unwrap();
            assert_eq!((account.status, account.verdict), (want, None));
        }
    }
}
