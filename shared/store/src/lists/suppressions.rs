//! Suppressions: bounces, blocks, invalid addresses, spam reports, unsubscribes.
//!
//! One row per address holds every list it is on, so that a job reads one row per recipient.
//! Beside it each list has a row of the address in the order of time, for paging; both are written
//! in one transaction. Addresses compare as a whole, as [`posthaste_model::EmailAddress::folded`]
//! writes them.

use std::collections::BTreeMap;

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{Store, StoreError};

/// One of the lists of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SuppressionList {
    /// The address itself was refused.
    Bounces,
    /// A mail was refused, not the address: listed, but still mailed (API facts 1, semantics).
    Blocks,
    /// The address cannot exist.
    InvalidEmails,
    SpamReports,
    /// Unsubscribed from everything the account sends.
    Unsubscribes,
    /// Unsubscribed from one group.
    Group(i64),
}

impl SuppressionList {
    /// The name in keys, in rows, and for an operator.
    pub fn name(self) -> String {
        match self {
            Self::Bounces => "bounces".to_owned(),
            Self::Blocks => "blocks".to_owned(),
            Self::InvalidEmails => "invalid_emails".to_owned(),
            Self::SpamReports => "spam_reports".to_owned(),
            Self::Unsubscribes => "unsubscribes".to_owned(),
            Self::Group(id) => format!("group-{id}"),
        }
    }
}

/// When and why an address was listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub at: Timestamp,
    /// What the other server said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The enhanced status code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The source IP of the mail that was complained about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
}

impl Mark {
    /// Listed since then, without further details.
    pub fn at(at: Timestamp) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }
}

/// The lists that one address is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppressed {
    /// The address as it compares.
    pub email: String,
    #[serde(default)]
    pub(super) lists: BTreeMap<String, Mark>,
}

impl Suppressed {
    /// An address on no list.
    pub fn none(folded: &str) -> Self {
        Self {
            email: folded.to_owned(),
            lists: BTreeMap::new(),
        }
    }

    /// The address's mark on a list.
    pub fn on(&self, list: SuppressionList) -> Option<&Mark> {
        self.lists.get(&list.name())
    }

    /// Puts the address on a list. An existing mark that is as late or later stays, so a repeat is
    /// a no-op.
    pub fn put(&mut self, list: SuppressionList, mark: Mark) {
        let name = list.name();
        if self.lists.get(&name).is_none_or(|old| old.at < mark.at) {
            self.lists.insert(name, mark);
        }
    }

    /// Puts the address on a list unless it is on it already.
    pub fn put_once(&mut self, list: SuppressionList, mark: Mark) {
        self.lists.entry(list.name()).or_insert(mark);
    }

    /// Takes the address off a list.
    pub fn take(&mut self, list: SuppressionList) {
        self.lists.remove(&list.name());
    }

    /// Takes the address off up to this many lists.
    pub(super) fn take_some(&mut self, most: usize) {
        for _ in 0..most {
            self.lists.pop_first();
        }
    }

    /// How many lists it is on.
    pub fn count(&self) -> usize {
        self.lists.len()
    }

    /// The unsubscribe groups that the address has left.
    pub fn groups(&self) -> impl Iterator<Item = i64> {
        let names = self.lists.keys();
        names.filter_map(|name| name.strip_prefix("group-")?.parse().ok())
    }
}

impl Store {
    /// The lists of many addresses, in one batched read; addresses on no list are left out.
    pub async fn suppressed_among(
        &self,
        account: &AccountId,
        folded: &[String],
    ) -> Result<Vec<Suppressed>, StoreError> {
        // A key may appear in a batch only once.
        let mut keys: Vec<_> = folded
            .iter()
            .map(|email| Key::suppressed(account, email))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let rows = self.get_many(&keys).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// The lists of one address.
    pub async fn suppressed(
        &self,
        account: &AccountId,
        folded: &str,
    ) -> Result<Suppressed, StoreError> {
        let row = self.get(&Key::suppressed(account, folded)).await?;
        Ok(row.map_or_else(|| Suppressed::none(folded), |row| row.value))
    }
}
