//! The domains of an account: list, one, change, delete, addresses.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection};
use posthaste_model::AccountId;
use posthaste_store::Domain;

use crate::App;
use crate::app::number;
use crate::wire::{DomainView, Ip, Update};

/// The domains of the caller, oldest first; with `username`, those lent to that subuser.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<DomainView>>, Rejection> {
    let (limit, offset, exclude) = query.checked(|query| {
        let (limit, offset) = (query.limit(500, 500), query.offset());
        (limit, offset, query.flag("exclude_subusers"))
    })?;
    let username = query.text("username").filter(|text| !text.is_empty());
    let named = query
        .text("domain")
        .unwrap_or_default()
        .to_ascii_lowercase();
    let fits = |domain: &Domain| {
        let lent_to = |name: &str| domain.subusers.iter().any(|b| b.username == name);
        domain.domain.contains(&named)
            && (!exclude || domain.subusers.is_empty())
            && username.is_none_or(|name| name == caller.account.username || lent_to(name))
    };
    let all = app.store.domains(caller.id()).await?.into_iter();
    let page = all.filter(fits).skip(offset).take(limit);
    Ok(Json(
        page.map(|domain| DomainView::of(domain, &caller.account))
            .collect(),
    ))
}

/// The default domain, in an array (API facts, appendix A); with `domain`, of that name.
pub(crate) async fn default(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<DomainView>>, Rejection> {
    let named = query.text("domain").filter(|text| !text.is_empty());
    let all = app.store.domains(caller.id()).await?.into_iter();
    let fits = |domain: &Domain| {
        domain.default && named.is_none_or(|name| domain.domain.eq_ignore_ascii_case(name))
    };
    let shown = all
        .filter(fits)
        .map(|domain| DomainView::of(domain, &caller.account));
    Ok(Json(shown.collect()))
}

pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<DomainView>, Rejection> {
    let domain = app.domain(&caller, &id).await?;
    Ok(Json(DomainView::of(domain, &caller.account)))
}

/// Answers the domain itself (API facts, section 1, "Domains").
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Update>,
) -> Result<Json<DomainView>, Rejection> {
    let id = number(&id)?;
    let changed = app.store.update_domain(caller.id(), id, |domain| {
        domain.default = body.default.unwrap_or(domain.default);
        domain.custom_spf = body.custom_spf.unwrap_or(domain.custom_spf);
    });
    let domain = changed.await?.ok_or_else(Rejection::not_found)?;
    if domain.default {
        make_only_default(&app, caller.id(), id).await?;
    }
    Ok(Json(DomainView::of(domain, &caller.account)))
}

/// Clears the default flag of every other domain.
pub(crate) async fn make_only_default(
    app: &App,
    account: &AccountId,
    id: i64,
) -> Result<(), Rejection> {
    for other in app.store.domains(account).await? {
        if other.default && other.id != id {
            let unmark = |domain: &mut Domain| domain.default = false;
            app.store.update_domain(account, other.id, unmark).await?;
        }
    }
    Ok(())
}

pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let id = number(&id)?;
    if !app.store.delete_domain(caller.id(), id).await? {
        return Err(Rejection::not_found());
    }
    let account = caller.id();
    tracing::info!(account.id = %account, "domain {id} of account {account} deleted");
    Ok(StatusCode::NO_CONTENT)
}

/// Stored with the domain; the relay chooses the address a mail is sent from.
pub(crate) async fn add_ip(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Ip>,
) -> Result<Json<DomainView>, Rejection> {
    let ip = body.ip.unwrap_or_default();
    if !is_ip(&ip) {
        return Err(Rejection::on("ip", "ip must be an IP address"));
    }
    change_ips(&app, &caller, &id, |ips| {
        if !ips.contains(&ip) && ips.len() < 100 {
            ips.push(ip.clone());
        }
    })
    .await
}

pub(crate) fn is_ip(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

pub(crate) async fn remove_ip(
    State(app): State<App>,
    caller: Caller,
    PathParams((id, ip)): PathParams<(String, String)>,
) -> Result<Json<DomainView>, Rejection> {
    change_ips(&app, &caller, &id, |ips| ips.retain(|kept| *kept != ip)).await
}

async fn change_ips(
    app: &App,
    caller: &Caller,
    id: &str,
    change: impl Fn(&mut Vec<String>),
) -> Result<Json<DomainView>, Rejection> {
    let id = number(id)?;
    let changed = app
        .store
        .update_domain(caller.id(), id, |domain| change(&mut domain.ips));
    let domain = changed.await?.ok_or_else(Rejection::not_found)?;
    Ok(Json(DomainView::of(domain, &caller.account)))
}
