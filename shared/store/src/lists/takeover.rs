//! Many entries of lists at once, as an import brings them.

use std::collections::{BTreeMap, HashMap};

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::{AccountId, cut};

use super::suppressions::{Mark, Suppressed, SuppressionList};
use crate::key::Key;
use crate::table::largest::REASON;
use crate::table::{Store, StoreError, Transact, Write};

/// Steps of a transaction, of which DynamoDB takes 100.
const STEPS: usize = 100;

/// How many transactions are under way.
const AT_ONCE: usize = 4;

/// Bytes of a status code and of an IP address that an entry holds.
const DETAIL: usize = 64;

/// An address of a list, as it was listed elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The address as it compares.
    pub folded: String,
    pub list: SuppressionList,
    pub mark: Mark,
}

/// The changes of some addresses, which fit into one transaction.
#[derive(Default)]
struct Lot {
    steps: Vec<Write>,
    counts: BTreeMap<String, i64>,
    entries: Vec<ListEntry>,
    addresses: usize,
}

impl Store {
    /// Puts addresses on lists, some fifty in a transaction; returns how many were not on them as late as their
    /// entries say. A repeat of the same entries is a no-op. A change of an address by another caller at the same time
    /// is not lost.
    ///
    /// # Errors
    /// When the table fails; then some may be missing, and a repeat adds them.
    pub async fn suppress_many(
        &self,
        account: &AccountId,
        entries: Vec<ListEntry>,
    ) -> Result<usize, StoreError> {
        let mut by_address: BTreeMap<String, Vec<ListEntry>> = BTreeMap::new();
        for entry in entries {
            let of_address = by_address.entry(entry.folded.clone()).or_default();
            of_address.push(bounded(entry));
        }
        let keys: Vec<Key> = by_address
            .keys()
            .map(|folded| Key::suppressed(account, folded))
            .collect();
        let rows = self.get_many::<Suppressed>(&keys).await?;
        let mut rows: HashMap<String, (Suppressed, u64)> = rows
            .into_iter()
            .map(|row| (row.value.email.clone(), (row.value, row.rev)))
            .collect();
        let (mut lots, mut lot, mut added) = (Vec::new(), Lot::default(), 0);
        for (folded, entries) in by_address {
            let (old, rev) = match rows.remove(&folded) {
                None => (Suppressed::none(&folded), None),
                Some((row, rev)) => (row, Some(rev)),
            };
            let mut new = old.clone();
            for entry in &entries {
                let before = new.on(entry.list).cloned();
                new.put(entry.list, entry.mark.clone());
                added += usize::from(new.on(entry.list) != before.as_ref());
            }
            if new == old {
                continue;
            }
            let key = Key::suppressed(account, &folded);
            let mut steps = vec![match rev {
                None => self.write_new(&key, &new, None)?,
                Some(rev) => self.write_unchanged(&key, &new, rev)?,
            }];
            let (listed, counts) = self.listing(account, &old, &new)?;
            steps.extend(listed);
            if lot.steps.len() + lot.counts.len() + steps.len() + counts.len() > STEPS {
                lots.push(std::mem::take(&mut lot));
            }
            lot.steps.extend(steps);
            for (group, by) in counts {
                *lot.counts.entry(group).or_default() += by;
            }
            lot.entries.extend(entries);
            lot.addresses += 1;
        }
        lots.push(lot);
        let lots = lots.into_iter().filter(|lot| lot.addresses > 0);
        futures_util::stream::iter(lots.map(|lot| self.put_lot(account, lot)))
            .buffer_unordered(AT_ONCE)
            .try_for_each(|()| async { Ok(()) })
            .await?;
        Ok(added)
    }

    /// Writes a lot at once; address by address, where another caller changed one meanwhile or the lot does not fit.
    async fn put_lot(&self, account: &AccountId, lot: Lot) -> Result<(), StoreError> {
        let mut steps = lot.steps;
        if steps.len() + lot.counts.len() <= STEPS {
            for (group, by) in &lot.counts {
                steps.push(self.write_give_many(&Key::count(account, group), -by)?);
            }
            match self.transact(steps).await {
                Ok(Transact::Done) => return Ok(()),
                Ok(Transact::Refused(_)) | Err(StoreError::Contended(_)) => {}
                Err(error) => return Err(error),
            }
        }
        for entry in lot.entries {
            self.change_suppressed(account, &entry.folded, |lists| {
                lists.put(entry.list, entry.mark.clone());
            })
            .await?;
        }
        Ok(())
    }
}

/// The entry with texts of the length that a row holds.
fn bounded(entry: ListEntry) -> ListEntry {
    let part = |text: Option<String>, most: usize| {
        let text = text.filter(|text| !text.is_empty());
        text.map(|text| cut(&text, most).to_owned())
    };
    let Mark {
        at,
        reason,
        status,
        ip,
    } = entry.mark;
    let mark = Mark {
        at,
        reason: part(reason, REASON),
        status: part(status, DETAIL),
        ip: part(ip, DETAIL),
    };
    ListEntry { mark, ..entry }
}
