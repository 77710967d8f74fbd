//! Branded links: the hosts of an account's own under which the links of its mails lead to this service.
//!
//! All of an account are in one row, for a change of the default concerns two of them. Every change bumps `links` of the
//! account's own row in the same transaction, so that an account without branded links costs no read.

use std::cmp::Reverse;

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{Store, StoreError, Transact};

/// Branded links that an account has at most: its row, which mail of the account reads, stays below 40 KB.
pub const MOST_BRANDED_LINKS: usize = 50;

/// A host of an account's own for the links of its mails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandedLink {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    /// Lower-case A-labels.
    pub domain: String,
    pub subdomain: String,
    #[serde(default)]
    pub default: bool,
    /// Whether the host led to this service at the last look-up.
    #[serde(default)]
    pub host_valid: bool,
    /// Whether the record that names the account was there at the last look-up.
    #[serde(default)]
    pub owner_valid: bool,
    pub created_at: Timestamp,
    /// When its records were last looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
}

impl BrandedLink {
    /// The host of the links.
    pub fn host(&self) -> String {
        format!("{}.{}", self.subdomain, self.domain)
    }

    /// Whether both its records were found: only then links are made with it.
    pub fn is_valid(&self) -> bool {
        self.host_valid && self.owner_valid
    }

    /// Whether a sender's domain (in A-labels) is its domain or below that.
    fn covers(&self, host: &str) -> bool {
        let rest = host.strip_suffix(self.domain.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

/// A link of the parent that a subuser's mail uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LentLink {
    pub owner: AccountId,
    /// It leads nowhere once the owner has deleted the link.
    pub id: i64,
}

/// The branded links of an account, oldest first, and the one that is lent to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkBranding {
    pub links: Vec<BrandedLink>,
    pub lent: Option<LentLink>,
}

impl LinkBranding {
    /// The link of this number.
    pub fn link(&self, id: i64) -> Option<&BrandedLink> {
        self.links.iter().find(|link| link.id == id)
    }

    /// The valid link for mail from a domain, in A-labels: the one whose domain is closest above the sender's, as
    /// domains are chosen to sign; of several the default, then the oldest. Where none covers the sender, the default of
    /// the account, and else the one that is `lent` to it.
    pub fn chosen<'a>(
        &'a self,
        lent: Option<&'a BrandedLink>,
        from: &str,
    ) -> Option<&'a BrandedLink> {
        let valid = || self.links.iter().filter(|link| link.is_valid());
        let lent = lent.filter(|link| link.is_valid());
        let covering = valid().chain(lent).filter(|link| link.covers(from));
        // Of equal ones `min_by_key` takes the first.
        let closest = covering.min_by_key(|link| (Reverse(link.domain.len()), !link.default));
        let default = || valid().find(|link| link.default);
        closest.or_else(default).or(lent)
    }
}

impl Store {
    /// An id for a new branded link.
    pub async fn next_branded_link_id(&self, account: &AccountId) -> Result<i64, StoreError> {
        self.next_id(account, "LINKIDS").await
    }

    /// The branded links of an account, and the one that is lent to it.
    pub async fn link_branding(&self, account: &AccountId) -> Result<LinkBranding, StoreError> {
        let row = self.get(&Key::link_branding(account)).await?;
        Ok(row.map(|row| row.value).unwrap_or_default())
    }

    /// Changes the branded links of an account; `change` may run several times, each time on what they are then. What
    /// they are now; `None` when there is no such account.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_link_branding<E: From<StoreError>>(
        &self,
        account: &AccountId,
        mut change: impl FnMut(&mut LinkBranding) -> Result<(), E>,
    ) -> Result<Option<LinkBranding>, E> {
        let key = Key::link_branding(account);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let row = self.get::<LinkBranding>(&key).await?;
            let rev = row.as_ref().map(|row| row.rev);
            let before = row.map(|row| row.value).unwrap_or_default();
            let mut branding = before.clone();
            change(&mut branding)?;
            if branding == before {
                return Ok(Some(branding));
            }
            let write = match rev {
                None => self.write_new(&key, &branding, None)?,
                Some(rev) => self.write_unchanged(&key, &branding, rev)?,
            };
            let bump = self.write_bump(&Key::account(account), "links")?;
            match self.transact(vec![bump, write]).await? {
                Transact::Done => return Ok(Some(branding)),
                Transact::Refused(0) => return Ok(None),
                // They were changed in between.
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("branded links of {account}")).into())
    }

    /// Records that a host is an account's own, before the first link is made with it. The row stays when the branded link
    /// is deleted: the host may lead here for longer, and a link of another account must not work under it.
    pub async fn mark_branded(&self, host: &str, now: Timestamp) -> Result<(), StoreError> {
        self.put(&Key::branded_host(host), &BrandedHost { since: now }, None)
            .await
    }

    /// Whether a host (in lower case) is, or was, an account's own.
    pub async fn is_branded(&self, host: &str) -> Result<bool, StoreError> {
        let row = self.get::<BrandedHost>(&Key::branded_host(host)).await?;
        Ok(row.is_some())
    }
}

/// A host under which links of some account were made.
#[derive(Debug, Serialize, Deserialize)]
struct BrandedHost {
    since: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(id: i64, domain: &str, default: bool) -> BrandedLink {
        BrandedLink {
            id,
            domain: domain.to_owned(),
            subdomain: format!("l{id}"),
            default,
            host_valid: true,
            owner_valid: true,
            created_at: Timestamp(1),
            checked_at: None,
        }
    }

    #[test]
    fn mail_has_the_link_closest_to_its_sender_or_else_the_default() {
        let mut branding = LinkBranding {
            links: vec![
                link(1, "shop.example", false),
                link(2, "news.shop.example", false),
                link(3, "other.example", true),
                link(4, "shop.example", false),
            ],
            lent: None,
        };
        let chosen = |branding: &LinkBranding, lent: Option<&BrandedLink>, from: &str| {
            branding.chosen(lent, from).map(|link| link.id)
        };
        for (from, want) in [
            ("shop.example", 1),
            ("eu.shop.example", 1),
            ("news.shop.example", 2),
            ("a.news.shop.example", 2),
            ("bookshop.example", 3),
            ("example", 3),
            ("other.example", 3),
        ] {
            assert_eq!(chosen(&branding, None, from), Some(want), "{from}");
        }
        branding.links[3].default = true;
        branding.links[2].default = false;
        assert_eq!(chosen(&branding, None, "shop.example"), Some(4));
        // Links that are not valid are none.
        branding.links[3].owner_valid = false;
        assert_eq!(chosen(&branding, None, "shop.example"), Some(1));
        assert_eq!(chosen(&branding, None, "elsewhere.example"), None);
        // A lent link is for all mail that no own link is for.
        let lent = link(9, "parent.example", false);
        assert_eq!(chosen(&branding, Some(&lent), "elsewhere.example"), Some(9));
        assert_eq!(chosen(&branding, Some(&lent), "shop.example"), Some(1));
        assert_eq!(chosen(&branding, Some(&lent), "parent.example"), Some(9));
        branding.links[2].default = true;
        assert_eq!(chosen(&branding, Some(&lent), "elsewhere.example"), Some(3));
        let broken = BrandedLink {
            host_valid: false,
            ..lent
        };
        branding.links.clear();
        assert_eq!(chosen(&branding, Some(&broken), "parent.example"), None);
    }
}
