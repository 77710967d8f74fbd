//! `POST …/versions/{version_id}/preview`, an extension: what a recipient would see, by the
//! renderer that sends, and what the data lacks.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::Mail;
use posthaste_render::{Input, effective, missing_variables, render};
use posthaste_store::{AccountSettings, Template, Version, VersionTexts};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{App, check, version};

/// What the preview is made with. Everything may be left out; a dynamic template then takes its
/// own `test_data`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Given {
    dynamic_template_data: Option<serde_json::Map<String, Value>>,
    #[serde(default)]
    substitutions: serde_json::Map<String, Value>,
    subject: Option<String>,
    #[serde(default)]
    content: Vec<Value>,
}

/// Renders one version.
pub(crate) async fn preview(
    State(app): State<App>,
    caller: Caller,
    PathParams((template, version)): PathParams<(String, String)>,
    JsonBody(given): JsonBody<Given>,
) -> Result<Json<Value>, Rejection> {
    let (template, head) = app.version(&caller, (&template, &version)).await?;
    let texts = version::texts(&app, &caller, &head).await?;
    let account = app.store.settings(caller.id()).await?;
    let rendering = || rendered(&template, &head, &texts, given, &account);
    posthaste_offload::run(posthaste_offload::UNKNOWN, rendering).await
}

fn rendered(
    template: &Template,
    head: &Version,
    texts: &VersionTexts,
    given: Given,
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
    let mail: Mail = serde_json::from_value(mail).map_err(|e| Rejection::bad(e.to_string()))?;
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
