//! The REST calls that examine a mail: its HTML, its links, its spam score, and thumbnails of its pictures.

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use posthaste_mime::read::ParsedMail;
use serde_json::{Value, json};

use super::ApiResponse;
use crate::app::{App, Refusal, find};
use crate::params::Params;
use crate::thumbnail::thumbnail;
use crate::{download, html_check, link_check, mail, message};

/// `GET /api/v1/message/{id}/html-check`.
pub(crate) async fn html(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let found = find(&app, &id, query).await?;
    let read = move || mail::html(&ParsedMail::read(&found.raw));
    let html = app.mailbox.apart("html", read).await?;
    if html.is_empty() {
        let why = "message does not contain HTML";
        return Err(Refusal::Bad(why.to_owned()));
    }
    super::json(&app, move || html_check::check(&html)).await
}

/// `GET /api/v1/message/{id}/link-check?follow=`: the status that each link answers with.
pub(crate) async fn links(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Json<Value>> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let found = find(&app, &id, query).await?;
    let Some(client) = app.sources.links.clone() else {
        let why = "this mailbox opens no links";
        return Err(Refusal::Bad(why.to_owned()));
    };
    let read = move || link_check::urls(&ParsedMail::read(&found.raw));
    let urls = app.mailbox.apart("links", read).await?;
    let Ok(_permit) = app.link_checks.try_acquire() else {
        return Err(Refusal::TooMany("checks of links"));
    };
    let checked = link_check::check(&client, urls, params.follow, link_check::LONGEST).await;
    let failed = checked.iter().filter(|link| link.is_error()).count();
    Ok(Json(json!({"Errors": failed, "Links": checked})))
}

/// `GET /api/v1/message/{id}/sa-check`: the verdict of the host's spam filter.
pub(crate) async fn spam(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Json<Value>> {
    let found = find(&app, &id, query).await?;
    let Some(filter) = app.sources.spam.clone() else {
        let why = "no spam filter is configured: start the service with --spam-filter or \
                   --outgoing-spam-filter";
        return Err(Refusal::Bad(why.to_owned()));
    };
    // As Mailpit: that the filter fails is part of a good answer.
    Ok(Json(match filter.score(&found.raw).await {
        Ok(verdict) => {
            let rules = verdict.rules().into_iter().map(|rule| {
                json!({"Score": rule.score, "Name": rule.name, "Description": rule.description})
            });
            json!({
                "Error": "",
                "IsSpam": verdict.is_spam(),
                "Rules": rules.collect::<Vec<_>>(),
                "Score": verdict.score,
            })
        }
        Err(error) => {
            json!({"Error": error.to_string(), "IsSpam": false, "Rules": [], "Score": 0})
        }
    }))
}

/// `GET /api/v1/message/{id}/part/{part}/thumb`.
pub(crate) async fn thumb(
    State(app): State<App>,
    Path((id, part)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let found = find(&app, &id, query).await?;
    let fetch = move || {
        let part = message::fetch(&found.raw, &part)?;
        Some((part.name, thumbnail(&part.kind, &part.bytes)))
    };
    // Never closed.
    let _permit = app.thumbnails.acquire().await.ok();
    let made = app.mailbox.apart("thumbnail", fetch).await?;
    let (name, jpeg) = made.ok_or(Refusal::NotFound)?;
    let headers = [
        (header::CONTENT_TYPE, "image/jpeg".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            download::disposition(true, &name),
        ),
    ];
    Ok((headers, jpeg).into_response())
}
