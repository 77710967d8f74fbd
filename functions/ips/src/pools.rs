//! `/v3/ips/pools…`: names for groups of addresses, by one of which a mail says how it is to leave.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Access, Caller, JsonBody, PathParams, Rejection, Routes};
use posthaste_store::{IpPools, MOST_IP_POOLS, MOST_IPS_IN_POOLS};
use serde::{Deserialize, Serialize};

use crate::App;
use crate::addresses::{AssignedIp, IpRequest};

/// The routes, each with its scope.
pub(crate) fn routes(routes: Routes<App>) -> Routes<App> {
    const ALL: &str = "/v3/ips/pools";
    const ONE: &str = "/v3/ips/pools/{pool_name}";
    const IPS: &str = "/v3/ips/pools/{pool_name}/ips";
    const IP: &str = "/v3/ips/pools/{pool_name}/ips/{ip}";
    let scope = Access::Scope;
    let read = scope("ips.pools.read");
    routes
        .at(Method::POST, ALL, scope("ips.pools.create"), create)
        .at(Method::GET, ALL, read, list)
        .at(Method::GET, ONE, read, one)
        .at(Method::PUT, ONE, scope("ips.pools.update"), rename)
        .at(Method::DELETE, ONE, scope("ips.pools.delete"), delete)
        .at(Method::POST, IPS, scope("ips.pools.ips.create"), add_ip)
        .at(Method::DELETE, IP, scope("ips.pools.ips.delete"), remove_ip)
}

/// The name of a pool.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PoolName {
    name: String,
}

/// A pool.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PoolView {
    pool_name: String,
    ips: Vec<String>,
}

/// The body that names a pool.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PoolRequest {
    name: Option<String>,
}

impl PoolRequest {
    /// As `ip_pool_name` of a mail names it: 2 to 64 characters, in a form that API Gateway passes on in a path.
    fn name(self) -> Result<String, Rejection> {
        let name = self.name.unwrap_or_default().trim().to_owned();
        if !(2..=64).contains(&name.chars().count()) {
            let message = "name must be 2 to 64 characters long";
            return Err(Rejection::on("name", message));
        }
        if name == ".." || name.contains(|c: char| c.is_control() || "/\\?#%".contains(c)) {
            let message = "name must hold none of / \\ ? # %, and no control character";
            return Err(Rejection::on("name", message));
        }
        Ok(name)
    }
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<PoolRequest>,
) -> Result<Json<PoolName>, Rejection> {
    let name = body.name()?;
    let changed = app.store.change_ip_pools(caller.id(), |pools| {
        check_free(pools, &name)?;
        if pools.pools.len() >= MOST_IP_POOLS {
            let message = format!("an account has at most {MOST_IP_POOLS} pools");
            return Err(Rejection::on("name", message));
        }
        pools.pools.entry(name.clone()).or_default();
        Ok(())
    });
    changed.await?;
    Ok(Json(PoolName { name }))
}

fn check_free(pools: &IpPools, name: &str) -> Result<(), Rejection> {
    if pools.pools.contains_key(name) {
        return Err(Rejection::on("name", "a pool with this name exists"));
    }
    Ok(())
}

async fn list(State(app): State<App>, caller: Caller) -> Result<Json<Vec<PoolName>>, Rejection> {
    let pools = app.store.ip_pools(caller.id()).await?.pools;
    let names = pools.into_keys().map(|name| PoolName { name });
    Ok(Json(names.collect()))
}

async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<Json<PoolView>, Rejection> {
    let mut pools = app.store.ip_pools(caller.id()).await?.pools;
    let ips = pools.remove(&name).ok_or_else(Rejection::not_found)?;
    Ok(Json(PoolView {
        pool_name: name,
        ips: ips.into_iter().collect(),
    }))
}

async fn rename(
    State(app): State<App>,
    caller: Caller,
    PathParams(old): PathParams<String>,
    JsonBody(body): JsonBody<PoolRequest>,
) -> Result<Json<PoolName>, Rejection> {
    let name = body.name()?;
    let changed = app.store.change_ip_pools(caller.id(), |pools| {
        let ips = pools.pools.get(&old).cloned();
        let ips = ips.ok_or_else(Rejection::not_found)?;
        if name != old {
            check_free(pools, &name)?;
            pools.pools.remove(&old);
            pools.pools.insert(name.clone(), ips);
        }
        Ok::<_, Rejection>(())
    });
    changed.await?;
    Ok(Json(PoolName { name }))
}

async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let changed = app.store.change_ip_pools(caller.id(), |pools| {
        let removed = pools.pools.remove(&name);
        removed.map(drop).ok_or_else(Rejection::not_found)
    });
    changed.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Puts one of the deployment's addresses into a pool.
async fn add_ip(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<IpRequest>,
) -> Result<(StatusCode, Json<AssignedIp>), Rejection> {
    let ip = body
        .ip
        .ok_or_else(|| Rejection::on("ip", "ip is required"))?;
    let known = app.dedicated_ip(&caller, &ip).await?;
    let changed = app.store.change_ip_pools(caller.id(), |pools| {
        let is_full = pools.ips() >= MOST_IPS_IN_POOLS;
        let pool = pools.pools.get_mut(&name);
        let pool = pool.ok_or_else(Rejection::not_found)?;
        if is_full && !pool.contains(&ip) {
            let message =
                format!("the pools of an account have at most {MOST_IPS_IN_POOLS} addresses");
            return Err(Rejection::on("ip", message));
        }
        pool.insert(ip.clone());
        Ok(())
    });
    let pools = changed.await?.of(&ip);
    let added = AssignedIp {
        ip,
        pools,
        warmup: known.warms_up,
        start_date: 0,
    };
    Ok((StatusCode::CREATED, Json(added)))
}

async fn remove_ip(
    State(app): State<App>,
    caller: Caller,
    PathParams((name, ip)): PathParams<(String, String)>,
) -> Result<StatusCode, Rejection> {
    let changed = app.store.change_ip_pools(caller.id(), |pools| {
        let pool = pools.pools.get_mut(&name);
        let removed = pool.is_some_and(|pool| pool.remove(&ip));
        removed.then_some(()).ok_or_else(Rejection::not_found)
    });
    changed.await?;
    Ok(StatusCode::NO_CONTENT)
}
