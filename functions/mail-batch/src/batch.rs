//! Batches: their ids, and the messages in them. The list of messages is an extension of the v3 API.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Query, QueryReader, Rejection};
use posthaste_model::BatchId;
use posthaste_store::Put;

use crate::wire::{Batch, BatchEntry, Listing};
use crate::{App, fail};

/// As in the v3 API's other lists.
const MOST: usize = 500;

/// `POST /v3/mail/batch`: opens an empty batch and returns its id. The body is ignored.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
) -> Result<(StatusCode, Json<Batch>), Rejection> {
    let batch = app.entropy.batch_id();
    let created = app
        .store
        .create_batch(caller.id(), &batch, app.clock.now())
        .await?;
    match created {
        Put::Stored => Ok((
            StatusCode::CREATED,
            Json(Batch {
                batch_id: batch.into(),
            }),
        )),
        // 190 random bits: the random source is broken.
        Put::Taken => Err(Rejection::internal(&"a fresh batch id was taken")),
    }
}

/// `GET /v3/mail/batch/{batch_id}`: whether the id is valid.
pub(crate) async fn validate(
    State(app): State<App>,
    caller: Caller,
    PathParams(batch_id): PathParams<String>,
) -> Result<Json<Batch>, Rejection> {
    let batch = BatchId::parse(&batch_id).map_err(|_| fail::not_valid())?;
    let now = app.clock.now();
    if app.store.batch_exists(caller.id(), &batch, now).await? {
        Ok(Json(Batch { batch_id }))
    } else {
        Err(fail::not_valid())
    }
}

/// How many a page has at most, and the place that it begins behind.
pub(crate) fn page(query: &mut QueryReader<'_>, most: usize) -> (usize, Option<String>) {
    let limit = query.limit_within(most, 1..=most);
    // An empty one is that of the first page.
    let place = |text: &str| (text.is_empty() || is_place(text)).then(|| text.to_owned());
    let after = query.parsed("after", place, "after must be the next of a page before");
    (limit, after.filter(|after| !after.is_empty()))
}

/// `<second>#<message id>#<first recipient>`.
fn is_place(text: &str) -> bool {
    let of_an_id = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'-' | b'_');
    text.len() == 39 && text.bytes().all(of_an_id)
}

/// `GET /v3/user/scheduled_sends/{batch_id}/messages`: the messages that are not sent yet, in
/// sending order.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    PathParams(batch_id): PathParams<String>,
    query: Query,
) -> Result<Json<Listing>, Rejection> {
    let (limit, after) = query.checked(|query| page(query, MOST))?;
    let batch = BatchId::parse(&batch_id).map_err(|_| fail::unknown_batch())?;
    if app.store.batch(caller.id(), &batch).await?.is_none() {
        return Err(fail::unknown_batch());
    }
    let now = app.clock.now();
    let hold = app.store.hold_on(caller.id(), &batch, now).await?;
    let held = app.store.entries(caller.id(), &batch, after, limit).await?;
    let messages = held
        .entries
        .into_iter()
        .map(|entry| BatchEntry::new(entry, hold, now));
    Ok(Json(Listing {
        batch_id,
        messages: messages.collect(),
        next: held.next,
    }))
}
