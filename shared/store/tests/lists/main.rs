//! Suppression lists, unsubscribe groups, visits and counters over an embedded table.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod collisions;
mod counters;
mod expiry;
mod families;
mod fixed;
mod groups;
mod names;
mod owned;
mod posts;
mod rows;
mod suppressions;
mod takeover;
mod templates;
mod visits;

use posthaste_model::{AccountId, Timestamp};
use posthaste_store::Store;
use posthaste_testkit::{Tenant, table};

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000);

pub(crate) async fn new_account() -> (Store, AccountId) {
    let store = table().await;
    let account = Tenant::new(&store, "ann", NOW).await.account;
    (store, account.id)
}
