//! Erases what an account stores of addresses: copies of mails with their events, search rows (also of
//! scheduled mail), events that no webhook took, received mails that were not taken, bodies of large
//! mails, composed mails that are kept; and every requested download, because a query may name an address.
//!
//! The table has no index of addresses, so an erasure scans it, which takes longer than a request may:
//! it is a job. [`start`] stores it with a due row, `schedule-sweep` continues it every minute by an
//! [`Eraser`], in bounded steps, each of which stores where it stopped. A process that dies repeats the
//! step it was in.
//!
//! Mail in progress is skipped: its job holds the address, and would write it again. The erasure waits,
//! and looks at these copies again until they have ended. Suppression list entries stay unless
//! requested, because they keep the person from receiving mail.
//!
//! Data in queues cannot be found; a mark of the erasure applies when it would be stored: events that
//! wait for a webhook do not become dead letters, and scheduled mail is sent, but its rows are stored
//! no longer than its jobs (six days). The mark holds no address, and expires after eight days.

mod eraser;
mod other_store;
mod undelivered;

use std::collections::BTreeSet;

use posthaste_model::{AccountId, Clock, EmailAddress};
use posthaste_store::{Erasure, Store, StoreError};

pub use eraser::Eraser;
pub use other_store::OtherStore;

/// Starts the job that erases these addresses of an account, at most
/// [`MOST_ERASED`](posthaste_store::MOST_ERASED).
///
/// The same addresses have one job, however often it is started. With `suppressions` they leave the suppression lists too.
pub async fn start(
    store: &Store,
    account: &AccountId,
    addresses: &[EmailAddress],
    suppressions: bool,
    clock: &Clock,
) -> Result<Erasure, StoreError> {
    let erasure = store
        .start_erasure(account, &folded(addresses), suppressions, clock.now())
        .await?;
    // Also of a job that was there: the process that stored it may have died before its due row.
    store.put_due(&[eraser::due_row(&erasure)], clock).await?;
    Ok(erasure)
}

/// The addresses as they compare.
pub fn folded(addresses: &[EmailAddress]) -> BTreeSet<String> {
    addresses.iter().map(EmailAddress::folded).collect()
}
