//! `GET /v3/categories`: the names that mails of the last 400 days carried.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, Rejection};
use serde::Serialize;

use crate::App;

#[derive(Serialize)]
pub(crate) struct Category {
    category: String,
}

/// The names in order; `category` filters by prefix. Only one order exists, so `sort_by` accepts no
/// other (API facts 1, "Others").
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<Category>>, Rejection> {
    let (limit, offset) = (query.limit(50, 1000)?, query.offset()?);
    if query.text("sort_by").is_some_and(|by| by != "category") {
        return Err(Rejection::on("sort_by", "invalid sort value"));
    }
    let begin = query.text("category").unwrap_or_default();
    let rows = app
        .store
        .day_stats(caller.id(), "0000", "9999-12-31")
        .await?;
    let names = rows.into_iter().map(|row| row.category);
    let names: BTreeSet<String> = names
        .filter(|name| !name.is_empty() && name.starts_with(begin))
        .collect();
    let page = names.into_iter().skip(offset).take(limit);
    Ok(Json(page.map(|category| Category { category }).collect()))
}
