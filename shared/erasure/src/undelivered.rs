//! What was not delivered and holds an address: events that no webhook took, and received mails that
//! were not taken; and recorded posts to webhooks. Each step takes a page, and returns where the next one begins.

use std::collections::BTreeSet;

use posthaste_blob::Blob;
use posthaste_model::{AccountId, EmailAddress};
use posthaste_queue::{Inbound, WebhookRetry};
use posthaste_runtime::WorkError;
use posthaste_store::{DeadLetter, DeadLetterFilter, Erasure, Store, StoredRow, WebhookPost};

/// Rows of one step.
const ROWS: usize = 100;

/// Removes events of the addresses from dead letters.
pub(crate) async fn events(
    store: &Store,
    erasure: &mut Erasure,
    addresses: &BTreeSet<String>,
    after: Option<String>,
) -> Result<Option<String>, WorkError> {
    let wanted = DeadLetterFilter {
        limit: ROWS,
        after,
        ..DeadLetterFilter::default()
    };
    let rows = store.dead_letters(&erasure.account, &wanted).await?;
    for row in &rows {
        erasure.erased += usize::from(letter(store, row, addresses).await?);
    }
    Ok(rows.last().map(|row| row.key.sk.clone()))
}

/// Whether the letter held an event of the addresses.
async fn letter(
    store: &Store,
    row: &StoredRow<DeadLetter>,
    addresses: &BTreeSet<String>,
) -> Result<bool, WorkError> {
    let letter = &row.value;
    let mut inside = WebhookRetry::from_text(&letter.message)?;
    let before = inside.events.len();
    inside
        .events
        .retain(|event| !is_of(addresses, &event.email));
    if inside.events.len() == before {
        return Ok(false);
    }
    // The new ones first: a failure in between leaves the old one for the next run.
    for message in inside.to_texts()? {
        let part = WebhookRetry::from_text(&message)?;
        let rest = DeadLetter {
            events: u32::try_from(part.events.len()).unwrap_or(u32::MAX),
            message,
            ..letter.clone()
        };
        store.rebury(&row.key, &rest).await?;
    }
    store
        .delete_dead_letters(std::slice::from_ref(&row.key))
        .await?;
    Ok(true)
}

/// Erases recorded posts to webhooks that hold an event of the addresses, of which a webhook has some hundred
/// at most; returns how many.
pub(crate) async fn posts(
    store: &Store,
    account: &AccountId,
    addresses: &BTreeSet<String>,
) -> Result<usize, WorkError> {
    let holds = |post: &WebhookPost| match WebhookRetry::from_text(&post.message) {
        Ok(inside) => inside
            .events
            .iter()
            .any(|event| is_of(addresses, &event.email)),
        Err(_) => true,
    };
    Ok(store.erase_posts(account, holds).await?)
}

/// Erases received mails in the dead letters, from the addresses or to them.
pub(crate) async fn received(
    store: &Store,
    blob: &Blob,
    erasure: &mut Erasure,
    addresses: &BTreeSet<String>,
    after: Option<String>,
) -> Result<Option<String>, WorkError> {
    let rows = store.lost_mails(&erasure.account, after, ROWS).await?;
    let after = rows.last().map(|row| row.key.sk.clone());
    for row in rows {
        let Ok(job) = Inbound::from_text(&row.value.job) else {
            continue;
        };
        if is_of(addresses, &job.from) || is_of(addresses, &job.to) {
            let last = !job.shared || store.release_raw(&job.blob, &job.id).await?;
            if last {
                blob.delete(&job.blob).await?;
            }
            store.forget_lost_mail(&row).await?;
            erasure.erased += 1;
        }
    }
    Ok(after)
}

fn is_of(addresses: &BTreeSet<String>, text: &str) -> bool {
    EmailAddress::parse_stored(text).is_ok_and(|email| addresses.contains(&email.folded()))
}
