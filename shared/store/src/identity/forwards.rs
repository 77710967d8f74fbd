//! Addresses that bounces and spam reports are forwarded to, once their owners followed an emailed
//! link.
//!
//! One row per account and address, so that an address which was confirmed once needs no second
//! mail when the setting comes back to it. A row holds an address (at most 320 characters), a hash
//! and two times: it stays below 2 KB. One that is not confirmed expires with its link; so an account
//! has at most as many of those as it may cause system mails in that time.

use posthaste_model::{AccountId, EmailAddress, Timestamp};
use serde::{Deserialize, Serialize};

use super::senders::{SenderLink, hash};
use crate::key::Key;
use crate::table::{RowChange, Store, StoreError};

/// One address of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardTo {
    pub account: AccountId,
    /// As given when the link was mailed.
    pub email: String,
    /// Hash of the token in the link that was mailed last.
    token: String,
    /// When that was.
    pub mailed_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<Timestamp>,
}

/// The target of a link. It is stored beside the links of senders, so that a release which supports
/// only those reads it as a link to no sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LeadsTo {
    account: AccountId,
    id: i64,
    until: Timestamp,
    /// Key of the address; none in a sender's link.
    #[serde(default)]
    forward: Option<String>,
}

impl Store {
    /// The row of an address to forward to.
    pub async fn forward_to(
        &self,
        account: &AccountId,
        email: &EmailAddress,
    ) -> Result<Option<ForwardTo>, StoreError> {
        let row = self.get(&key(account, email)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Whether the account may have its bounces and spam reports forwarded to an address: it was
    /// confirmed by a mailed link, is a verified sender, or lies in an authenticated domain of the
    /// account.
    pub async fn may_forward_to(
        &self,
        account: &AccountId,
        email: &EmailAddress,
    ) -> Result<bool, StoreError> {
        let known = self.forward_to(account, email).await?;
        if known.is_some_and(|known| known.confirmed_at.is_some()) {
            return Ok(true);
        }
        Ok(self.standing(account, email).await?.is_some())
    }

    /// Stores that a link was mailed to an address, and where it leads. The earlier link stops
    /// working; an address that is confirmed stays confirmed.
    pub async fn ask_to_forward(
        &self,
        account: &AccountId,
        email: &EmailAddress,
        link: &SenderLink,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let folded = hash(&email.folded());
        let leads = LeadsTo {
            account: account.clone(),
            id: 0,
            until: link.until,
            forward: Some(folded),
        };
        let link_key = Key::link(&link.hash);
        self.put(&link_key, &leads, Some(link.until)).await?;
        let asked = ForwardTo {
            account: account.clone(),
            email: email.as_str().to_owned(),
            token: link.hash.clone(),
            mailed_at: now,
            confirmed_at: None,
        };
        self.modify(&key(account, email), Some(link.until), |old| {
            let confirmed = old.is_some_and(|old: &ForwardTo| old.confirmed_at.is_some());
            Ok::<_, StoreError>(if confirmed {
                RowChange::Keep
            } else {
                RowChange::Put(asked.clone())
            })
        })
        .await?;
        Ok(())
    }

    /// Forgets a link that could not be mailed.
    pub async fn unask_to_forward(
        &self,
        account: &AccountId,
        email: &EmailAddress,
        link: &SenderLink,
    ) -> Result<(), StoreError> {
        self.modify(&key(account, email), None, |old: Option<&ForwardTo>| {
            let asked = |old: &ForwardTo| old.token == link.hash && old.confirmed_at.is_none();
            Ok::<_, StoreError>(if old.is_some_and(asked) {
                RowChange::Delete
            } else {
                RowChange::Keep
            })
        })
        .await?;
        Ok(())
    }

    /// The address that a mailed link is about, if the link still works.
    pub async fn linked_forward(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<ForwardTo>, StoreError> {
        let found = self.follow(token, now).await?;
        Ok(found.map(|(_, forward)| forward))
    }

    /// Confirms the address that a mailed link is about; `None` when the link does not work. It
    /// works any number of times until it ends, since people click twice.
    pub async fn confirm_forward(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<ForwardTo>, StoreError> {
        let Some((key, linked)) = self.follow(token, now).await? else {
            return Ok(None);
        };
        let confirmed = self
            .modify::<ForwardTo, StoreError>(&key, None, |old| {
                let asked =
                    |old: &&ForwardTo| old.token == linked.token && old.confirmed_at.is_none();
                Ok(match old.filter(asked) {
                    None => RowChange::Keep,
                    Some(old) => RowChange::Put(ForwardTo {
                        confirmed_at: Some(now),
                        ..old.clone()
                    }),
                })
            })
            .await?;
        // A newer link may have been mailed in between: this one is then invalid.
        Ok(confirmed.filter(|forward| forward.token == linked.token))
    }

    async fn follow(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<(Key, ForwardTo)>, StoreError> {
        let hash = hash(token);
        let Some(row) = self.get::<LeadsTo>(&Key::link(&hash)).await? else {
            return Ok(None);
        };
        let leads = row.value;
        let Some(forward) = leads.forward.filter(|_| now < leads.until) else {
            return Ok(None);
        };
        let key = Key::forward(&leads.account, &forward);
        let found = self.get::<ForwardTo>(&key).await?;
        let found = found.map(|row| row.value);
        Ok(found
            .filter(|found| found.token == hash)
            .map(|found| (key, found)))
    }
}

fn key(account: &AccountId, email: &EmailAddress) -> Key {
    Key::forward(account, &hash(&email.folded()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_row_is_small() {
        let last = posthaste_model::TIMESTAMP_MAX;
        let row = ForwardTo {
            account: AccountId::from_bytes([0xff; 10]),
            email: "\u{10ffff}".repeat(320),
            token: hash("token"),
            mailed_at: last,
            confirmed_at: Some(last),
        };
        assert!(serde_json::to_vec(&row).unwrap().len() < 2_048);
    }
}
