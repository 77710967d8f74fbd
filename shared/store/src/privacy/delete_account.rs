//! Deletion of an account and everything it owns.
//!
//! Rows under the account's own id that expire by themselves (copies of mails, search rows, marks
//! of batches) are left to expire; no lookup reaches them any more.

use posthaste_model::AccountId;

use crate::access::Account;
use crate::key::{Key, SPREAD};
use crate::lists::SuppressionList;
use crate::stats::{bounces_pk, day_pk};
use crate::table::{Store, StoreError};

/// The lists that every account has.
const LISTS: [SuppressionList; 5] = [
    SuppressionList::Bounces,
    SuppressionList::Blocks,
    SuppressionList::InvalidEmails,
    SuppressionList::SpamReports,
    SuppressionList::Unsubscribes,
];

impl Store {
    /// Deletes an account: first its keys, so that no request can act for it, then what it holds
    /// elsewhere (hostnames for received mail, domains lent to it), then its rows, and the account
    /// itself last. A repeat after a failure resumes where it stopped.
    pub async fn delete_account(&self, account: &Account) -> Result<(), StoreError> {
        self.empty_account(account).await?;
        let mut steps = vec![
            self.write_absent(&Key::account_entry(&account.id))?,
            self.write_absent(&Key::account(&account.id))?,
        ];
        if let Some(name) = account.name_under_parent() {
            steps.push(self.write_absent(&name)?);
        }
        let _done = self.transact(steps).await?;
        // Rows written during the deletion.
        self.empty_account(account).await
    }

    async fn empty_account(&self, account: &Account) -> Result<(), StoreError> {
        let id = &account.id;
        let by_id = self.keys(id).await?;
        let by_id: Vec<_> = by_id
            .iter()
            .map(|key| Key::api_key_by_id(&key.id))
            .collect();
        self.delete_many(&by_id).await?;
        for setting in self.parse_settings(id).await? {
            self.delete_parse(id, &setting.hostname).await?;
        }
        for domain in self.borrowed_domains(id).await? {
            self.take_domain_back(&domain.account, domain.id, id)
                .await?;
        }
        self.forget_lists(id).await?;
        for part in 0..SPREAD {
            let kept = self.row_keys(&Key::kept_pk(id, part)).await?;
            self.delete_many(&kept).await?;
        }
        let own = Key::account(id);
        for pk in [
            Key::account_pk(id),
            Key::attempts_pk(id),
            Key::audit_pk(id),
            Key::dead_letters_pk(id),
            Key::posts_pk(id),
            Key::received_pk(id),
            Key::lost_mails_pk(id),
            day_pk(id),
            bounces_pk(id),
        ] {
            let rows = self.row_keys(&pk).await?;
            let rest: Vec<_> = rows.into_iter().filter(|key| *key != own).collect();
            self.delete_many(&rest).await?;
        }
        Ok(())
    }

    /// Deletes the account's suppression lists, each address before its place in the list: the
    /// places are how the addresses are found.
    async fn forget_lists(&self, account: &AccountId) -> Result<(), StoreError> {
        let groups = self.groups(account).await?;
        let groups = groups.iter().map(|group| SuppressionList::Group(group.id));
        for list in LISTS.into_iter().chain(groups) {
            for part in 0..SPREAD {
                let pk = Key::suppressions_pk(account, &list.name(), part);
                let places = self.row_keys(&pk).await?;
                let addresses = places.iter().filter_map(|place| place.sk.split_once('#'));
                let mut addresses: Vec<_> = addresses
                    .map(|(_, address)| Key::suppressed(account, address))
                    .collect();
                // A key may appear in a batch only once.
                addresses.sort_unstable();
                addresses.dedup();
                self.delete_many(&addresses).await?;
                self.delete_many(&places).await?;
            }
        }
        Ok(())
    }
}
