//! What may use the account, and what did: keys, the IP allow list, sessions, attempts.

mod allow_list;
pub(super) mod keys;
mod sessions;

use askama::Template;
use axum::http::StatusCode;
use posthaste_model::Timestamp;
use serde::Deserialize;

use crate::api::{ApiReader, ReadError};
use crate::content::{PageContent, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;
use allow_list::{AllowListShown, Effect};
use keys::KeyRow;
use sessions::SessionRow;

/// Attempts on the page; the API has more.
const ATTEMPTS: usize = 20;

#[derive(Template)]
#[template(path = "access.html")]
struct AccessPage {
    keys: PartRows<KeyRow>,
    list: Result<AllowListShown, String>,
    sessions: PartRows<SessionRow>,
    attempts: PartRows<AttemptRow>,
}

/// Rows, or why there are none.
type PartRows<T> = Result<Vec<T>, String>;

/// What the API answers with in `result`.
#[derive(Deserialize)]
struct Listed<T> {
    result: Vec<T>,
}

/// Attempts from one address, in one way, of one outcome.
struct AttemptRow {
    ip: String,
    way: &'static str,
    outcome: MailStatus,
    first: String,
    last: String,
}

#[derive(Deserialize)]
struct AttemptAnswer {
    allowed: bool,
    auth_method: String,
    first_at: Timestamp,
    ip: String,
    last_at: Timestamp,
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let read = futures_util::join!(
        keys::rows(&visit),
        allow_list::shown(&visit),
        sessions::rows(&visit),
        attempts(&visit.api),
    );
    let page = AccessPage {
        keys: read.0.map_err(why("api_keys.read")),
        list: read.1.map_err(why("access_settings.whitelist.read")),
        sessions: read.2.map_err(why("access_settings.activity.read")),
        attempts: read.3.map_err(why("access_settings.activity.read")),
    };
    PageContent::of(texts::ACCESS, &page)
}

/// Why a part of the page is missing that needs this scope.
fn why(scope: &'static str) -> impl Fn(ReadError) -> String {
    move |error| match error.status {
        StatusCode::FORBIDDEN => texts::lacks(scope),
        _ => error.message,
    }
}

async fn attempts(api: &ApiReader) -> Result<Vec<AttemptRow>, ReadError> {
    let path = format!("/v3/access_settings/activity?limit={ATTEMPTS}");
    let seen = api.get::<Listed<AttemptAnswer>>(&path).await?;
    let row = |attempt: AttemptAnswer| AttemptRow {
        way: texts::way(&attempt.auth_method),
        outcome: MailStatus::of(if attempt.allowed { "let in" } else { "refused" }),
        first: attempt.first_at.iso(),
        last: attempt.last_at.iso(),
        ip: attempt.ip,
    };
    Ok(seen.result.into_iter().map(row).collect())
}
