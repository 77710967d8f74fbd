//! Outages of the relay: how the mail fares that waits for its end in the bucket.
//!
//! One row for each: that of the relay, and one for each account at whose mails the relay breaks off. The
//! process that stores mail notes it here before. Only a table that was restored has no row of mail in the bucket,
//! for which the sweep looks too.

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, Put, Store, StoreError, StoredRow, UpdateBuilder, number};

/// Whose mail the relay does not take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutageScope {
    /// All mail.
    Relay,
    /// That of one account.
    Account(AccountId),
}

impl OutageScope {
    /// As in keys and names of blobs. No account's id is as short as the relay's name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Relay => "relay",
            Self::Account(account) => account.as_str(),
        }
    }

    /// The outage of this name in keys and names of blobs.
    ///
    /// # Errors
    /// When no release writes it.
    pub fn parse(name: &str) -> Result<Self, StoreError> {
        if name == Self::Relay.as_str() {
            return Ok(Self::Relay);
        }
        let account = AccountId::parse(name);
        let account = account.map_err(|e| StoreError::Unreadable(e.to_string()))?;
        Ok(Self::Account(account))
    }

    fn key(&self) -> Key {
        Key::new(PK, self.as_str())
    }
}

const PK: &str = "OUTAGE";

/// How mail fares that waits for the end of an outage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutageWait {
    /// When mail was stored first; `None` once all of it has left and nothing came back, until mail is stored again.
    #[serde(default)]
    pub began: Option<Timestamp>,
    /// When mail was stored last.
    pub stored_at: Timestamp,
    /// When mail was last released to see whether the relay takes it.
    #[serde(default)]
    pub released_at: Option<Timestamp>,
    /// How many jobs that were.
    #[serde(default)]
    pub released: u32,
}

fn outage(
    row: StoredRow<serde_json::Value>,
) -> Result<(OutageScope, StoredRow<OutageWait>), StoreError> {
    let (key, rev) = (row.key, row.rev);
    let value = serde_json::from_value(row.value);
    let value = value.map_err(|e| StoreError::Unreadable(e.to_string()))?;
    Ok((OutageScope::parse(&key.sk)?, StoredRow { key, value, rev }))
}

impl Store {
    /// Notes that mail is stored now.
    pub async fn note_stored(&self, scope: &OutageScope, now: Timestamp) -> Result<(), StoreError> {
        let stored = UpdateBuilder::default()
            .set_once("began", number(now.0))
            .set("stored_at", number(now.0))
            .add("rev", 1);
        self.update(&scope.key(), &stored).await?;
        Ok(())
    }

    /// Notes that so many jobs are released now, unless others were since `before`, the release that was
    /// noted last. Whether it did: of two processes at once, one.
    pub async fn note_release(
        &self,
        scope: &OutageScope,
        before: Option<Timestamp>,
        jobs: u32,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let released = UpdateBuilder::default()
            .set("released_at", number(now.0))
            .set("released", number(jobs))
            .add("rev", 1);
        let released = match before {
            Some(at) => released.condition(
                "attribute_exists(#stored_at) AND #released_at = :before",
                [("before", number(at.0))],
            ),
            None => released.condition(
                "attribute_exists(#stored_at) AND attribute_not_exists(#released_at)",
                [],
            ),
        };
        self.update(&scope.key(), &released).await
    }

    /// All outages that mail waits for, or did a few minutes ago. One whose row cannot be read is logged and
    /// left out: it holds up no other mail.
    pub async fn outages(&self) -> Result<Vec<(OutageScope, StoredRow<OutageWait>)>, StoreError> {
        let rows = self.list(PK, "", &PageQuery::all()).await?;
        let mut outages = Vec::new();
        for row in rows {
            let key = row.key.clone();
            match outage(row) {
                Ok(outage) => outages.push(outage),
                Err(error) => {
                    tracing::error!(error = %error, "mail that waits for an outage ({}) is not released: {error}", key.sk);
                }
            }
        }
        Ok(outages)
    }

    /// Notes that an outage is over, unless mail was stored or released since the row was read: mail that is stored
    /// later waits for another one. Whether it did.
    pub async fn note_outage_over(&self, row: &StoredRow<OutageWait>) -> Result<bool, StoreError> {
        let over = UpdateBuilder::default()
            .remove(["began", "released_at", "released"])
            .add("rev", 1)
            .condition("#rev = :read", [("read", number(row.rev))]);
        self.update(&row.key, &over).await
    }

    /// Forgets an outage, unless mail was stored or released since the row was read. Whether it did.
    pub async fn end_outage(&self, row: &StoredRow<OutageWait>) -> Result<bool, StoreError> {
        Ok(self.delete_if(&row.key, row.rev).await? == Put::Stored)
    }
}
