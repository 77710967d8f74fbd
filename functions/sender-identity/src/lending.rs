//! Domains of a parent that its subusers send from.
//!
//! A subuser has one domain through `…/subuser`, and up to five through `…/subuser:add` (API
//! facts, section 1, "Domains").

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection};
use posthaste_store::{Account, Borrower, Domain, Lent};

use crate::App;
use crate::app::number;
use crate::wire::{DomainView, Username};

/// Of one subuser.
const MOST: usize = 5;

pub(crate) fn borrower(account: &Account) -> Borrower {
    Borrower {
        account: account.id.clone(),
        username: account.username.clone(),
        user_id: account.user_id,
    }
}

pub(crate) fn taken() -> Rejection {
    Rejection::on("username", "the subuser has a domain of this name already")
}

pub(crate) fn required(username: Option<String>) -> Result<String, Rejection> {
    let given = username.filter(|name| !name.is_empty());
    given.ok_or_else(|| Rejection::on("username", "username is required"))
}

pub(crate) fn asked(query: &Query) -> Result<String, Rejection> {
    required(query.text("username").map(str::to_owned))
}

/// The caller's domains that the subuser has.
async fn lent_to(app: &App, caller: &Caller, account: &Account) -> Result<Vec<Domain>, Rejection> {
    let mut all = app.store.borrowed_domains(&account.id).await?;
    all.retain(|domain| domain.account == *caller.id());
    Ok(all)
}

/// Assigns the domain as the subuser's only one: others are unassigned.
pub(crate) async fn lend(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Username>,
) -> Result<(StatusCode, Json<DomainView>), Rejection> {
    let account = app.subuser(&caller, &required(body.username)?).await?;
    let answer = give(&app, &caller, number(&id)?, &account).await?;
    for other in lent_to(&app, &caller, &account).await? {
        if other.id != answer.id {
            app.store
                .take_domain_back(caller.id(), other.id, &account.id)
                .await?;
        }
    }
    Ok((
        StatusCode::CREATED,
        Json(DomainView::of(answer, &caller.account)),
    ))
}

/// Lends one more domain.
pub(crate) async fn lend_more(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Username>,
) -> Result<(StatusCode, Json<DomainView>), Rejection> {
    let account = app.subuser(&caller, &required(body.username)?).await?;
    let id = number(&id)?;
    let lent = lent_to(&app, &caller, &account).await?;
    if lent.len() >= MOST && !lent.iter().any(|domain| domain.id == id) {
        let message = format!("a subuser can have {MOST} domains of its parent");
        return Err(Rejection::on("username", message));
    }
    let answer = give(&app, &caller, id, &account).await?;
    Ok((
        StatusCode::CREATED,
        Json(DomainView::of(answer, &caller.account)),
    ))
}

async fn give(app: &App, caller: &Caller, id: i64, account: &Account) -> Result<Domain, Rejection> {
    match app
        .store
        .lend_domain(caller.id(), id, &borrower(account))
        .await?
    {
        Lent::Done(domain) => Ok(*domain),
        Lent::Missing => Err(Rejection::not_found()),
        Lent::Taken => Err(taken()),
        Lent::Full => Err(Rejection::bad("the domain is lent to too many subusers")),
    }
}

/// The domain of a subuser: the oldest when there are several.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<DomainView>, Rejection> {
    let account = app.subuser(&caller, &asked(&query)?).await?;
    let lent = lent_to(&app, &caller, &account).await?;
    let first = lent.into_iter().next().ok_or_else(Rejection::not_found)?;
    Ok(Json(DomainView::of(first, &caller.account)))
}

/// Every domain of a subuser.
pub(crate) async fn all(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<DomainView>>, Rejection> {
    let account = app.subuser(&caller, &asked(&query)?).await?;
    let lent = lent_to(&app, &caller, &account).await?.into_iter();
    Ok(Json(
        lent.map(|domain| DomainView::of(domain, &caller.account))
            .collect(),
    ))
}

/// Takes every domain back from a subuser.
pub(crate) async fn take_all_back(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<StatusCode, Rejection> {
    let account = app.subuser(&caller, &asked(&query)?).await?;
    for domain in lent_to(&app, &caller, &account).await? {
        app.store
            .take_domain_back(caller.id(), domain.id, &account.id)
            .await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Takes one domain back from a subuser.
pub(crate) async fn take_back(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    query: Query,
) -> Result<StatusCode, Rejection> {
    let account = app.subuser(&caller, &asked(&query)?).await?;
    let taken = app
        .store
        .take_domain_back(caller.id(), number(&id)?, &account.id)
        .await?;
    if !taken {
        return Err(Rejection::not_found());
    }
    Ok(StatusCode::NO_CONTENT)
}
