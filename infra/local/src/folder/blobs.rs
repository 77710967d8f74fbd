//! Whether work that waits names something in the folder of large bodies.
//!
//! Most mail is small and travels in its job. A job names what is too large for that, and received
//! mail; it was stored before the job, so without it accepted mail is lost. What no job names any
//! more is history, without which a host can go on.

use std::io;
use std::path::Path;

use posthaste_model::Timestamp;
use posthaste_queue::{BounceMail, Inbound, Job, JobBody};
use posthaste_store::{Due, DueCursor, DueTarget, Store, StoreError};

use crate::engine::{self, FEEDBACK, INBOUND, SEND};

/// Part of every job that names something.
const NAMES: &str = r#""blob":"#;

/// Later than any work is due, and of ten digits, as keys of the table are.
const LAST: Timestamp = Timestamp(9_999_999_999);

/// Rows read at a time.
const PAGE: usize = 100;

/// Whether a job on a queue of this file, or one that waits in the table for its time or for the
/// release of its batch, names something in the folder.
pub(super) async fn are_named(queues: &Path, store: &Store) -> io::Result<bool> {
    let queued = engine::is_any_waiting(queues, NAMES, names_one);
    if queued.map_err(io::Error::other)? {
        return Ok(true);
    }
    // Mail that waits for the relay is in the folder.
    let outages = store.outages().await.map_err(io::Error::other)?;
    Ok(!outages.is_empty() || is_any_due(store).await.map_err(io::Error::other)?)
}

/// Whether a message of this queue names something. One that cannot be read is of no use anyway.
fn names_one(queue: &str, body: &str) -> bool {
    match queue {
        SEND => Job::from_text(body).is_ok_and(|job| matches!(job.body, JobBody::Blob(_))),
        INBOUND => Inbound::from_text(body).is_ok(),
        FEEDBACK => BounceMail::from_text(body).is_ok(),
        _ => false,
    }
}

async fn is_any_due(store: &Store) -> Result<bool, StoreError> {
    for minute in store.due_minutes(LAST).await? {
        for shard in 0..minute.shards {
            let mut places = vec![DueCursor::default()];
            while let Some(place) = places.pop() {
                let page = store.due_page(&minute, shard, &place, PAGE).await?;
                for row in &page.rows {
                    if names_one_when_due(store, &row.value).await? {
                        return Ok(true);
                    }
                }
                places.extend(page.next.into_iter().chain(page.rest));
            }
        }
    }
    Ok(false)
}

async fn names_one_when_due(store: &Store, due: &Due) -> Result<bool, StoreError> {
    Ok(match due.target {
        DueTarget::Send => names_one(SEND, &due.body),
        DueTarget::Inbound => names_one(INBOUND, &due.body),
        // Every held message has one.
        DueTarget::Expire => {
            let held = store.expired(due).await?;
            held.is_some_and(|held| names_one(SEND, &held.value.job))
        }
        DueTarget::Webhook
        | DueTarget::Release
        | DueTarget::Erase
        | DueTarget::Alert
        | DueTarget::Replay => false,
    })
}
