//! The IP allow list: its entries, and the attempts that it permitted or rejected.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use ipnet::IpNet;
use posthaste_http::{AllowList, Caller, ClientIp, JsonBody, PathParams, Query, Rejection};
use posthaste_model::{Problem, Problems};
use posthaste_store::{Allow, AllowedIp, AttemptSummary, Disallow};
use serde::{Deserialize, Serialize};

use crate::{AppState, net};

/// The body of an addition.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Add {
    #[serde(default)]
    pub(crate) ips: Option<Vec<Ip>>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Ip {
    #[serde(default)]
    pub(crate) ip: Option<String>,
}

/// The body of a removal.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Remove {
    #[serde(default)]
    pub(crate) ids: Option<Vec<i64>>,
}

/// Entries, or attempts.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}List"))]
pub(crate) struct EntryList<T> {
    pub(crate) result: Vec<T>,
}

/// One entry of the list.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Rule {
    id: i64,
    ip: String,
    created_at: i64,
    updated_at: i64,
}

impl From<&AllowedIp> for Rule {
    fn from(entry: &AllowedIp) -> Self {
        Self {
            id: entry.id,
            ip: entry.net.to_string(),
            created_at: entry.created_at.0,
            updated_at: entry.updated_at.0,
        }
    }
}

/// Identical attempts, grouped.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AccessAttemptView {
    allowed: bool,
    auth_method: String,
    first_at: i64,
    ip: String,
    last_at: i64,
    /// Always empty: the service has no geolocation data.
    location: &'static str,
}

impl From<AttemptSummary> for AccessAttemptView {
    fn from(attempt: AttemptSummary) -> Self {
        Self {
            allowed: attempt.allowed,
            auth_method: attempt.auth_method,
            first_at: attempt.first_at.0,
            ip: attempt.ip.to_string(),
            last_at: attempt.last_at.0,
            location: "",
        }
    }
}

/// The header that names the address of the caller, for one who is about to change the list.
const CALLER: &str = "x-posthaste-caller-address";

/// Every entry, by id.
pub(crate) async fn list(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<(HeaderMap, Json<EntryList<Rule>>), Rejection> {
    let entries = state.app.store.allowed_ips(caller.id()).await?;
    let result = entries.iter().map(Rule::from).collect();
    let mut headers = HeaderMap::new();
    let address = caller.ip.map(|ip| HeaderValue::from_str(&ip.to_string()));
    if let Some(Ok(address)) = address {
        headers.insert(CALLER, address);
    }
    Ok((headers, Json(EntryList { result })))
}

/// One entry, in a list of one (API facts, section 1, "IP access management").
pub(crate) async fn one(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<EntryList<Rule>>, Rejection> {
    let id: i64 = id.parse().map_err(|_| Rejection::not_found())?;
    let entries = state.app.store.allowed_ips(caller.id()).await?;
    let entry = entries.iter().find(|entry| entry.id == id);
    let result = vec![Rule::from(entry.ok_or_else(Rejection::not_found)?)];
    Ok(Json(EntryList { result }))
}

/// Entries in one request. The list itself has no limit (SPEC, "Limits").
const MOST: usize = 10_000;

const TAKEN: &str = "is on the allow list already";

/// Adds addresses and ranges, all of them or none.
pub(crate) async fn add(
    State(state): State<AppState>,
    caller: Caller,
    ip: ClientIp,
    JsonBody(body): JsonBody<Add>,
) -> Result<(StatusCode, HeaderMap, Json<EntryList<Rule>>), Rejection> {
    let nets = check(body.ips.as_deref().unwrap_or_default())?;
    let now = state.app.clock.now();
    let added = match state.app.store.allow_ips(caller.id(), &nets, now).await? {
        Allow::Added(added) => added,
        Allow::NoAccount => return Err(Rejection::unauthorized()),
        Allow::Taken(twins) => {
            let mut found = Problems::default();
            for i in twins {
                found.add(format!("ips.{i}.ip"), TAKEN);
            }
            return Err(found.into());
        }
    };
    let headers = enforce(&state, &caller, ip).await?;
    tracing::info!(
        account.id = %caller.id(),
        "{} entries added to the allow list of account {}", added.len(), caller.id()
    );
    let result = added.iter().map(Rule::from).collect();
    Ok((StatusCode::CREATED, headers, Json(EntryList { result })))
}

/// Refuses more entries than one request may name.
fn check_count(field: &str, entries: usize) -> Result<(), Rejection> {
    if entries > MOST {
        let message = format!("at most {MOST} entries in one request");
        return Err(Rejection::on(field, message));
    }
    Ok(())
}

/// Every entry as a network.
fn check(ips: &[Ip]) -> Result<Vec<IpNet>, Rejection> {
    if ips.is_empty() {
        return Err(Rejection::on("ips", "missing required argument"));
    }
    check_count("ips", ips.len())?;
    let mut found = Problems::default();
    let mut nets = Vec::with_capacity(ips.len());
    for (i, entry) in ips.iter().enumerate() {
        match net::parse(entry.ip.as_deref().unwrap_or_default()) {
            Ok(net) => nets.push(net),
            Err(invalid) => found.add(format!("ips.{i}.ip"), invalid.to_string()),
        }
    }
    found.into_result()?;
    Ok(nets)
}

/// Removes the entries with these ids, all of them or none.
pub(crate) async fn remove_many(
    State(state): State<AppState>,
    caller: Caller,
    ip: ClientIp,
    JsonBody(body): JsonBody<Remove>,
) -> Result<(StatusCode, HeaderMap), Rejection> {
    let ids = body.ids.unwrap_or_default();
    if ids.is_empty() {
        return Err(Rejection::on("ids", "missing required argument"));
    }
    check_count("ids", ids.len())?;
    remove(&state, &caller, ip, &ids)
        .await
        .map_err(|unknown| match unknown {
            NotRemoved::Failed(rejection) => rejection,
            NotRemoved::Unknown(unknown) => {
                let problem = |i| Problem::on(format!("ids.{i}"), "not found");
                let problems: Vec<_> = unknown.into_iter().map(problem).collect();
                Rejection::unknown_id(problems)
            }
        })
}

/// Removes one entry.
pub(crate) async fn remove_one(
    State(state): State<AppState>,
    caller: Caller,
    ip: ClientIp,
    PathParams(id): PathParams<String>,
) -> Result<(StatusCode, HeaderMap), Rejection> {
    let id = id.parse().map_err(|_| Rejection::not_found())?;
    remove(&state, &caller, ip, &[id])
        .await
        .map_err(|e| match e {
            NotRemoved::Failed(rejection) => rejection,
            NotRemoved::Unknown(_) => Rejection::not_found(),
        })
}

enum NotRemoved {
    /// The ids at these positions are not on the list.
    Unknown(Vec<usize>),
    Failed(Rejection),
}

async fn remove(
    state: &AppState,
    caller: &Caller,
    ip: ClientIp,
    ids: &[i64],
) -> Result<(StatusCode, HeaderMap), NotRemoved> {
    let removed = state.app.store.disallow_ips(caller.id(), ids).await;
    match removed.map_err(|e| NotRemoved::Failed(e.into()))? {
        Disallow::Removed => {}
        Disallow::Unknown(unknown) => return Err(NotRemoved::Unknown(unknown)),
    }
    let headers = enforce(state, caller, ip).await;
    tracing::info!(
        account.id = %caller.id(),
        "{} entries removed from the allow list of account {}", ids.len(), caller.id()
    );
    Ok((StatusCode::NO_CONTENT, headers.map_err(NotRemoved::Failed)?))
}

/// The header that warns a caller whose change locks the caller out. Such a change is allowed
/// (SPEC, "IP restriction").
const HEADER: &str = "x-posthaste-warning";

/// Handles a changed list: this instance enforces it at once, and warns a caller it locks out.
async fn enforce(state: &AppState, caller: &Caller, ip: ClientIp) -> Result<HeaderMap, Rejection> {
    state.gate.forget_account(caller.id());
    let mut headers = HeaderMap::new();
    // A parent acting on behalf of a subuser is checked against its own list.
    if caller.is_on_behalf() {
        return Ok(headers);
    }
    let entries = state.app.store.allowed_ips(caller.id()).await?;
    if let Some(text) = warning(&entries, ip) {
        headers.insert(HEADER, text);
    }
    Ok(headers)
}

fn warning(entries: &[AllowedIp], ip: ClientIp) -> Option<HeaderValue> {
    let list = AllowList::new(entries.iter().map(|entry| entry.net));
    if list.lets_in(ip.0) {
        return None;
    }
    let who =
        ip.0.map_or_else(|| "your address".to_owned(), |ip| ip.to_string());
    let text = format!(
        "{who} is not on the allow list: this account refuses it from now on; \
         the operator's command `posthaste access recover` opens the account again"
    );
    HeaderValue::from_str(&text).ok()
}

/// Attempts to use the account in the last month, latest first: from addresses that the allow list
/// permitted, and from those that it rejected.
pub(crate) async fn attempts(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<EntryList<AccessAttemptView>>, Rejection> {
    let limit = query.checked(|query| query.limit(20, 500))?;
    let now = state.app.clock.now();
    let seen = state.app.store.attempts(caller.id(), now).await?;
    let result = seen
        .into_iter()
        .take(limit)
        .map(AccessAttemptView::from)
        .collect();
    Ok(Json(EntryList { result }))
}
