//! Event webhooks: at most a few per account, no two with the same URL.
//!
//! The URL is held by a row of its own, written in the same transaction as the webhook, so that two
//! concurrent requests cannot both take it. Everything else changes under the row's revision.

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, EventKind, Millis, Timestamp, WebhookId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, StoredRow, Transact};

/// One event webhook. Its secrets are sealed before they are stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub id: WebhookId,
    pub account: AccountId,
    pub enabled: bool,
    /// The URL as the owner wrote it.
    pub url: String,
    /// The same URL in its standard form: what is posted to, and what must be unique.
    pub target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friendly_name: Option<String>,
    /// `None` marks a webhook from before there could be several: the oldest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Millis>,
    pub updated_at: Timestamp,
    /// The events it subscribes to.
    #[serde(default)]
    pub kinds: BTreeSet<EventKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth_client_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth_token_url: Option<String>,
    /// Sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth_client_secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
    /// Since when every post has failed; `None` while posts arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// Since when it has answered too slowly to wait for; `None` while it is fast enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_since: Option<Timestamp>,
    /// Why it was disabled, until that was reported to the owner's other systems.
    #[serde(rename = "untold", default, skip_serializing_if = "Option::is_none")]
    pub unreported: Option<String>,
}

/// The key pair of a webhook whose posts are signed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// As receivers get it.
    pub public_key: String,
    /// Sealed.
    pub private_key: String,
}

// The URL may hold credentials.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Webhook({})", self.id)
    }
}

impl Webhook {
    /// Sorts the oldest first; one without a date is older than any.
    fn age(&self) -> (Option<Millis>, &WebhookId) {
        (self.created_at, &self.id)
    }
}

/// The holder row of a URL.
#[derive(Debug, Serialize, Deserialize)]
struct UrlHolder {
    webhook: WebhookId,
}

fn url_key(account: &AccountId, target: &str) -> Key {
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(target.as_bytes()));
    Key::webhook_url(account, &hash)
}

/// The result of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum CreateOutcome {
    Done,
    /// The account has reached its limit.
    Full,
    /// This webhook has the URL.
    UrlTaken(WebhookId),
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Saved {
    Done(Box<Webhook>),
    Missing,
    /// This webhook has the URL.
    UrlTaken(WebhookId),
}

impl Store {
    /// The webhooks of an account, the oldest first.
    pub async fn webhooks(&self, account: &AccountId) -> Result<Vec<Webhook>, StoreError> {
        let pk = Key::account_pk(account);
        let rows: Vec<StoredRow<Webhook>> = self.list(&pk, "HOOK#", &PageQuery::all()).await?;
        let mut webhooks: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        webhooks.sort_by(|a, b| a.age().cmp(&b.age()));
        Ok(webhooks)
    }

    /// One webhook of an account.
    pub async fn webhook(
        &self,
        account: &AccountId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError> {
        let row = self.get(&Key::webhook(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Writes a new webhook unless the account has reached `limit` or its URL is taken.
    pub async fn create_webhook(
        &self,
        webhook: &Webhook,
        limit: i64,
    ) -> Result<CreateOutcome, StoreError> {
        let url = url_key(&webhook.account, &webhook.target);
        let holder = UrlHolder {
            webhook: webhook.id.clone(),
        };
        // Retries in case the URL is released between the refusal and the read.
        let mut attempts = self.conflict_attempts().at_most(3);
        while attempts.next().await {
            let steps = vec![
                self.write_new(&url, &holder, None)?,
                self.write_take(&Key::count(&webhook.account, "HOOKS"), limit)?,
                self.write_new(&Key::webhook(&webhook.account, &webhook.id), webhook, None)?,
            ];
            match self.transact(steps).await? {
                Transact::Done => return Ok(CreateOutcome::Done),
                Transact::Refused(0) => {
                    if let Some(holder) = self.get::<UrlHolder>(&url).await? {
                        return Ok(CreateOutcome::UrlTaken(holder.value.webhook));
                    }
                }
                Transact::Refused(1) => return Ok(CreateOutcome::Full),
                Transact::Refused(_) => break,
            }
        }
        Err(StoreError::Contended(webhook.id.to_string()))
    }

    /// Reads a webhook, lets `change` create the new version, and writes that if the row is
    /// unchanged; otherwise starts over. `change` may run several times.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_webhook<E: From<StoreError>>(
        &self,
        account: &AccountId,
        id: &WebhookId,
        mut change: impl FnMut(Webhook) -> Result<Webhook, E>,
    ) -> Result<Saved, E> {
        let key = Key::webhook(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Webhook>(&key).await? else {
                return Ok(Saved::Missing);
            };
            let old = row.value.clone();
            let new = change(row.value)?;
            if new == old {
                return Ok(Saved::Done(Box::new(new)));
            }
            let mut steps = vec![self.write_unchanged(&key, &new, row.rev)?];
            let url = url_key(account, &new.target);
            if new.target != old.target {
                let holder = UrlHolder {
                    webhook: id.clone(),
                };
                steps.push(self.write_new(&url, &holder, None)?);
                steps.push(self.write_absent(&url_key(account, &old.target))?);
            }
            match self.transact(steps).await? {
                Transact::Done => return Ok(Saved::Done(Box::new(new))),
                Transact::Refused(1) => {
                    if let Some(holder) = self.get::<UrlHolder>(&url).await? {
                        return Ok(Saved::UrlTaken(holder.value.webhook));
                    }
                }
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(id.to_string()).into())
    }

    /// Deletes a webhook of this account; `false` when there is none.
    pub async fn delete_webhook(
        &self,
        account: &AccountId,
        id: &WebhookId,
    ) -> Result<bool, StoreError> {
        let key = Key::webhook(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Webhook>(&key).await? else {
                return Ok(false);
            };
            let steps = vec![
                self.write_delete_unchanged(&key, row.rev)?,
                self.write_absent(&url_key(account, &row.value.target))?,
                self.write_give(&Key::count(account, "HOOKS"))?,
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(true);
            }
        }
        Err(StoreError::Contended(id.to_string()))
    }
}
