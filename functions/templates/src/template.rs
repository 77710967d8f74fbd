//! Templates: create, list, get, rename, duplicate, delete.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection, RequestUrl, Takeover};
use posthaste_model::{Problems, TemplateId};
use posthaste_store::{Template, Version};
use serde_json::Value;

use crate::wire::{NameRequest, TemplateBody};
use crate::{App, LIMIT, check, id_taken, limit_of, page, placed, version};

/// `POST /v3/templates`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    takeover: Takeover,
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
        id: match (takeover.id.as_deref(), generation) {
            (Some(id), _) => free_id(&app, &caller, id, generation).await?,
            (None, "dynamic") => app.entropy.dynamic_template_id(),
            (None, _) => app.entropy.legacy_template_id(),
        },
        account: caller.id().clone(),
        name: body.name.unwrap_or_default(),
        created_at: now,
        updated_at: now,
        versions: Vec::new(),
    };
    let limit = limit_of(&takeover);
    placed(app.store.create_template(&template, limit).await?)?;
    tracing::info!(account.id = %caller.id(), template.id = %template.id, "created template {}", template.id);
    Ok((StatusCode::CREATED, Json(TemplateBody::of(&template))))
}

/// An id that the template had elsewhere, of its generation.
async fn free_id(
    app: &App,
    caller: &Caller,
    id: &str,
    generation: &str,
) -> Result<TemplateId, Rejection> {
    let wrong = || Rejection::on("id", "id is no template id of this generation");
    let id = TemplateId::parse(id).map_err(|_| wrong())?;
    if id.is_dynamic() != (generation == "dynamic") {
        return Err(wrong());
    }
    match app.store.template(caller.id(), &id).await? {
        None => Ok(id),
        Some(_) => Err(id_taken()),
    }
}

/// `GET /v3/templates`: with `page_size` a page, without it the older form, all at once.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    address: RequestUrl,
) -> Result<Json<Value>, Rejection> {
    let wanted = query.checked(page::PageRequest::read)?;
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
    Ok(Json(with_texts(&app, &template).await?))
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
    let template = placed(changed.await?)?;
    Ok(Json(with_texts(&app, &template).await?))
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

/// Copies version by version: a version that does not fit cancels the copy and removes it.
pub(crate) async fn duplicate(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<NameRequest>,
) -> Result<(StatusCode, Json<TemplateBody>), Rejection> {
    let source = app.template(&caller, &id).await?;
    let mut found = Problems::default();
    check::name(body.name.as_deref(), &mut found);
    found.into_result()?;
    let now = app.clock.now();
    let cut: String = source.name.chars().take(check::LONGEST_NAME - 11).collect();
    let copy = Template {
        id: if source.id.is_dynamic() {
            app.entropy.dynamic_template_id()
        } else {
            app.entropy.legacy_template_id()
        },
        account: caller.id().clone(),
        name: body.name.unwrap_or_else(|| format!("Duplicate: {cut}")),
        created_at: now,
        updated_at: now,
        versions: Vec::new(),
    };
    placed(app.store.create_template(&copy, LIMIT).await?)?;
    match copy_versions(&app, &caller, &source, &copy).await {
        Ok(copy) => Ok((StatusCode::CREATED, Json(with_texts(&app, &copy).await?))),
        Err(refused) => {
            app.store.delete_template(caller.id(), &copy.id).await?;
            Err(refused)
        }
    }
}

async fn copy_versions(
    app: &App,
    caller: &Caller,
    source: &Template,
    copy: &Template,
) -> Result<Template, Rejection> {
    let mut latest = copy.clone();
    for old in &source.versions {
        let texts = version::texts(app, caller, old).await?;
        let id = app.entropy.version_id();
        let new = Version {
            texts: id.clone(),
            id,
            updated_at: copy.created_at,
            ..old.clone()
        };
        app.store.put_texts(caller.id(), &new.texts, &texts).await?;
        let added = app.store.add_version(caller.id(), &copy.id, &new, LIMIT);
        match placed(added.await?) {
            Ok(template) => latest = template,
            Err(refused) => {
                app.store.delete_texts(caller.id(), &new.texts).await?;
                return Err(refused);
            }
        }
    }
    Ok(latest)
}

/// Bytes of text in one answer. Lambda passes on at most 6 MB, and JSON makes some texts longer;
/// one version of any size fits.
const MOST: usize = 3 << 20;

/// The template with the texts of its versions: of the active one first, then of the latest, as
/// long as they fit into one response. A version requested alone always has its texts. A version
/// that is being changed or deleted has none.
async fn with_texts(app: &App, template: &Template) -> Result<TemplateBody, Rejection> {
    let mut versions: Vec<_> = template.versions.iter().rev().collect();
    versions.sort_by_key(|version| !version.active);
    let (mut found, mut left) = (BTreeMap::new(), MOST);
    for version in versions {
        let texts = app.store.texts(&template.account, &version.texts).await?;
        let Some(texts) = texts else { continue };
        let size = texts.html_content.len() + texts.plain_content.len();
        let Some(rest) = left.checked_sub(size) else {
            break;
        };
        left = rest;
        found.insert(version.id.clone(), texts);
    }
    Ok(TemplateBody::with(template, &mut found))
}
