//! Batch ids: made, and looked up.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Rejection};
use posthaste_model::BatchId;
use posthaste_store::Put;

use crate::wire::Batch;
use crate::{App, fail};

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
    match app.store.batch_exists(caller.id(), &batch, now).await? {
        true => Ok(Json(Batch { batch_id })),
        false => Err(fail::not_valid()),
    }
}
