//! Accounts, allow lists, allowances and rate windows over an embedded table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod allow_list;
mod credits;
mod keys;
mod sessions;
mod settings;

use posthaste_model::Timestamp;
use posthaste_store::{Account, Store};
use posthaste_testkit::{Tenant, table};

/// 2027-01-15, a Friday, 08:00 UTC.
pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000);

pub(crate) async fn new_account() -> (Store, Account) {
    let store = table().await;
    let account = Tenant::new(&store, "ann", NOW).await.account;
    (store, account)
}
