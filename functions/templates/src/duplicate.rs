//! `POST /v3/templates/{template_id}`: a copy with all versions, under another name.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::Problems;
use posthaste_store::{Template, Version};

use crate::wire::{NameRequest, TemplateBody};
use crate::{App, LIMIT, check, placed, version, whole};

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
        id: match source.id.is_dynamic() {
            true => app.entropy.dynamic_template_id(),
            false => app.entropy.legacy_template_id(),
        },
        account: caller.id().clone(),
        name: body.name.unwrap_or_else(|| format!("Duplicate: {cut}")),
        created_at: now,
        updated_at: now,
        versions: Vec::new(),
    };
    placed(app.store.create_template(&copy, LIMIT).await?)?;
    match versions(&app, &caller, &source, &copy).await {
        Ok(copy) => Ok((StatusCode::CREATED, Json(whole::of(&app, &copy).await?))),
        Err(refused) => {
            app.store.delete_template(caller.id(), &copy.id).await?;
            Err(refused)
        }
    }
}

async fn versions(
    app: &App,
    caller: &Caller,
    source: &Template,
    copy: &Template,
) -> Result<Template, Rejection> {
    let mut whole = copy.clone();
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
            Ok(template) => whole = template,
            Err(refused) => {
                app.store.delete_texts(caller.id(), &new.texts).await?;
                return Err(refused);
            }
        }
    }
    Ok(whole)
}
