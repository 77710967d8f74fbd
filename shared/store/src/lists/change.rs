//! Adds addresses to lists and removes them.

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::AccountId;

use super::pages::{DateWindow, SuppressedAddress};
use super::suppressions::{Mark, Suppressed, SuppressionList};
use crate::key::Key;
use crate::table::{Store, StoreError, Transact, Write};

/// How many addresses of a list are changed concurrently.
const AT_ONCE: usize = 16;

/// The name of a group, and by how many its count changes.
pub(super) type CountChange = (String, i64);

impl Store {
    /// Changes the lists of one address, all or nothing; `change` may run several times. Returns
    /// what they were before.
    pub async fn change_suppressed(
        &self,
        account: &AccountId,
        folded: &str,
        mut change: impl FnMut(&mut Suppressed),
    ) -> Result<Suppressed, StoreError> {
        let key = Key::suppressed(account, folded);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let row = self.get::<Suppressed>(&key).await?;
            let (old, rev) = match row {
                None => (Suppressed::none(folded), None),
                Some(row) => (row.value, Some(row.rev)),
            };
            let mut new = old.clone();
            change(&mut new);
            if new == old {
                return Ok(old);
            }
            let mut steps = vec![match rev {
                None => self.write_new(&key, &new, None)?,
                Some(rev) if new.lists.is_empty() => self.write_delete_unchanged(&key, rev)?,
                Some(rev) => self.write_unchanged(&key, &new, rev)?,
            }];
            let (rows, counts) = self.listing(account, &old, &new)?;
            steps.extend(rows);
            for (group, by) in counts {
                steps.push(self.write_give_many(&Key::count(account, &group), -by)?);
            }
            if self.transact(steps).await? == Transact::Done {
                return Ok(old);
            }
        }
        Err(StoreError::Contended(format!(
            "the lists of an address of account {account}"
        )))
    }

    /// The effect of the change on the rows in the order of time, and on the count of each group, by its name.
    pub(super) fn listing(
        &self,
        account: &AccountId,
        old: &Suppressed,
        new: &Suppressed,
    ) -> Result<(Vec<Write>, Vec<CountChange>), StoreError> {
        let (mut steps, mut counts) = (Vec::new(), Vec::new());
        let is_group = |name: &String| name.starts_with("group-");
        let gone = |name: &String, mark: &Mark, among: &Suppressed| {
            among
                .lists
                .get(name)
                .is_none_or(|other| other.at != mark.at)
        };
        for (name, mark) in &old.lists {
            if gone(name, mark, new) {
                let key = Key::suppression(account, name, mark.at, &old.email);
                steps.push(self.write_absent(&key)?);
            }
            if is_group(name) && !new.lists.contains_key(name) {
                counts.push((name.clone(), -1));
            }
        }
        for (name, mark) in &new.lists {
            if old.lists.get(name) != Some(mark) {
                let key = Key::suppression(account, name, mark.at, &new.email);
                let listed = SuppressedAddress {
                    email: new.email.clone(),
                    mark: mark.clone(),
                };
                steps.push(self.write(&key, &listed, None)?);
            }
            if is_group(name) && !old.lists.contains_key(name) {
                counts.push((name.clone(), 1));
            }
        }
        Ok((steps, counts))
    }

    /// Puts addresses on a list, where they are not on it already.
    ///
    /// # Errors
    /// When the table fails; then some of them may be on it.
    pub async fn suppress_all(
        &self,
        account: &AccountId,
        folded: &[String],
        list: SuppressionList,
        mark: &Mark,
    ) -> Result<(), StoreError> {
        self.change_all(account, folded, |lists| lists.put_once(list, mark.clone()))
            .await
    }

    /// Takes addresses off a list.
    ///
    /// # Errors
    /// When the table fails; then some of them may be off it.
    pub async fn unsuppress_all(
        &self,
        account: &AccountId,
        folded: &[String],
        list: SuppressionList,
    ) -> Result<(), StoreError> {
        self.change_all(account, folded, |lists| lists.take(list))
            .await
    }

    /// Takes an address off every list and group; returns how many lists that were.
    ///
    /// # Errors
    /// When the table fails; then it may be off some of them, and a repeated call resumes.
    pub async fn unsuppress_everywhere(
        &self,
        account: &AccountId,
        folded: &str,
    ) -> Result<usize, StoreError> {
        // A list takes two steps of a transaction, of which it has at most 100.
        const LOT: usize = 40;
        let mut count = 0;
        loop {
            let before = self.change_suppressed(account, folded, |lists| lists.take_some(LOT));
            let before = before.await?.count();
            count += before.min(LOT);
            if before <= LOT {
                return Ok(count);
            }
        }
    }

    async fn change_all(
        &self,
        account: &AccountId,
        folded: &[String],
        change: impl Fn(&mut Suppressed),
    ) -> Result<(), StoreError> {
        let changes: Vec<_> = folded
            .iter()
            .map(|email| self.change_suppressed(account, email, &change))
            .collect();
        futures_util::stream::iter(changes)
            .buffer_unordered(AT_ONCE)
            .try_for_each(|_| async { Ok(()) })
            .await
    }

    /// Takes every address off a list, in lots. A list of a million takes longer than a function
    /// may run; a repeated call resumes.
    ///
    /// # Errors
    /// When the table fails; then some of them may be off it.
    pub async fn clear_list(
        &self,
        account: &AccountId,
        list: SuppressionList,
    ) -> Result<(), StoreError> {
        const LOT: usize = 500;
        loop {
            let lot = self
                .list_page(account, list, &DateWindow::first(LOT), |_| true)
                .await?;
            if lot.is_empty() {
                return Ok(());
            }
            let emails: Vec<String> = lot.into_iter().map(|listed| listed.email).collect();
            self.unsuppress_all(account, &emails, list).await?;
        }
    }
}
