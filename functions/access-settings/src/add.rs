//! `POST /v3/access_settings/whitelist`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use ipnet::IpNet;
use posthaste_http::{Caller, ClientIp, JsonBody, Rejection};
use posthaste_model::Problems;
use posthaste_store::Allow;

use crate::wire::{Add, EntryList, Ip, Rule};
use crate::{AppState, lockout, net};

/// Entries in one request. The list itself has no limit (SPEC, "Limits").
const MOST: usize = 10_000;

const TAKEN: &str = "is on the allow list already";

/// Adds addresses and ranges, all of them or none.
pub(crate) async fn add(
    State(desk): State<AppState>,
    caller: Caller,
    ip: ClientIp,
    JsonBody(body): JsonBody<Add>,
) -> Result<(StatusCode, HeaderMap, Json<EntryList<Rule>>), Rejection> {
    let nets = check(body.ips.as_deref().unwrap_or_default())?;
    let now = desk.app.clock.now();
    let added = match desk.app.store.allow_ips(caller.id(), &nets, now).await? {
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
    let headers = lockout::changed(&desk, &caller, ip).await?;
    tracing::info!(
        account.id = %caller.id(),
        "{} entries added to the allow list of account {}", added.len(), caller.id()
    );
    let result = added.iter().map(Rule::from).collect();
    Ok((StatusCode::CREATED, headers, Json(EntryList { result })))
}

/// Every entry as a network.
fn check(ips: &[Ip]) -> Result<Vec<IpNet>, Rejection> {
    if ips.is_empty() {
        return Err(Rejection::on("ips", "missing required argument"));
    }
    if ips.len() > MOST {
        let message = format!("at most {MOST} entries in one request");
        return Err(Rejection::on("ips", message));
    }
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
