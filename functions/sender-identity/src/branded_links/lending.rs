//! The branded link of a parent that a subuser's mail has. A subuser has one at a time.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection};
use posthaste_store::{LentLink, LinkBranding};

use super::link_of;
use super::view::BrandedLinkView;
use crate::App;
use crate::lending::{asked, required};
use crate::wire::Username;

/// Assigns a link to a subuser, in place of the one before.
pub(crate) async fn lend(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Username>,
) -> Result<Json<BrandedLinkView>, Rejection> {
    let account = app.subuser(&caller, &required(body.username)?).await?;
    let link = link_of(&app, &caller, &id).await?;
    let lent = app.store.change_link_branding(&account.id, |branding| {
        branding.lent = Some(LentLink {
            owner: caller.id().clone(),
            id: link.id,
        });
        Ok::<_, Rejection>(())
    });
    lent.await?.ok_or_else(Rejection::not_found)?;
    Ok(Json(BrandedLinkView::of(&app, link, &caller.account)))
}

/// The link of a subuser.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<BrandedLinkView>, Rejection> {
    let account = app.subuser(&caller, &asked(&query)?).await?;
    let branding = app.store.link_branding(&account.id).await?;
    let lent = branding.lent.filter(|lent| lent.owner == *caller.id());
    let lent = lent.ok_or_else(Rejection::not_found)?;
    let own = app.store.link_branding(caller.id()).await?;
    // It may be deleted.
    let link = own
        .link(lent.id)
        .cloned()
        .ok_or_else(Rejection::not_found)?;
    Ok(Json(BrandedLinkView::of(&app, link, &caller.account)))
}

/// Takes the link back from a subuser.
pub(crate) async fn take_back(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<StatusCode, Rejection> {
    let account = app.subuser(&caller, &asked(&query)?).await?;
    let is_callers = |lent: &LentLink| lent.owner == *caller.id();
    let taken = app
        .store
        .change_link_branding(&account.id, |branding: &mut LinkBranding| {
            branding.lent = branding.lent.take().filter(|lent| !is_callers(lent));
            Ok::<_, Rejection>(())
        });
    taken.await?.ok_or_else(Rejection::not_found)?;
    Ok(StatusCode::NO_CONTENT)
}
