//! Erasure of addresses: `POST /v3/recipients/erasejob`, and `DELETE /v3/messages/recipients/{email}`, an
//! extension for one address. Both start a job ([`posthaste_erasure`]), whose state is at
//! `GET /v3/recipients/erasejob/{job_id}`, an extension too.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection};
use posthaste_model::{EmailAddress, ErasureId, Masked, Problem};
use posthaste_store::{Erasure, ErasureState, MOST_ERASED, StoreError};
use serde::{Deserialize, Serialize};

use crate::App;

/// Seconds for which a repeated `DELETE` is answered that its job has ended.
const ENDED: i64 = 3_600;

/// The body that starts a job.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Recipients {
    email_addresses: Vec<String>,
}

/// The answer to it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Started {
    #[cfg_attr(test, schemars(with = "String"))]
    job_id: ErasureId,
}

/// The state of a job.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ErasureView {
    #[cfg_attr(test, schemars(with = "String"))]
    job_id: ErasureId,
    #[cfg_attr(test, schemars(extend("enum" = ["pending", "running", "waiting", "done"])))]
    status: &'static str,
    message: &'static str,
    /// Rows and bodies that were deleted or changed.
    erased: usize,
    /// Mails to the addresses that have not ended.
    under_way: usize,
    addresses: usize,
    created_at: i64,
    updated_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<i64>,
}

impl ErasureView {
    fn new(erasure: Erasure) -> Self {
        let (status, message) = match erasure.state {
            ErasureState::Pending => ("pending", "The erasure begins within two minutes."),
            ErasureState::Running => ("running", "The table is looked through."),
            ErasureState::Waiting => (
                "waiting",
                "Mails are still under way; what is stored of them is erased when they have ended, at \
                 most six days from now.",
            ),
            ErasureState::Done => ("done", "Nothing is left."),
        };
        Self {
            job_id: erasure.id,
            status,
            message,
            erased: erasure.erased,
            under_way: erasure.under_way,
            addresses: erasure.addresses,
            created_at: erasure.created_at.0,
            updated_at: erasure.updated_at.0,
            finished_at: erasure.finished_at.map(|at| at.0),
        }
    }
}

/// Starts the job of many addresses.
pub(crate) async fn start(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    JsonBody(body): JsonBody<Recipients>,
) -> Result<(StatusCode, Json<Started>), Rejection> {
    const FIELD: &str = "email_addresses";
    let suppressions = query.checked(|query| query.flag("suppressions"))?;
    let given = &body.email_addresses;
    if given.is_empty() || given.len() > MOST_ERASED {
        let message = format!("name at least one address, and at most {MOST_ERASED}");
        return Err(Rejection::on(FIELD, message));
    }
    let mut problems = Vec::new();
    let mut addresses = Vec::with_capacity(given.len());
    for (n, email) in given.iter().enumerate() {
        match EmailAddress::parse_stored(email) {
            Ok(address) => addresses.push(address),
            Err(_) => problems.push(Problem::on(
                format!("{FIELD}.{n}"),
                "the email is not an address",
            )),
        }
    }
    if !problems.is_empty() {
        return Err(Rejection::all(StatusCode::BAD_REQUEST, problems));
    }
    let erasure = begin(&app, &caller, &addresses, suppressions).await;
    let erasure = erasure.map_err(|error| Rejection::unavailable(&error))?;
    let (job_id, addresses) = (erasure.id, erasure.addresses);
    tracing::info!(account.id = %caller.id(), "the erasure {job_id} of {addresses} addresses was requested");
    Ok((StatusCode::ACCEPTED, Json(Started { job_id })))
}

/// Starts the job of one address. 202 with its state; 204 once when it has ended, so that a client that
/// repeats the request until nothing is left comes to an end.
pub(crate) async fn forget(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
    query: Query,
) -> Result<Response, Rejection> {
    let address = EmailAddress::parse_stored(&email);
    let address = address.map_err(|_| Rejection::on("email", "the email is not an address"))?;
    let suppressions = query.checked(|query| query.flag("suppressions"))?;
    let unavailable = |error: StoreError| Rejection::unavailable(&error);
    let addresses = [address];
    let folded = posthaste_erasure::folded(&addresses);
    let since = app.clock.now().plus(-ENDED);
    let ended = app
        .store
        .erasure_ended(caller.id(), &folded, suppressions, since);
    if ended.await.map_err(unavailable)? {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let erasure = begin(&app, &caller, &addresses, suppressions).await;
    let erasure = erasure.map_err(unavailable)?;
    let (who, id) = (Masked(&email), &erasure.id);
    tracing::info!(account.id = %caller.id(), "the erasure {id} of {who} was requested");
    let answer = (StatusCode::ACCEPTED, Json(ErasureView::new(erasure)));
    Ok(answer.into_response())
}

async fn begin(
    app: &App,
    caller: &Caller,
    addresses: &[EmailAddress],
    suppressions: bool,
) -> Result<Erasure, StoreError> {
    let account = caller.id();
    posthaste_erasure::start(&app.store, account, addresses, suppressions, &app.clock).await
}

/// The state of a job.
pub(crate) async fn state(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<ErasureView>, Rejection> {
    let Ok(id) = ErasureId::parse(&id) else {
        return Err(Rejection::not_found());
    };
    let row = app.store.erasure(caller.id(), &id).await;
    let row = row.map_err(|error| Rejection::unavailable(&error))?;
    let row = row.ok_or_else(Rejection::not_found)?;
    Ok(Json(ErasureView::new(row.value)))
}
