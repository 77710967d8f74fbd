//! `GET /v3/user/scheduled_sends/messages`: the scheduled mails of the account that have not left. An extension: the v3
//! API has only batches, and lists those with a status alone.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::State;
use futures_util::future::try_join_all;
use posthaste_http::{Caller, Query, Rejection};
use posthaste_model::batch::{Hold, PartStage};
use posthaste_model::{AccountId, MessageId};
use posthaste_store::{ScheduledPart, StoreError, WaitingCopies};

use crate::batch::page;
use crate::wire::{WaitingEntry, WaitingList};
use crate::{App, fail};

const MOST: usize = 100;

/// Rows that one answer looks at. Those of mails that left are stored for ten days, and are not shown.
const EXAMINED: usize = 2_000;

/// Parts of an answer, each named by its message and its first recipient.
type PartName = (MessageId, u32);

/// The mails that wait, the latest accepted first.
///
/// Recipients and subjects are those of the activity, and shown to keys that may read that.
///
/// # Errors
/// 400 where the deployment lists no mails that wait.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<WaitingList>, Rejection> {
    let (limit, after) = query.checked(|query| page(query, MOST))?;
    if !app.searches {
        return Err(fail::not_listed());
    }
    let now = app.clock.now();
    let reads_activity = ["messages.read", "email_activity.read"];
    let is_shown = reads_activity.iter().any(|scope| caller.key.holds(scope));
    let (rows, next) = waiting(&app, caller.id(), after, limit).await?;
    let parts = parts(&app, caller.id(), &rows).await?;
    let holds: BTreeMap<String, Hold> = app
        .store
        .holds(caller.id(), now)
        .await?
        .into_iter()
        .collect();
    let mut seen = BTreeSet::new();
    let mut messages = Vec::new();
    for row in &rows {
        let name = (row.message.clone(), row.piece);
        // A part has several rows when one does not hold its recipients.
        let Some(part) = parts.get(&name).filter(|_| seen.insert(name.clone())) else {
            continue;
        };
        let hold = part
            .batch
            .as_ref()
            .and_then(|batch| holds.get(batch.as_str()));
        let details = row.each().next().filter(|_| is_shown);
        messages.push(WaitingEntry::new(
            part,
            row.accepted_at,
            hold.copied(),
            now,
            details,
        ));
    }
    Ok(Json(WaitingList { messages, next }))
}

/// The first `limit` rows of what waits, and where to continue. Of many rows of mails that left there may be fewer,
/// and none.
async fn waiting(
    app: &App,
    account: &AccountId,
    mut after: Option<String>,
    limit: usize,
) -> Result<(Vec<WaitingCopies>, Option<String>), StoreError> {
    let (mut rows, mut examined) = (Vec::new(), 0);
    while examined < EXAMINED {
        let lot = limit - rows.len();
        let page = app.store.waiting(account, None, after.take(), lot).await?;
        examined += lot;
        rows.extend(page.rows);
        after = page.next;
        if after.is_none() || rows.len() == limit {
            break;
        }
    }
    Ok((rows, after))
}

/// The parts of these rows that wait: the row of a part says when it leaves.
async fn parts(
    app: &App,
    account: &AccountId,
    rows: &[WaitingCopies],
) -> Result<BTreeMap<PartName, ScheduledPart>, StoreError> {
    let messages: BTreeSet<&MessageId> = rows.iter().map(|row| &row.message).collect();
    let reads = messages
        .into_iter()
        .map(|message| app.store.pieces(account, message));
    let parts = try_join_all(reads).await?.into_iter().flatten();
    let waiting = parts.filter(|row| row.value.stage == PartStage::Waiting);
    let named = waiting.map(|row| ((row.value.message.clone(), row.value.first), row.value));
    Ok(named.collect())
}
