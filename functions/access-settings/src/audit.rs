//! The audit log: who changed what, from the console or the API, latest first.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use posthaste_http::{Caller, Query, Rejection, RequestUrl};
use posthaste_model::Timestamp;
use posthaste_store::{AuditEntry, AuditPage, AuditWindow, ChangedBy};
use serde::Serialize;

use crate::AppState;
use crate::allow_list::EntryList;

/// Entries of a page, unless a limit says otherwise; and at most.
const FEW: usize = 50;
const MOST: usize = 500;

/// What made a change.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum Changer {
    ApiKey,
    /// A session of the console.
    Session,
    /// A command of the operator.
    Operator,
}

/// One change.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AuditEntryView {
    /// In seconds.
    at: i64,
    method: String,
    /// The path of the call, in which addresses are masked.
    path: String,
    status: u16,
    /// The id or name of what was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    changed_by: Changer,
    /// The name of the key.
    name: String,
    /// The key that called, or that the session was opened with.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_id: Option<String>,
    /// The account of the key, where it acted on behalf of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    acting_account_id: Option<String>,
    /// Empty where the service does not know it.
    ip: String,
}

impl From<AuditEntry> for AuditEntryView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            at: entry.at.seconds().0,
            method: entry.method,
            path: entry.path,
            status: entry.status,
            created: entry.created,
            changed_by: match entry.by {
                ChangedBy::ApiKey => Changer::ApiKey,
                ChangedBy::Session => Changer::Session,
                ChangedBy::Operator => Changer::Operator,
            },
            name: entry.name,
            api_key_id: entry.key,
            acting_account_id: entry.acting_account,
            ip: entry.ip.map(|ip| ip.to_string()).unwrap_or_default(),
        }
    }
}

/// A page of the log.
pub(crate) async fn page(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
    url: RequestUrl,
) -> Result<(HeaderMap, Json<EntryList<AuditEntryView>>), Rejection> {
    let time = |seconds: u64| Timestamp(i64::try_from(seconds).unwrap_or(i64::MAX));
    let window = query.checked(|read| {
        let place = |text: &str| AuditPage::is_place(text).then(|| text.to_owned());
        AuditWindow {
            from: read.number("start_time").map(time),
            to: read.number("end_time").map(time),
            limit: read.limit(FEW, MOST),
            after: read.parsed(
                "after",
                place,
                "after must be the place that a page ends with",
            ),
        }
    })?;
    let page = state.app.store.audit_page(caller.id(), &window).await?;
    let links = url.next_link(&query, page.next.as_deref());
    let result = page.entries.into_iter().map(AuditEntryView::from).collect();
    Ok((links, Json(EntryList { result })))
}
