//! Domains that an account may send from, once their records are published.
//!
//! A name belongs to an account once: one more row holds it, written in the same transaction, and a
//! sender is looked up through such rows. A domain can be lent to subusers; each of them then has a
//! row that holds the name and points to the owner's domain.

use std::fmt;

use posthaste_model::{AccountId, EmailAddress, Record, Timestamp};
use serde::{Deserialize, Serialize};

use super::senders::{NameHolder, VerifiedSender};
use crate::key::Key;
use crate::table::{PageQuery, Put, RowChange, Store, StoreError, Transact};

/// One domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    pub account: AccountId,
    /// Lower-case A-labels.
    pub domain: String,
    pub subdomain: String,
    #[serde(default)]
    pub ips: Vec<String>,
    #[serde(default)]
    pub custom_spf: bool,
    #[serde(default)]
    pub default: bool,
    #[serde(default)]
    pub automatic_security: bool,
    pub created_at: Timestamp,
    /// When its records were last looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
    /// When SES was given its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_to_ses: Option<Timestamp>,
    /// The records to publish, as returned to the owner.
    pub records: Vec<Record>,
    /// The first one signs.
    pub keys: Vec<DkimKey>,
    /// The subusers that may also send from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subusers: Vec<Borrower>,
}

/// A DKIM key pair at rest.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DkimKey {
    pub selector: String,
    /// As DNS carries it.
    pub public: String,
    /// Sealed.
    pub private: String,
}

impl fmt::Debug for DkimKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DkimKey({})", self.selector)
    }
}

/// A subuser that a domain is lent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Borrower {
    pub account: AccountId,
    pub username: String,
    pub user_id: u32,
}

impl Domain {
    /// Whether all its records were found.
    pub fn is_valid(&self) -> bool {
        !self.records.is_empty() && self.records.iter().all(|record| record.valid)
    }
}

/// What authorizes an account to send from an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SenderAuthority {
    /// The address is of this domain or of one below it.
    Domain(Box<Domain>),
    Sender(Box<VerifiedSender>),
}

/// How lending a domain ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Lent {
    Done(Box<Domain>),
    /// There is no such domain.
    Missing,
    /// The subuser has a domain of this name already.
    Taken,
    /// The domain has reached its limit of borrowers.
    Full,
}

/// The most subusers that a domain can be lent to; they fit well within its row.
const BORROWERS: usize = 1_000;

/// DynamoDB's limit for one transaction is 100 steps; two of them are the domain's own.
const STEPS: usize = 98;

/// `mail.example.com`, `example.com`, `com`: the domain of an address and those above it.
fn upwards(domain: &str) -> impl Iterator<Item = &str> {
    // Deeper names are not needed, and the lookup stays one call.
    const DEPTH: usize = 20;
    let first = Some(domain).filter(|domain| !domain.is_empty());
    std::iter::successors(first, |&name| Some(name.split_once('.')?.1)).take(DEPTH)
}

impl Store {
    /// An id for a new domain.
    pub async fn next_domain_id(&self, account: &AccountId) -> Result<i64, StoreError> {
        self.next_id(account, "DOMAINIDS").await
    }

    /// Writes a new domain; `Taken` when the account has one of this name.
    pub async fn create_domain(&self, domain: &Domain) -> Result<Put, StoreError> {
        let holder = NameHolder {
            owner: domain.account.clone(),
            id: domain.id,
        };
        let steps = vec![
            self.write_new(&Key::holder(&domain.account, &domain.domain), &holder, None)?,
            self.write_new(&Key::domain(&domain.account, domain.id), domain, None)?,
        ];
        Ok(match self.transact(steps).await? {
            Transact::Done => Put::Stored,
            Transact::Refused(_) => Put::Taken,
        })
    }

    /// The domains of an account, oldest first.
    pub async fn domains(&self, account: &AccountId) -> Result<Vec<Domain>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self.list(&pk, "DOMAIN#", &PageQuery::all()).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// One domain of an account.
    pub async fn domain(&self, account: &AccountId, id: i64) -> Result<Option<Domain>, StoreError> {
        let row = self.get(&Key::domain(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Changes a domain; `change` may run several times and leaves name and subusers alone.
    /// The domain as it is now, or `None` when there is none.
    pub async fn update_domain(
        &self,
        account: &AccountId,
        id: i64,
        mut change: impl FnMut(&mut Domain),
    ) -> Result<Option<Domain>, StoreError> {
        self.modify::<Domain, StoreError>(&Key::domain(account, id), None, |row| {
            let Some(old) = row else {
                return Ok(RowChange::Keep);
            };
            let mut domain = old.clone();
            change(&mut domain);
            Ok(RowChange::Put(domain))
        })
        .await
    }

    /// Deletes a domain and takes it from every subuser; `false` when there is none.
    pub async fn delete_domain(&self, account: &AccountId, id: i64) -> Result<bool, StoreError> {
        let key = Key::domain(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Domain>(&key).await? else {
                return Ok(false);
            };
            let mut domain = row.value;
            let some = domain.subusers.len().min(STEPS);
            let mut steps = Vec::new();
            for borrower in domain.subusers.drain(..some) {
                steps.push(self.write_absent(&Key::holder(&borrower.account, &domain.domain))?);
            }
            let last = domain.subusers.is_empty();
            if last {
                steps.push(self.write_absent(&Key::holder(account, &domain.domain))?);
                steps.push(self.write_delete_unchanged(&key, row.rev)?);
            } else {
                steps.push(self.write_unchanged(&key, &domain, row.rev)?);
            }
            if self.transact(steps).await? == Transact::Done && last {
                return Ok(true);
            }
        }
        Err(StoreError::Contended(format!("domain {id} of {account}")))
    }

    /// Lends a domain to a subuser; a no-op when it has it already.
    pub async fn lend_domain(
        &self,
        account: &AccountId,
        id: i64,
        borrower: &Borrower,
    ) -> Result<Lent, StoreError> {
        let key = Key::domain(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Domain>(&key).await? else {
                return Ok(Lent::Missing);
            };
            let mut domain = row.value;
            if domain
                .subusers
                .iter()
                .any(|b| b.account == borrower.account)
            {
                return Ok(Lent::Done(Box::new(domain)));
            }
            if domain.subusers.len() >= BORROWERS {
                return Ok(Lent::Full);
            }
            domain.subusers.push(borrower.clone());
            let holder = NameHolder {
                owner: account.clone(),
                id,
            };
            let name = Key::holder(&borrower.account, &domain.domain);
            let steps = vec![
                self.write_new(&name, &holder, None)?,
                self.write_unchanged(&key, &domain, row.rev)?,
            ];
            match self.transact(steps).await? {
                Transact::Done => return Ok(Lent::Done(Box::new(domain))),
                Transact::Refused(0) => return Ok(Lent::Taken),
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("domain {id} of {account}")))
    }

    /// Takes a domain back from a subuser; `false` when it does not have it.
    pub async fn take_domain_back(
        &self,
        account: &AccountId,
        id: i64,
        subuser: &AccountId,
    ) -> Result<bool, StoreError> {
        let key = Key::domain(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Domain>(&key).await? else {
                return Ok(false);
            };
            let mut domain = row.value;
            let before = domain.subusers.len();
            domain.subusers.retain(|b| b.account != *subuser);
            if domain.subusers.len() == before {
                return Ok(false);
            }
            let steps = vec![
                self.write_absent(&Key::holder(subuser, &domain.domain))?,
                self.write_unchanged(&key, &domain, row.rev)?,
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(true);
            }
        }
        Err(StoreError::Contended(format!("domain {id} of {account}")))
    }

    /// The domains that are lent to this account, oldest first.
    pub async fn borrowed_domains(&self, account: &AccountId) -> Result<Vec<Domain>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self
            .list::<NameHolder>(&pk, "FROM#", &PageQuery::all())
            .await?;
        let lent = rows.iter().filter(|row| row.value.owner != *account);
        let keys: Vec<_> = lent
            .map(|row| Key::domain(&row.value.owner, row.value.id))
            .collect();
        let rows = self.get_many::<Domain>(&keys).await?;
        let mut domains: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        domains.sort_by_key(|domain| (domain.created_at, domain.id));
        Ok(domains)
    }

    /// What authorizes an account to send from this address: the closest of its domains that is
    /// valid, or else a verified sender. Two reads, or one when the account has no such name.
    pub async fn standing(
        &self,
        account: &AccountId,
        address: &EmailAddress,
    ) -> Result<Option<SenderAuthority>, StoreError> {
        if let Some(domain) = self.valid_domain(account, &address.ascii_domain()).await? {
            return Ok(Some(SenderAuthority::Domain(Box::new(domain))));
        }
        let sender = self.sender_of(account, &address.folded()).await?;
        let sender = sender.filter(|sender| sender.verified);
        Ok(sender.map(|sender| SenderAuthority::Sender(Box::new(sender))))
    }

    /// The closest valid domain of an account that equals this host name (in A-labels) or contains
    /// it.
    pub async fn valid_domain(
        &self,
        account: &AccountId,
        host: &str,
    ) -> Result<Option<Domain>, StoreError> {
        let names = upwards(host).map(|name| Key::holder(account, name));
        let holders = self
            .get_many::<NameHolder>(&names.collect::<Vec<_>>())
            .await?;
        let keys: Vec<_> = holders
            .iter()
            .map(|row| Key::domain(&row.value.owner, row.value.id))
            .collect();
        let rows = self.get_many::<Domain>(&keys).await?;
        let valid = rows
            .into_iter()
            .map(|row| row.value)
            .filter(Domain::is_valid);
        Ok(valid.max_by_key(|domain| domain.domain.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::upwards;

    #[test]
    fn a_host_name_is_looked_for_from_itself_upwards() {
        let names = |host| upwards(host).collect::<Vec<_>>();
        assert_eq!(
            names("a.b.example"),
            ["a.b.example", "b.example", "example"]
        );
        assert_eq!(names("localhost"), ["localhost"]);
        assert!(names("").is_empty());
        assert_eq!(names(&"a.".repeat(60)).len(), 20);
    }
}
