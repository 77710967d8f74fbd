//! `/v3/whitelabel/links…`: the hosts of an account's own that the links of its mails have.
//!
//! A branded link is used once both its records are found: an alias that leads here, and one whose name has the number of
//! the account, which only the owner of the domain can have made for it. Mail then has it as
//! [`posthaste_store::LinkBranding::chosen`] says.

mod lending;
mod view;

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection, Routes};
use posthaste_model::{Hostname, Problems};
use posthaste_store::{BrandedLink, LinkBranding, MOST_BRANDED_LINKS};

use crate::app::number;
use crate::create::names;
use crate::validate::{look_up, results};
use crate::wire::Validated;
use crate::{App, AppState, CREATE, DELETE, READ, UPDATE};

pub(crate) use view::{BrandedLinkView, LinkChange, LinkRequest, records};

/// The routes, each with its scope.
pub(crate) fn routes(routes: Routes<AppState>) -> Routes<AppState> {
    const ALL: &str = "/v3/whitelabel/links";
    const DEFAULT: &str = "/v3/whitelabel/links/default";
    const LENT: &str = "/v3/whitelabel/links/subuser";
    const ONE: &str = "/v3/whitelabel/links/{id}";
    const VALIDATE: &str = "/v3/whitelabel/links/{id}/validate";
    const LEND: &str = "/v3/whitelabel/links/{id}/subuser";
    routes
        .at(Method::POST, ALL, CREATE, create)
        .at(Method::GET, ALL, READ, list)
        .at(Method::GET, DEFAULT, READ, default)
        .at(Method::GET, LENT, READ, lending::one)
        .at(Method::DELETE, LENT, DELETE, lending::take_back)
        .at(Method::GET, ONE, READ, one)
        .at(Method::PATCH, ONE, UPDATE, update)
        .at(Method::DELETE, ONE, DELETE, delete)
        .at(Method::POST, VALIDATE, UPDATE, validate)
        .at(Method::POST, LEND, CREATE, lending::lend)
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<LinkRequest>,
) -> Result<(StatusCode, Json<BrandedLinkView>), Rejection> {
    let (domain, subdomain) = checked(&app, &body)?;
    if app.links.host.is_none() {
        return Err(Rejection::bad(
            "this service has no host name that branded links could lead to",
        ));
    }
    let link = BrandedLink {
        id: app.store.next_branded_link_id(caller.id()).await?,
        domain,
        subdomain,
        default: body.default.unwrap_or_default(),
        host_valid: false,
        owner_valid: false,
        created_at: app.clock.now(),
        checked_at: None,
    };
    check_host(&app, &caller, &link).await?;
    let added = app.store.change_link_branding(caller.id(), |branding| {
        if branding
            .links
            .iter()
            .any(|other| other.host() == link.host())
        {
            let message = "the link is on the account already";
            return Err(Rejection::on("domain", message));
        }
        if branding.links.len() >= MOST_BRANDED_LINKS {
            let message = format!("an account has at most {MOST_BRANDED_LINKS} branded links");
            return Err(Rejection::bad(message));
        }
        branding.links.push(link.clone());
        if link.default {
            make_only_default(branding, link.id);
        }
        Ok(())
    });
    added.await?.ok_or_else(Rejection::not_found)?;
    let (host, account) = (link.host(), caller.id());
    tracing::info!(account.id = %account, "branded link {host} of account {account} created");
    let view = BrandedLinkView::of(&app, link, &caller.account);
    Ok((StatusCode::CREATED, Json(view)))
}

/// The domain and the subdomain of a request that can be taken.
fn checked(app: &App, body: &LinkRequest) -> Result<(String, String), Rejection> {
    let mut found = Problems::default();
    let (domain, subdomain) = names(
        (body.domain.as_deref(), body.subdomain.as_deref()),
        || format!("url{}", 1_000 + app.entropy.below(9_000)),
        &mut found,
    );
    let region = body.region.as_deref().unwrap_or("us");
    if let (Some(domain), Some(subdomain)) = (&domain, &subdomain) {
        // Certificates are for such names alone: without underscores.
        let host = format!("{subdomain}.{domain}").parse::<Hostname>();
        found.unless(
            host.is_ok(),
            "subdomain",
            "subdomain and domain are not a host name",
        );
    }
    found.unless(
        ["us", "eu", "global"].contains(&region),
        "region",
        "region must be us or eu",
    );
    let (Some(domain), Some(subdomain), true) = (domain, subdomain, found.is_empty()) else {
        return Err(found.into());
    };
    Ok((domain, subdomain))
}

/// Refuses a host that all accounts share, and one that mail comes back to.
async fn check_host(app: &App, caller: &Caller, link: &BrandedLink) -> Result<(), Rejection> {
    if app.links.shared.contains(&link.host()) {
        let message = "this host is the service's own";
        return Err(Rejection::on("subdomain", message));
    }
    let domains = app.store.domains(caller.id()).await?;
    let is_taken = |name: &str| name == link.subdomain;
    let mut of_name = domains.iter().filter(|own| own.domain == link.domain);
    if of_name.any(|own| is_taken(&own.subdomain)) {
        let message = "subdomain must be another one than that of the authenticated domain";
        return Err(Rejection::on("subdomain", message));
    }
    Ok(())
}

fn make_only_default(branding: &mut LinkBranding, id: i64) {
    for link in &mut branding.links {
        link.default = link.id == id;
    }
}

/// The branded links of the caller, oldest first.
async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<BrandedLinkView>>, Rejection> {
    let (limit, offset) = query.checked(|query| (query.limit(500, 500), query.offset()))?;
    let branding = app.store.link_branding(caller.id()).await?;
    let page = branding.links.into_iter().skip(offset).take(limit);
    let shown = page.map(|link| BrandedLinkView::of(&app, link, &caller.account));
    Ok(Json(shown.collect()))
}

/// The default link; with `domain`, if it is of that name.
async fn default(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<BrandedLinkView>, Rejection> {
    let named = query.text("domain").filter(|text| !text.is_empty());
    let branding = app.store.link_branding(caller.id()).await?;
    let is_named =
        |link: &BrandedLink| named.is_none_or(|name| link.domain.eq_ignore_ascii_case(name));
    let mut links = branding.links.into_iter();
    let found = links.find(|link| link.default && is_named(link));
    let link = found.ok_or_else(Rejection::not_found)?;
    Ok(Json(BrandedLinkView::of(&app, link, &caller.account)))
}

async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<BrandedLinkView>, Rejection> {
    let link = link_of(&app, &caller, &id).await?;
    Ok(Json(BrandedLinkView::of(&app, link, &caller.account)))
}

async fn link_of(app: &App, caller: &Caller, id: &str) -> Result<BrandedLink, Rejection> {
    let id = number(id)?;
    let branding = app.store.link_branding(caller.id()).await?;
    branding.link(id).cloned().ok_or_else(Rejection::not_found)
}

/// Changes one link of the caller, and shows it.
async fn change(
    app: &App,
    caller: &Caller,
    id: i64,
    mut change: impl FnMut(&mut BrandedLink),
) -> Result<BrandedLink, Rejection> {
    let changed = app.store.change_link_branding(caller.id(), |branding| {
        let mut links = branding.links.iter_mut();
        let link = links.find(|link| link.id == id);
        let link = link.ok_or_else(Rejection::not_found)?;
        change(link);
        if link.default {
            make_only_default(branding, id);
        }
        Ok::<_, Rejection>(())
    });
    let branding = changed.await?.ok_or_else(Rejection::not_found)?;
    branding.link(id).cloned().ok_or_else(Rejection::not_found)
}

async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<LinkChange>,
) -> Result<Json<BrandedLinkView>, Rejection> {
    let set = |link: &mut BrandedLink| link.default = body.default.unwrap_or(link.default);
    let link = change(&app, &caller, number(&id)?, set).await?;
    Ok(Json(BrandedLinkView::of(&app, link, &caller.account)))
}

/// Mail that is made from now on has another host. Links that are out work for as long as their host leads here.
async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let id = number(&id)?;
    let deleted = app.store.change_link_branding(caller.id(), |branding| {
        let before = branding.links.len();
        branding.links.retain(|link| link.id != id);
        if branding.links.len() == before {
            return Err(Rejection::not_found());
        }
        Ok(())
    });
    deleted.await?.ok_or_else(Rejection::not_found)?;
    let account = caller.id();
    tracing::info!(account.id = %account, "branded link {id} of account {account} deleted");
    Ok(StatusCode::NO_CONTENT)
}

/// Looks the records up and stores the result.
async fn validate(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<Validated>, Rejection> {
    let link = link_of(&app, &caller, &id).await?;
    let checks = look_up(&app, &records(&app, &link, &caller.account)).await?;
    let now = app.clock.now();
    let is_right = |name: &str| {
        let mut named = checks.iter().filter(|check| check.name == name);
        named.any(|check| check.reason.is_none())
    };
    let (host_valid, owner_valid) = (is_right(view::HOST_RECORD), is_right(view::OWNER_RECORD));
    if host_valid && owner_valid {
        // Before any mail has the host: from then on no other account's links may work under it.
        app.store.mark_branded(&link.host(), now).await?;
    }
    let kept = change(&app, &caller, link.id, |link| {
        link.host_valid = host_valid;
        link.owner_valid = owner_valid;
        link.checked_at = Some(now);
    });
    let kept = kept.await?;
    Ok(Json(Validated {
        id: kept.id,
        valid: kept.is_valid(),
        validation_results: results(checks.into_iter()),
    }))
}
