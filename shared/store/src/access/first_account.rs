//! Which account a local host created for its developer, so that one that was deleted, or whose key
//! was revoked, is not created again.

use posthaste_model::{AccountId, Timestamp};

use super::accounts::{Account, AccountName};
use super::api_keys::ApiKey;
use super::sessions::ConsoleToken;
use crate::key::Key;
use crate::table::{Store, StoreError, Transact};

impl Store {
    /// The account that the host created first; its own row may be gone.
    pub async fn first_account(&self) -> Result<Option<AccountId>, StoreError> {
        let row = self.get::<AccountName>(&Key::first_account()).await?;
        Ok(row.map(|row| row.value.id))
    }

    /// Records which account that is, for a table of an earlier release.
    pub async fn set_first_account(&self, id: &AccountId) -> Result<(), StoreError> {
        let named = AccountName { id: id.clone() };
        self.put(&Key::first_account(), &named, None).await
    }

    /// Writes the first account, its key, the record of it, and perhaps a link into the console, all or
    /// nothing: a crash leaves no account without a key. `false` when the id of the account, of the key or of
    /// the link is taken.
    pub async fn create_first_account(
        &self,
        account: &Account,
        key: &ApiKey,
        link: Option<(&ConsoleToken, Timestamp)>,
    ) -> Result<bool, StoreError> {
        let noted = Key::first_account();
        let mut steps = self.steps_of_account(account)?;
        steps.extend(self.steps_of_key(key, 1)?);
        if let Some((token, until)) = link {
            steps.push(self.step_of_link(token, until)?);
        }
        // A deleted account is no longer recorded.
        let named = AccountName {
            id: account.id.clone(),
        };
        let rev = self.get::<AccountName>(&noted).await?.map(|row| row.rev);
        steps.push(match rev {
            None => self.write_new(&noted, &named, None)?,
            Some(rev) => self.write_unchanged(&noted, &named, rev)?,
        });
        Ok(self.transact(steps).await? == Transact::Done)
    }
}
