//! `/v3/whitelabel/ips…`: the names that addresses are to have in the DNS. Whether a name leads to its address is looked
//! up; the way back is set by the owner of the address.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Access, Caller, JsonBody, PathParams, Query, Rejection, Routes};
use posthaste_model::{EmailAddress, Problems, RecordKind, Timestamp};
use posthaste_store::{MOST_REVERSE_DNS, ReverseDns};
use serde::{Deserialize, Serialize};

use crate::App;

/// The first label of a name where the request has none.
const SUBDOMAIN: &str = "o1";

/// The routes, each with its scope.
pub(crate) fn routes(routes: Routes<App>) -> Routes<App> {
    const ALL: &str = "/v3/whitelabel/ips";
    const ONE: &str = "/v3/whitelabel/ips/{id}";
    const VALIDATE: &str = "/v3/whitelabel/ips/{id}/validate";
    let scope = Access::Scope;
    let read = scope("whitelabel.read");
    routes
        .at(Method::POST, ALL, scope("whitelabel.create"), create)
        .at(Method::GET, ALL, read, list)
        .at(Method::GET, ONE, read, one)
        .at(Method::DELETE, ONE, scope("whitelabel.delete"), delete)
        .at(Method::POST, VALIDATE, scope("whitelabel.update"), validate)
}

/// The name of an address as the API shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReverseDnsView {
    id: i64,
    ip: String,
    rdns: String,
    /// Subusers that the address is assigned to.
    users: Vec<User>,
    subdomain: String,
    domain: String,
    valid: bool,
    legacy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<i64>"))]
    last_validation_attempt_at: Option<Timestamp>,
    a_record: ARecord,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct User {
    username: String,
    user_id: u32,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ARecord {
    valid: bool,
    #[serde(rename = "type")]
    #[cfg_attr(test, schemars(with = "String"))]
    kind: RecordKind,
    host: String,
    data: String,
}

/// The subusers of the caller, and the addresses assigned to each.
async fn users(app: &App, caller: &Caller) -> Result<Vec<(User, Vec<String>)>, Rejection> {
    let subusers = app.store.subusers(caller.id()).await?.into_iter();
    let user = subusers.map(|account| {
        let user = User {
            username: account.username,
            user_id: account.user_id,
        };
        (user, account.ips)
    });
    Ok(user.collect())
}

fn shown(name: ReverseDns, users: &[(User, Vec<String>)]) -> ReverseDnsView {
    let host = name.name();
    let with = users.iter().filter(|(_, ips)| ips.contains(&name.ip));
    ReverseDnsView {
        id: name.id,
        rdns: host.clone(),
        users: with.map(|(user, _)| user.clone()).collect(),
        subdomain: name.subdomain,
        domain: name.domain,
        valid: name.valid,
        legacy: false,
        last_validation_attempt_at: name.checked_at,
        a_record: ARecord {
            valid: name.valid,
            kind: RecordKind::A,
            host,
            data: name.ip.clone(),
        },
        ip: name.ip,
    }
}

/// The body that names an address.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReverseDnsRequest {
    ip: Option<String>,
    domain: Option<String>,
    /// `o1` when it is left out.
    subdomain: Option<String>,
}

/// The name of a host in lower-case A-labels, if it is one.
fn host_name(text: &str) -> Option<String> {
    let address = EmailAddress::parse(&format!("any@{}", text.trim()));
    address.ok().map(|address| address.ascii_domain())
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<ReverseDnsRequest>,
) -> Result<(StatusCode, Json<ReverseDnsView>), Rejection> {
    let mut found = Problems::default();
    let ip = body.ip.as_deref().unwrap_or_default();
    let ip = ip.trim().parse::<IpAddr>();
    found.unless(ip.is_ok(), "ip", "ip must be an IP address");
    let domain = host_name(body.domain.as_deref().unwrap_or_default());
    found.unless(domain.is_some(), "domain", "domain must be a domain name");
    let subdomain = body.subdomain.as_deref().map(str::trim);
    let subdomain = subdomain
        .filter(|label| !label.is_empty())
        .unwrap_or(SUBDOMAIN)
        .to_ascii_lowercase();
    let is_name = host_name(&format!("{subdomain}.example.com")).is_some();
    found.unless(
        is_name,
        "subdomain",
        "subdomain must be a part of a domain name",
    );
    found.into_result()?;
    let (Ok(ip), Some(domain)) = (ip, domain) else {
        return Err(Rejection::internal(&"a body without a problem is complete"));
    };
    let name = ReverseDns {
        id: app.store.next_reverse_dns_id(caller.id()).await?,
        ip: ip.to_string(),
        domain,
        subdomain,
        valid: false,
        checked_at: None,
    };
    let changed = app.store.change_reverse_dns(caller.id(), |names| {
        if names.iter().any(|other| other.ip == name.ip) {
            return Err(Rejection::on("ip", "the address has a name"));
        }
        if names.len() >= MOST_REVERSE_DNS {
            let message = format!("an account has at most {MOST_REVERSE_DNS} names of addresses");
            return Err(Rejection::bad(message));
        }
        names.push(name.clone());
        Ok(())
    });
    changed.await?;
    let users = users(&app, &caller).await?;
    Ok((StatusCode::CREATED, Json(shown(name, &users))))
}

/// `GET /v3/whitelabel/ips?ip&limit&offset`: `ip` is the beginning of an address.
async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<ReverseDnsView>>, Rejection> {
    let (limit, offset, begin) = query.checked(|query| {
        let begin = query.text("ip").unwrap_or_default();
        (query.limit(500, 500), query.offset(), begin)
    })?;
    let names = app.store.reverse_dns(caller.id()).await?.into_iter();
    let users = users(&app, &caller).await?;
    let page = names
        .filter(|name| name.ip.starts_with(begin))
        .skip(offset)
        .take(limit);
    Ok(Json(page.map(|name| shown(name, &users)).collect()))
}

/// One name of the caller; 404 for any other id.
async fn named(app: &App, caller: &Caller, id: &str) -> Result<ReverseDns, Rejection> {
    let names = app.store.reverse_dns(caller.id()).await?;
    let id: Option<i64> = id.parse().ok();
    let found = names.into_iter().find(|name| Some(name.id) == id);
    found.ok_or_else(Rejection::not_found)
}

async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<ReverseDnsView>, Rejection> {
    let name = named(&app, &caller, &id).await?;
    let users = users(&app, &caller).await?;
    Ok(Json(shown(name, &users)))
}

async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let id: Option<i64> = id.parse().ok();
    let changed = app.store.change_reverse_dns(caller.id(), |names| {
        let before = names.len();
        names.retain(|name| Some(name.id) != id);
        let is_removed = names.len() < before;
        is_removed.then_some(()).ok_or_else(Rejection::not_found)
    });
    changed.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a look-up found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Validated {
    id: i64,
    valid: bool,
    validation_results: ValidationResults,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ValidationResults {
    a_record: ValidationResult,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ValidationResult {
    valid: bool,
    reason: Option<String>,
}

impl Validated {
    /// What is known of a name, and why it is not valid, or was not looked up.
    fn new(name: &ReverseDns, reason: Option<String>) -> Self {
        let valid = name.valid;
        Self {
            id: name.id,
            valid,
            validation_results: ValidationResults {
                a_record: ValidationResult { valid, reason },
            },
        }
    }
}

/// `POST /v3/whitelabel/ips/{id}/validate`: whether the name leads to the address. Where nothing can be
/// looked up, the name is as it was, and the reason says so.
async fn validate(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<Validated>, Rejection> {
    let name = named(&app, &caller, &id).await?;
    let Some(resolver) = &app.resolver else {
        let reason = "this deployment asks no DNS, so that it cannot look the name up";
        return Ok(Json(Validated::new(&name, Some(reason.to_owned()))));
    };
    let host = name.name();
    let ip = name.ip.parse::<IpAddr>();
    let ip = ip.map_err(|error| Rejection::internal(&error))?;
    // Other addresses of the name are not shown: the resolver may know names that the internet does not.
    let (answer, reason) = match resolver.leads_to(&host, ip).await {
        Ok(true) => (Some(true), None),
        Ok(false) => (Some(false), Some(format!("{host} does not lead to {ip}"))),
        Err(error) => {
            tracing::info!(%error, "a name of an address was not looked up");
            (None, Some(format!("the DNS gave no answer for {host}")))
        }
    };
    // Without an answer it is as it was.
    let valid = answer.unwrap_or(name.valid);
    let now = app.clock.now();
    let changed = app.store.change_reverse_dns(caller.id(), |names| {
        let own = names.iter_mut().find(|own| own.id == name.id);
        let own = own.ok_or_else(Rejection::not_found)?;
        own.valid = valid;
        own.checked_at = Some(now);
        Ok::<_, Rejection>(())
    });
    changed.await?;
    let name = ReverseDns { valid, ..name };
    Ok(Json(Validated::new(&name, reason)))
}
