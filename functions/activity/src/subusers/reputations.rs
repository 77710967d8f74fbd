//! `GET /v3/subusers/reputations`.

use axum::Json;
use axum::extract::State;
use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_http::{Caller, Query, Rejection};
use posthaste_model::Timestamp;
use posthaste_store::{Account, Store};
use serde::Serialize;

use super::stats::AT_ONCE;
use super::{all_subusers, named_subusers};
use crate::App;

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Reputation {
    reputation: f64,
    username: String,
}

/// The subusers named by `usernames` (repeated, or comma-separated), or all of them.
pub(crate) async fn reputations(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<Reputation>>, Rejection> {
    let names = query.all("usernames").flat_map(|text| text.split(','));
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let accounts = if names.is_empty() {
        all_subusers(&app, &caller).await?
    } else {
        named_subusers(&app, &caller, ("usernames", &names)).await?
    };
    let now = app.clock.now();
    let asked: Vec<_> = accounts
        .into_iter()
        .map(|account| of(&app.store, account, now))
        .collect();
    let found = futures_util::stream::iter(asked).buffered(AT_ONCE);
    Ok(Json(found.try_collect().await?))
}

async fn of(store: &Store, account: Account, now: Timestamp) -> Result<Reputation, Rejection> {
    Ok(Reputation {
        reputation: store.reputation(&account.id, now).await?,
        username: account.username,
    })
}
