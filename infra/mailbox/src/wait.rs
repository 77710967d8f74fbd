//! What Mailpit does not have, for tests: to wait for a mail, and to take its codes and links.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use crate::api::json;
use crate::app::{App, Refusal, find, wait_for_row};
use crate::extract::{MailCode, MailLink, codes, links};
use crate::message::Full;
use crate::params::Params;

/// The answer of a wait: the mail as `GET /api/v1/message/{id}` has it, with what a test takes from it.
#[derive(Serialize)]
struct Awaited {
    #[serde(flatten)]
    message: Full,
    /// When the relay took it: RFC 3339, as in lists.
    #[serde(rename = "Created")]
    created: String,
    #[serde(rename = "Codes")]
    codes: Vec<MailCode>,
    #[serde(rename = "Links")]
    links: Vec<MailLink>,
}

/// `{"Codes": […]}`.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct CodeList {
    codes: Vec<MailCode>,
}

/// `{"Links": […]}`.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct LinkList {
    links: Vec<MailLink>,
}

/// `GET /api/v1/wait?query=&after=&timeout=`: the newest mail that matches, as soon as there is one, and marks it as
/// read.
pub(crate) async fn wait(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let params = Params::read(&query.unwrap_or_default());
    let row = wait_for_row(&app, &params).await?;
    let found = app.mailbox.load(row).await?.ok_or(Refusal::NoMail)?;
    app.mailbox.mark_read(&found.summary.id).await?;
    json(&app, move || {
        let mail = ParsedMail::read(&found.raw);
        Awaited {
            codes: codes(&mail),
            links: links(&mail),
            created: found.summary.created.clone(),
            message: Full::of(&found),
        }
    })
    .await
}

/// `GET /api/v1/message/{id}/codes`.
pub(crate) async fn message_codes(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let found = find(&app, &id, query).await?;
    let read = move || CodeList {
        codes: codes(&ParsedMail::read(&found.raw)),
    };
    json(&app, read).await
}

/// `GET /api/v1/message/{id}/links`.
pub(crate) async fn message_links(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let found = find(&app, &id, query).await?;
    let read = move || LinkList {
        links: links(&ParsedMail::read(&found.raw)),
    };
    json(&app, read).await
}
