//! Create, list, get, rename, delete.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection, RequestUrl};
use posthaste_model::Problems;
use posthaste_store::Template;
use serde_json::Value;

use crate::wire::{NameRequest, TemplateBody};
use crate::{App, LIMIT, check, page, placed, whole};

/// `POST /v3/templates`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<NameRequest>,
) -> Result<(StatusCode, Json<TemplateBody>), Rejection> {
    let mut found = Problems::default();
    check::name(Some(body.name.as_deref().unwrap_or_default()), &mut found);
    let generation = body.generation.as_deref().unwrap_or("legacy");
    let known = matches!(generation, "legacy" | "dynamic");
    found.unless(known, "generation", "generation must be legacy or dynamic");
    found.into_result()?;
    let now = app.clock.now();
    let template = Template {
        id: match generation {
            "dynamic" => app.entropy.dynamic_template_id(),
            _ => app.entropy.legacy_template_id(),
        },
        account: caller.id().clone(),
        name: body.name.unwrap_or_default(),
        created_at: now,
        updated_at: now,
        versions: Vec::new(),
    };
    placed(app.store.create_template(&template, LIMIT).await?)?;
    tracing::info!(account.id = %caller.id(), template.id = %template.id, "created template {}", template.id);
    Ok((StatusCode::CREATED, Json(TemplateBody::of(&template))))
}

/// `GET /v3/templates`: with `page_size` a page, without it the older form, all at once.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    address: RequestUrl,
) -> Result<Json<Value>, Rejection> {
    let wanted = page::PageRequest::read(&query)?;
    let all = app.store.templates(caller.id()).await?;
    let all: Vec<_> = all.into_iter().filter(|t| wanted.takes(&t.id)).collect();
    Ok(Json(wanted.answer(&all, &address)))
}

/// `GET /v3/templates/{template_id}`, with what its versions say.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<TemplateBody>, Rejection> {
    let template = app.template(&caller, &id).await?;
    Ok(Json(whole::of(&app, &template).await?))
}

/// `PATCH /v3/templates/{template_id}`: another name.
pub(crate) async fn rename(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<NameRequest>,
) -> Result<Json<TemplateBody>, Rejection> {
    let known = app.template(&caller, &id).await?;
    let mut found = Problems::default();
    check::name(body.name.as_deref(), &mut found);
    found.into_result()?;
    let now = app.clock.now();
    let change = |template: &mut Template| {
        if let Some(name) = &body.name {
            template.name.clone_from(name);
            template.updated_at = now;
        }
        Ok::<(), Rejection>(())
    };
    let changed = app.store.change_template(caller.id(), &known.id, change);
    let template = placed(changed.await??)?;
    Ok(Json(whole::of(&app, &template).await?))
}

/// `DELETE /v3/templates/{template_id}`.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let template = app.template(&caller, &id).await?;
    if !app.store.delete_template(caller.id(), &template.id).await? {
        return Err(Rejection::not_found());
    }
    tracing::info!(account.id = %caller.id(), template.id = %template.id, "deleted template {}", template.id);
    Ok(StatusCode::NO_CONTENT)
}
