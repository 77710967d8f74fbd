//! Requested downloads of search results. A row holds the query alone: the file is written when its
//! link is opened.

use std::fmt;

use posthaste_model::{AccountId, DownloadId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{Range, Store, StoreError, text_of};

/// A download that was requested.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Download {
    /// Which mails the file is about, in the language of the search.
    pub query: String,
    /// Signs the links to the file: random bytes in base64.
    pub secret: String,
    /// When the row expires.
    pub until: Timestamp,
}

/// Without the secret.
impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Download({:?}, until {})", self.query, self.until.0)
    }
}

impl Store {
    /// Stores a download under a new id.
    pub async fn put_download(
        &self,
        account: &AccountId,
        id: &DownloadId,
        download: &Download,
    ) -> Result<(), StoreError> {
        let key = Key::download(account, id);
        self.put(&key, download, Some(download.until)).await
    }

    /// A download that has not expired.
    pub async fn download(
        &self,
        account: &AccountId,
        id: &DownloadId,
    ) -> Result<Option<Download>, StoreError> {
        let row = self.get::<Download>(&Key::download(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Deletes every download of an account, because a query may name an address; returns how many
    /// there were.
    pub async fn forget_downloads(&self, account: &AccountId) -> Result<usize, StoreError> {
        const LOT: usize = 500;
        let pk = Key::account_pk(account);
        let mut range = Range {
            from: Key::downloads().to_owned(),
            to: format!("{}~", Key::downloads()),
            after: None,
        };
        let mut forgotten = 0;
        loop {
            // Also rows whose time is over and that DynamoDB has yet to delete.
            let (items, more) = self.items(&pk, &range, LOT).await?;
            let sks: Vec<String> = items
                .iter()
                .filter_map(|item| text_of(item, "sk"))
                .collect();
            let keys: Vec<Key> = sks.iter().map(|sk| Key::new(&pk, sk)).collect();
            self.delete_many(&keys).await?;
            forgotten += keys.len();
            range.after = sks.last().cloned();
            if !more || range.after.is_none() {
                return Ok(forgotten);
            }
        }
    }
}
