//! Contact data of an account, which its owner sets and reads; no mail depends on it.

use posthaste_model::AccountId;
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{RowChange, Store, StoreError};

/// The contact data of an account; each text is empty until it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    pub address: String,
    pub address2: String,
    pub city: String,
    pub company: String,
    pub country: String,
    pub first_name: String,
    pub last_name: String,
    pub phone: String,
    pub state: String,
    pub website: String,
    pub zip: String,
    /// The name of a time zone (`Europe/Berlin`); empty for UTC.
    pub timezone: String,
}

impl Store {
    /// The contact data of an account.
    pub async fn profile(&self, account: &AccountId) -> Result<Profile, StoreError> {
        let row = self.get(&Key::profile(account)).await?;
        Ok(row.map(|row| row.value).unwrap_or_default())
    }

    /// Changes contact data; `change` may run several times, each time on what it is then. The
    /// contact data as it is now.
    pub async fn change_profile(
        &self,
        account: &AccountId,
        mut change: impl FnMut(&mut Profile),
    ) -> Result<Profile, StoreError> {
        let changed = self
            .modify(&Key::profile(account), None, |old: Option<&Profile>| {
                let mut profile = old.cloned().unwrap_or_default();
                change(&mut profile);
                Ok::<_, StoreError>(RowChange::Put(profile))
            })
            .await?;
        Ok(changed.unwrap_or_default())
    }
}
