//! Single addresses that an account may send from, once their owners followed an emailed link.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::table::{PageQuery, Put, Store, StoreError, Transact, Write};

/// One sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedSender {
    /// Counts up from 1 within the account; never given twice.
    pub id: i64,
    pub account: AccountId,
    /// The address as it compares: lower case, A-labels.
    pub folded: String,
    pub verified: bool,
    /// Hash of the token in the link that was mailed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub created_at: Timestamp,
    /// When its fields were changed last; none in rows of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    pub fields: SenderFields,
}

/// The fields an owner sets for a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SenderFields {
    pub nickname: String,
    pub from_email: String,
    pub from_name: String,
    pub reply_to: String,
    pub reply_to_name: String,
    pub address: String,
    pub address2: String,
    pub state: String,
    pub city: String,
    pub zip: String,
    pub country: String,
}

/// The secret of a mailed link. The table stores only its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderLink {
    pub(crate) hash: String,
    /// When it stops working.
    pub until: Timestamp,
}

impl SenderLink {
    /// The link with this token.
    pub fn new(token: &str, until: Timestamp) -> Self {
        Self {
            hash: hash(token),
            until,
        }
    }
}

pub(crate) fn hash(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes()))
}

/// The target of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Leads {
    account: AccountId,
    id: i64,
    until: Timestamp,
}

/// The holder row of a name: maps a sender to what authorizes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameHolder {
    /// The account that owns the domain or sender: for a lent domain, another account.
    pub(crate) owner: AccountId,
    pub(crate) id: i64,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Resaved {
    Done(Box<VerifiedSender>),
    Missing,
    /// The account has a sender with this address.
    Taken,
}

impl Store {
    /// An id for a new sender.
    pub async fn next_sender_id(&self, account: &AccountId) -> Result<i64, StoreError> {
        self.next_id(account, "SENDERIDS").await
    }

    /// Writes a new sender, and where the link that was mailed for it leads; `Taken` when the
    /// account has one with this address.
    pub async fn create_sender(
        &self,
        sender: &VerifiedSender,
        link: Option<&SenderLink>,
    ) -> Result<Put, StoreError> {
        let sender = &with_link(sender.clone(), link);
        let holder = NameHolder {
            owner: sender.account.clone(),
            id: sender.id,
        };
        let mut steps = vec![
            self.write_new(&Key::holder(&sender.account, &sender.folded), &holder, None)?,
            self.write_new(&Key::sender(&sender.account, sender.id), sender, None)?,
        ];
        steps.extend(self.leads(sender, link)?);
        Ok(match self.transact(steps).await? {
            Transact::Done => Put::Stored,
            Transact::Refused(_) => Put::Taken,
        })
    }

    fn leads(
        &self,
        sender: &VerifiedSender,
        link: Option<&SenderLink>,
    ) -> Result<Vec<Write>, StoreError> {
        let Some(link) = link else {
            return Ok(Vec::new());
        };
        let leads = Leads {
            account: sender.account.clone(),
            id: sender.id,
            until: link.until,
        };
        let expires = Some(link.until);
        Ok(vec![self.write_new(
            &Key::link(&link.hash),
            &leads,
            expires,
        )?])
    }

    /// The senders of an account, oldest first.
    pub async fn senders(&self, account: &AccountId) -> Result<Vec<VerifiedSender>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self.list(&pk, "SENDER#", &PageQuery::all()).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// One sender of an account.
    pub async fn sender(
        &self,
        account: &AccountId,
        id: i64,
    ) -> Result<Option<VerifiedSender>, StoreError> {
        let row = self.get(&Key::sender(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// The sender with this address (as it compares), verified or not.
    pub async fn sender_of(
        &self,
        account: &AccountId,
        folded: &str,
    ) -> Result<Option<VerifiedSender>, StoreError> {
        let Some(row) = self
            .get::<NameHolder>(&Key::holder(account, folded))
            .await?
        else {
            return Ok(None);
        };
        self.sender(&row.value.owner, row.value.id).await
    }

    /// Changes a sender; `change` may run several times. A new link replaces the old one, which no
    /// longer verifies the sender.
    pub async fn update_sender(
        &self,
        account: &AccountId,
        id: i64,
        link: Option<&SenderLink>,
        mut change: impl FnMut(&mut VerifiedSender),
    ) -> Result<Resaved, StoreError> {
        let key = Key::sender(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<VerifiedSender>(&key).await? else {
                return Ok(Resaved::Missing);
            };
            let old = row.value;
            let mut new = old.clone();
            change(&mut new);
            let new = with_link(new, link);
            let mut steps = vec![self.write_unchanged(&key, &new, row.rev)?];
            if new.folded != old.folded {
                let holder = NameHolder {
                    owner: account.clone(),
                    id,
                };
                steps.push(self.write_new(&Key::holder(account, &new.folded), &holder, None)?);
                steps.push(self.write_absent(&Key::holder(account, &old.folded))?);
            }
            steps.extend(self.leads(&new, link)?);
            match self.transact(steps).await? {
                Transact::Done => return Ok(Resaved::Done(Box::new(new))),
                Transact::Refused(1) => return Ok(Resaved::Taken),
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("sender {id} of {account}")))
    }

    /// Deletes a sender; `false` when there is none.
    pub async fn delete_sender(&self, account: &AccountId, id: i64) -> Result<bool, StoreError> {
        let key = Key::sender(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<VerifiedSender>(&key).await? else {
                return Ok(false);
            };
            let steps = vec![
                self.write_delete_unchanged(&key, row.rev)?,
                self.write_absent(&Key::holder(account, &row.value.folded))?,
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(true);
            }
        }
        Err(StoreError::Contended(format!("sender {id} of {account}")))
    }

    /// The sender that a mailed link is about, if the link still works.
    pub async fn linked_sender(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<VerifiedSender>, StoreError> {
        let hash = hash(token);
        let Some(row) = self.get::<Leads>(&Key::link(&hash)).await? else {
            return Ok(None);
        };
        let Leads { account, id, until } = row.value;
        if now >= until {
            return Ok(None);
        }
        let sender = self.sender(&account, id).await?;
        Ok(sender.filter(|sender| sender.token.as_ref() == Some(&hash)))
    }

    /// Verifies the sender that a mailed link is about; `None` when the link does not work. It
    /// works any number of times, since people click twice.
    pub async fn verify_sender(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<VerifiedSender>, StoreError> {
        let Some(sender) = self.linked_sender(token, now).await? else {
            return Ok(None);
        };
        if sender.verified {
            return Ok(Some(sender));
        }
        let linked = sender.token.clone();
        // A new link, or another address, may come in between: this one is then invalid.
        let verify = |sender: &mut VerifiedSender| sender.verified |= sender.token == linked;
        let done = self
            .update_sender(&sender.account, sender.id, None, verify)
            .await?;
        Ok(match done {
            Resaved::Done(sender) if sender.verified => Some(*sender),
            Resaved::Done(_) | Resaved::Missing | Resaved::Taken => None,
        })
    }
}

fn with_link(mut sender: VerifiedSender, link: Option<&SenderLink>) -> VerifiedSender {
    if let Some(link) = link {
        sender.token = Some(link.hash.clone());
    }
    sender
}
