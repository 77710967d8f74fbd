//! Create, list, get, update, delete.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::{Patch, WebhookId};
use posthaste_store::{CreateOutcome, Saved};

use crate::App;
use crate::app::OldestWebhook;
use crate::check::apply;
use crate::fail;
use crate::wire::{WebhookList, WebhookSettings, WebhookView, wants_status_change};

/// `POST /v3/user/webhooks/event/settings`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
    JsonBody(body): JsonBody<WebhookSettings>,
) -> Result<(StatusCode, Json<WebhookView>), Rejection> {
    let include = wants_status_change(query.as_deref());
    let webhook = apply(&app, &body, include, app.new_webhook(&caller))?;
    let limit = i64::from(app.max_webhooks);
    match app.store.create_webhook(&webhook, limit).await? {
        CreateOutcome::Done => {}
        CreateOutcome::Full => return Err(fail::full()),
        CreateOutcome::UrlTaken(holder) => return Err(fail::url_taken(&holder, &webhook.url)),
    }
    tracing::info!(account.id = %caller.id(), webhook.id = %webhook.id, "created webhook {}", webhook.id);
    Ok((
        StatusCode::CREATED,
        Json(WebhookView::of(&webhook, include)),
    ))
}

/// `GET …/settings/all`.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhookList>, Rejection> {
    let include = wants_status_change(query.as_deref());
    let webhooks = app.store.webhooks(caller.id()).await?;
    Ok(Json(WebhookList {
        max_allowed: app.max_webhooks,
        webhooks: webhooks
            .iter()
            .map(|w| WebhookView::of(w, include))
            .collect(),
    }))
}

/// `GET …/settings/{id}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhookView>, Rejection> {
    let webhook = app.webhook(&caller, &id).await?;
    let include = wants_status_change(query.as_deref());
    Ok(Json(WebhookView::of(&webhook, include)))
}

/// `GET …/settings`: the oldest webhook; on a fresh account one that is off and has no id.
pub(crate) async fn oldest(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhookView>, Rejection> {
    let include = wants_status_change(query.as_deref());
    Ok(Json(match app.oldest(&caller).await? {
        Some(webhook) => WebhookView::of(&webhook, include),
        None => WebhookView::none_yet(&app.new_webhook(&caller), include),
    }))
}

/// `PATCH …/settings/{id}`.
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    RawQuery(query): RawQuery,
    JsonBody(body): JsonBody<WebhookSettings>,
) -> Result<Json<WebhookView>, Rejection> {
    let id = WebhookId::parse(&id).map_err(|_| fail::unknown_id())?;
    change(&app, &caller, &id, query.as_deref(), &body).await
}

/// `PATCH …/settings`: changes the oldest webhook; on a fresh account it creates the first.
pub(crate) async fn update_oldest(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
    JsonBody(body): JsonBody<WebhookSettings>,
) -> Result<Json<WebhookView>, Rejection> {
    let include = wants_status_change(query.as_deref());
    let first = || apply(&app, &body, include, app.new_webhook(&caller));
    match app.oldest_or_created(&caller, first).await? {
        OldestWebhook::Created(webhook) => Ok(Json(WebhookView::of(&webhook, include))),
        OldestWebhook::Existing(id) => change(&app, &caller, &id, query.as_deref(), &body).await,
    }
}

async fn change(
    app: &App,
    caller: &Caller,
    id: &WebhookId,
    query: Option<&str>,
    body: &WebhookSettings,
) -> Result<Json<WebhookView>, Rejection> {
    let include = wants_status_change(query);
    let now = app.clock.now();
    let changed = app.store.change_webhook(caller.id(), id, |old| {
        let mut new = apply(app, body, include, old)?;
        new.updated_at = now;
        Ok::<_, Rejection>(new)
    });
    match changed.await? {
        Saved::Done(webhook) => Ok(Json(WebhookView::of(&webhook, include))),
        Saved::Missing => Err(fail::unknown_id()),
        Saved::UrlTaken(holder) => {
            let url = match &body.url {
                Patch::Set(url) => url.as_str(),
                Patch::Keep | Patch::Clear => "",
            };
            Err(fail::url_taken(&holder, url))
        }
    }
}

/// `DELETE …/settings/{id}`.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let id = WebhookId::parse(&id).map_err(|_| fail::unknown_id())?;
    if !app.store.delete_webhook(caller.id(), &id).await? {
        return Err(fail::unknown_id());
    }
    tracing::info!(account.id = %caller.id(), webhook.id = %id, "deleted webhook {id}");
    Ok(StatusCode::NO_CONTENT)
}
