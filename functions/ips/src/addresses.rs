//! `/v3/ips…` and `/v3/ips/warmup…`: the addresses themselves, and how far they are warmed up.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection};
use posthaste_mailer::DedicatedIp;
use posthaste_store::ReverseDns;
use serde::{Deserialize, Serialize};

use crate::App;

/// An address as the list and its own path show it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct IpView {
    ip: String,
    /// Subusers that it is assigned to.
    subusers: Vec<String>,
    /// The name that the account gave it; empty for none.
    rdns: String,
    /// Pools of the account that have it.
    pools: Vec<String>,
    warmup: bool,
    /// Null: SES does not say.
    start_date: Option<i64>,
    /// Whether its name led to it at the last look-up.
    whitelabeled: bool,
}

/// An address of the list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListedIp {
    #[serde(flatten)]
    address: IpView,
    /// Null: SES does not say.
    assigned_at: Option<i64>,
}

/// `GET /v3/ips?ip&subuser&limit&offset&sort_by_direction`.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<ListedIp>>, Rejection> {
    let (limit, offset, only, subuser, backwards) = query.checked(|query| {
        (
            query.limit(10, 500),
            query.offset(),
            query.text("ip").map(str::to_owned),
            query.text("subuser").map(str::to_owned),
            query.text("sort_by_direction") == Some("desc"),
        )
    })?;
    let mut views = views(&app, &caller).await?;
    views.retain(|view| only.as_ref().is_none_or(|ip| view.ip == *ip));
    views.retain(|view| {
        subuser
            .as_ref()
            .is_none_or(|name| view.subusers.contains(name))
    });
    if backwards {
        views.reverse();
    }
    let page = views.into_iter().skip(offset).take(limit);
    let listed = page.map(|address| ListedIp {
        address,
        assigned_at: None,
    });
    Ok(Json(listed.collect()))
}

/// `GET /v3/ips/{ip_address}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(ip): PathParams<String>,
) -> Result<Json<IpView>, Rejection> {
    let views = views(&app, &caller).await?;
    let found = views.into_iter().find(|view| view.ip == ip);
    Ok(Json(found.ok_or_else(Rejection::not_found)?))
}

async fn views(app: &App, caller: &Caller) -> Result<Vec<IpView>, Rejection> {
    let dedicated = app.dedicated_of(caller).await?;
    if dedicated.is_empty() {
        return Ok(Vec::new());
    }
    let pools = app.store.ip_pools(caller.id()).await?;
    let names = app.store.reverse_dns(caller.id()).await?;
    let subusers = app.subusers_with(caller).await?;
    let view = |DedicatedIp { ip, warms_up, .. }| {
        let with = subusers.iter().filter(|(_, ips)| ips.contains(&ip));
        let name = names.iter().find(|name| name.ip == ip);
        IpView {
            subusers: with.map(|(name, _)| name.clone()).collect(),
            rdns: name.map(ReverseDns::name).unwrap_or_default(),
            whitelabeled: name.is_some_and(|name| name.valid),
            pools: pools.of(&ip),
            warmup: warms_up,
            start_date: None,
            ip,
        }
    };
    let mut views: Vec<_> = dedicated.into_iter().map(view).collect();
    views.sort_by(|one, other| one.ip.cmp(&other.ip));
    Ok(views)
}

/// An address that mail of the account may leave from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AssignedIp {
    pub(crate) ip: String,
    pub(crate) pools: Vec<String>,
    pub(crate) warmup: bool,
    /// 0: SES does not say.
    pub(crate) start_date: i64,
}

/// `GET /v3/ips/assigned`.
pub(crate) async fn assigned(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Vec<AssignedIp>>, Rejection> {
    let views = views(&app, &caller).await?;
    let assigned = views.into_iter().map(|view| AssignedIp {
        ip: view.ip,
        pools: view.pools,
        warmup: view.warmup,
        start_date: 0,
    });
    Ok(Json(assigned.collect()))
}

/// How many addresses can be added.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RemainingIps {
    results: [Remaining; 1],
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Remaining {
    remaining: u32,
    period: &'static str,
    price_per_ip: f64,
}

/// `GET /v3/ips/remaining`.
pub(crate) async fn remaining() -> Json<RemainingIps> {
    Json(RemainingIps {
        results: [Remaining {
            remaining: 0,
            period: "month",
            price_per_ip: 0.0,
        }],
    })
}

/// `POST /v3/ips`: always refused.
pub(crate) async fn add() -> Rejection {
    let message =
        "addresses are not sold here: the operator leases them of Amazon SES, or of the relay";
    Rejection::plain(StatusCode::FORBIDDEN, message)
}

/// An address that is being warmed up.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WarmingIp {
    ip: String,
    /// 0: SES does not say.
    start_date: i64,
}

impl From<DedicatedIp> for WarmingIp {
    fn from(known: DedicatedIp) -> Self {
        Self {
            ip: known.ip,
            start_date: 0,
        }
    }
}

/// `GET /v3/ips/warmup`.
pub(crate) async fn warming(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Vec<WarmingIp>>, Rejection> {
    let all = app.dedicated_of(&caller).await?;
    let warming = all.into_iter().filter(|known| known.warms_up);
    Ok(Json(warming.map(WarmingIp::from).collect()))
}

/// `GET /v3/ips/warmup/{ip_address}`: a list of one; empty once it is warmed up.
pub(crate) async fn warming_one(
    State(app): State<App>,
    caller: Caller,
    PathParams(ip): PathParams<String>,
) -> Result<Json<Vec<WarmingIp>>, Rejection> {
    let known = app.dedicated_ip(&caller, &ip).await?;
    let warming = Some(known).filter(|known| known.warms_up);
    Ok(Json(warming.map(WarmingIp::from).into_iter().collect()))
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct IpRequest {
    pub(crate) ip: Option<String>,
}

/// `POST /v3/ips/warmup`: what an address that warms up is already, and for any other a refusal.
pub(crate) async fn warm_up(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<IpRequest>,
) -> Result<Json<Vec<WarmingIp>>, Rejection> {
    let ip = body
        .ip
        .ok_or_else(|| Rejection::on("ip", "ip is required"))?;
    let known = app.dedicated_ip(&caller, &ip).await?;
    if !known.warms_up {
        let message =
            "Amazon SES warms an address up by itself when it is leased, and does not begin anew";
        return Err(Rejection::on("ip", message));
    }
    Ok(Json(vec![known.into()]))
}

/// `DELETE /v3/ips/warmup/{ip_address}`: done for an address that is warmed up, and refused for any other.
pub(crate) async fn stop_warming(
    State(app): State<App>,
    caller: Caller,
    PathParams(ip): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    if app.dedicated_ip(&caller, &ip).await?.warms_up {
        let message = "Amazon SES ends the warm-up of an address by itself";
        return Err(Rejection::on("ip_address", message));
    }
    Ok(StatusCode::NO_CONTENT)
}
