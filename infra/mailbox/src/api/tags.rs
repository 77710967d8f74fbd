//! The REST calls about tags.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde::Deserialize;

use super::{ApiResponse, OK, read_fields};
use crate::app::{App, Refusal};
use crate::mailbox::MailboxNews;
use crate::store::TagProblem;
use crate::tags;

/// Mails of one call.
const MOST_MAILS: usize = 10_000;

/// `GET /api/v1/tags`: the tags of all mails, in the order of the alphabet.
pub(crate) async fn list(State(app): State<App>) -> ApiResponse<Json<Vec<String>>> {
    let counted = app.mailbox.tags().await?;
    Ok(Json(counted.into_iter().map(|(name, _)| name).collect()))
}

/// `{"IDs": ["…"], "Tags": ["…"]}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagsBody {
    ids: Vec<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// `PUT /api/v1/tags`: the mails have these tags and no others.
pub(crate) async fn set(State(app): State<App>, body: String) -> ApiResponse<impl IntoResponse> {
    let form = r#"{"IDs": ["…"], "Tags": ["…"]}"#;
    let TagsBody { ids, tags } = read_fields(&app, body, form).await?;
    if ids.len() > MOST_MAILS {
        let why = format!("IDs names more than {MOST_MAILS} messages");
        return Err(Refusal::Bad(why));
    }
    let names = tags.unwrap_or_default();
    if names.len() > tags::MOST {
        let most = tags::MOST;
        return Err(Refusal::Bad(format!("Tags has more than {most} names")));
    }
    let cleaned = tags::cleaned(&names);
    if let Some(odd) = names.iter().find(|name| tags::clean(name).is_empty()) {
        return Err(invalid(odd));
    }
    let news = cleaned.clone();
    let set = move |store: &mut crate::store::Store| store.set_tags(&ids, &cleaned);
    let found = app.mailbox.ask("tags", set).await?;
    for id in found {
        app.mailbox.announce(MailboxNews::Tagged(id, news.clone()));
    }
    app.mailbox.touch();
    Ok(OK)
}

/// `{"Name": "…"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameBody {
    name: String,
}

/// `PUT /api/v1/tags/{tag}`.
pub(crate) async fn rename(
    State(app): State<App>,
    Path(tag): Path<String>,
    body: String,
) -> ApiResponse<impl IntoResponse> {
    let NameBody { name } = read_fields(&app, body, r#"{"Name": "…"}"#).await?;
    let to = tags::clean(&name);
    if to.is_empty() {
        return Err(invalid(&name));
    }
    let (from, new) = (tag.clone(), to.clone());
    let renamed = app
        .mailbox
        .ask("tags", move |store| store.rename_tag(&from, &new));
    match renamed.await? {
        None => {}
        Some(TagProblem::Unknown) => return Err(unknown(&tag)),
        Some(TagProblem::Taken) => {
            return Err(Refusal::Bad(format!("tag already exists: {to}")));
        }
    }
    app.mailbox.announce(MailboxNews::Pruned);
    app.mailbox.touch();
    Ok(OK)
}

/// `DELETE /api/v1/tags/{tag}`: takes the tag off all mails, which stay.
pub(crate) async fn delete(
    State(app): State<App>,
    Path(tag): Path<String>,
) -> ApiResponse<impl IntoResponse> {
    let name = tag.clone();
    let deleted = app
        .mailbox
        .ask("tags", move |store| store.delete_tag(&name));
    if !deleted.await? {
        return Err(unknown(&tag));
    }
    app.mailbox.announce(MailboxNews::Pruned);
    app.mailbox.touch();
    Ok(OK)
}

fn unknown(tag: &str) -> Refusal {
    Refusal::Bad(format!("tag not found: {tag}"))
}

fn invalid(name: &str) -> Refusal {
    Refusal::Bad(format!(
        "invalid tag name: {name:?}; it has letters, digits, spaces and - _ . @"
    ))
}
