//! Versions: create, get, change, delete, activate, preview.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection, Takeover};
use posthaste_model::{Content, Mail, VersionId};
use posthaste_render::{Input, effective, missing_variables, render};
use posthaste_store::{AccountSettings, StoreError, Template, Version, VersionTexts};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wire::{Draft, VersionBody};
use crate::{App, check, id_taken, limit_of, placed};

/// `POST /v3/templates/{template_id}/versions`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    takeover: Takeover,
    JsonBody(draft): JsonBody<Draft>,
) -> Result<(StatusCode, Json<VersionBody>), Rejection> {
    let template = app.template(&caller, &id).await?;
    let texts = app.entropy.version_id();
    let id = match takeover.id.as_deref().map(VersionId::parse) {
        None => texts.clone(),
        Some(Err(_)) => return Err(Rejection::on("id", "id is no id of a version")),
        Some(Ok(id)) if template.version(&id).is_some() => return Err(id_taken()),
        Some(Ok(id)) => id,
    };
    let mut version = Version {
        texts,
        id,
        name: String::new(),
        subject: String::new(),
        updated_at: app.clock.now(),
        active: draft.active == Some(1),
        generate_plain_content: true,
        editor: "code".to_owned(),
        has_content: false,
    };
    let mut texts = VersionTexts::default();
    check::apply_new(&template.id, draft, &mut version, &mut texts).await?;
    let account = caller.id();
    app.store.put_texts(account, &version.texts, &texts).await?;
    let added = app
        .store
        .add_version(account, &template.id, &version, limit_of(&takeover));
    let template = match placed(added.await?) {
        Ok(template) => template,
        Err(refused) => {
            app.store.delete_texts(account, &version.texts).await?;
            return Err(refused);
        }
    };
    let stored = template.version(&version.id).unwrap_or(&version);
    let body = VersionBody::changed(&template.id, stored, texts);
    Ok((StatusCode::CREATED, Json(body)))
}

/// `GET …/versions/{version_id}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams((template, version)): PathParams<(String, String)>,
) -> Result<Json<VersionBody>, Rejection> {
    let (template, version) = app.version(&caller, (&template, &version)).await?;
    let texts = texts(&app, &caller, &version).await?;
    Ok(Json(VersionBody::of(&template.id, &version, texts)))
}

/// `PATCH …/versions/{version_id}`: what is left out stays.
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams((template, version)): PathParams<(String, String)>,
    JsonBody(draft): JsonBody<Draft>,
) -> Result<Json<VersionBody>, Rejection> {
    let (template, old) = app.version(&caller, (&template, &version)).await?;
    let mut new = old.clone();
    let mut texts = texts(&app, &caller, &old).await?;
    let active = draft.active;
    check::apply(&template.id, draft, &mut new, &mut texts).await?;
    new.texts = app.entropy.version_id();
    new.updated_at = app.clock.now();
    let account = caller.id();
    app.store.put_texts(account, &new.texts, &texts).await?;
    let change = |template: &mut Template| {
        let slot = template.versions.iter_mut().find(|v| v.id == new.id);
        let slot = slot.ok_or_else(|| NotChanged::Refused(Rejection::not_found()))?;
        // Texts that were read before another caller's change would undo it.
        if slot.texts != old.texts {
            return Err(NotChanged::Refused(stale()));
        }
        let was_active = slot.active;
        *slot = Version {
            active: was_active && active != Some(0),
            ..new.clone()
        };
        template.updated_at = new.updated_at;
        if active == Some(1) {
            template.activate(&new.id);
        }
        Ok(())
    };
    let changed = app
        .store
        .change_template(account, &template.id, change)
        .await
        .and_then(|template| placed(template).map_err(NotChanged::Refused));
    let template = match changed {
        Ok(template) => template,
        Err(NotChanged::Refused(refused)) => {
            app.store.delete_texts(account, &new.texts).await?;
            return Err(refused);
        }
        // Whether the version has the new texts is unknown: they stay.
        Err(NotChanged::Store(error)) => return Err(error.into()),
    };
    app.store.delete_texts(account, &old.texts).await?;
    let stored = template.version(&new.id).unwrap_or(&new);
    Ok(Json(VersionBody::changed(&template.id, stored, texts)))
}

/// Why a version was not changed.
enum NotChanged {
    Refused(Rejection),
    Store(StoreError),
}

impl From<StoreError> for NotChanged {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn stale() -> Rejection {
    Rejection::plain(StatusCode::CONFLICT, "the version was changed meanwhile")
}

/// `DELETE …/versions/{version_id}`.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams((template, version)): PathParams<(String, String)>,
) -> Result<StatusCode, Rejection> {
    let (template, version) = app.version(&caller, (&template, &version)).await?;
    let now = app.clock.now();
    let gone = app
        .store
        .delete_version(caller.id(), &template.id, &version.id, now);
    if gone.await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Rejection::not_found())
    }
}

/// `POST …/versions/{version_id}/activate`: sends use this one from now on.
pub(crate) async fn activate(
    State(app): State<App>,
    caller: Caller,
    PathParams((template, version)): PathParams<(String, String)>,
) -> Result<Json<VersionBody>, Rejection> {
    let (template, version) = app.version(&caller, (&template, &version)).await?;
    let now = app.clock.now();
    let change = |template: &mut Template| {
        if !template.activate(&version.id) {
            return Err(Rejection::not_found());
        }
        template.updated_at = now;
        Ok(())
    };
    let changed = app
        .store
        .change_template(caller.id(), &template.id, change)
        .await?;
    let template = placed(changed)?;
    let stored = template.version(&version.id).unwrap_or(&version);
    let texts = texts(&app, &caller, stored).await?;
    Ok(Json(VersionBody::of(&template.id, stored, texts)))
}

/// The texts of a version. Texts deleted since the head was read belong to an older head.
pub(crate) async fn texts(
    app: &App,
    caller: &Caller,
    version: &Version,
) -> Result<VersionTexts, Rejection> {
    let texts = app.store.texts(caller.id(), &version.texts).await?;
    texts.ok_or_else(stale)
}

/// What the preview is made with. Everything may be left out; a dynamic template then takes its
/// own `test_data`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PreviewRequest {
    /// A change of the version that is rendered without being stored.
    version: Option<Draft>,
    dynamic_template_data: Option<serde_json::Map<String, Value>>,
    #[serde(default)]
    substitutions: BTreeMap<String, String>,
    subject: Option<String>,
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<DocumentedContent>"))]
    content: Vec<Content>,
}

/// A part of `posthaste_model::Content`, which has no schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it is only described")]
struct DocumentedContent {
    r#type: String,
    value: String,
}

/// `GET …/preview`: renders one version with its own `test_data`.
pub(crate) async fn preview_stored(
    app: State<App>,
    caller: Caller,
    ids: PathParams<(String, String)>,
) -> Result<Json<Value>, Rejection> {
    preview(app, caller, ids, JsonBody(PreviewRequest::default())).await
}

/// `POST …/preview`: renders one version as it is stored, or with a change that is yet to be stored.
pub(crate) async fn preview(
    State(app): State<App>,
    caller: Caller,
    PathParams((template, version)): PathParams<(String, String)>,
    JsonBody(mut given): JsonBody<PreviewRequest>,
) -> Result<Json<Value>, Rejection> {
    let (template, mut head) = app.version(&caller, (&template, &version)).await?;
    let mut texts = texts(&app, &caller, &head).await?;
    if let Some(draft) = given.version.take() {
        check::apply(&template.id, draft, &mut head, &mut texts).await?;
    }
    let account = app.store.settings(caller.id()).await?;
    let rendering = || rendered(&template, &head, &texts, given, &account);
    posthaste_offload::run(posthaste_offload::UNKNOWN, rendering).await
}

fn rendered(
    template: &Template,
    head: &Version,
    texts: &VersionTexts,
    given: PreviewRequest,
    account: &AccountSettings,
) -> Result<Json<Value>, Rejection> {
    let compiled =
        check::compile(&template.id, head, texts).map_err(|e| Rejection::internal(&e))?;
    let own = || serde_json::from_str(&texts.test_data).unwrap_or_default();
    let data = Value::Object(given.dynamic_template_data.unwrap_or_else(own));
    let mail = json!({
        "personalizations": [{
            "to": [{"email": "preview@example.com"}],
            "dynamic_template_data": template.id.is_dynamic().then(|| data.to_string()),
            "substitutions": given.substitutions,
        }],
        "from": {"email": "preview@example.com"},
        "subject": given.subject,
        "content": given.content,
        "template_id": template.id,
    });
    let mail: Mail = serde_json::from_value(mail).map_err(|e| Rejection::internal(&e))?;
    let settings = effective(&account.defaults, &mail);
    let copy = mail.copies().next().ok_or_else(Rejection::not_found)?;
    let input = Input {
        mail: &mail,
        copy,
        template: Some(&compiled),
        settings: &settings,
        links: None,
    };
    let rendered =
        render(&input).map_err(|e| Rejection::plain(StatusCode::BAD_REQUEST, e.to_string()))?;
    let part = |kind: &str| {
        let mut parts = rendered.parts.iter();
        parts
            .find(|part| part.mime_type == kind)
            .map(|part| &part.value)
    };
    let missing = missing_variables(&compiled, &data.to_string());
    Ok(Json(json!({
        "subject": rendered.subject,
        "html_content": part("text/html"),
        "plain_content": part("text/plain"),
        "missing": missing.map_err(|e| Rejection::bad(e.to_string()))?,
    })))
}
