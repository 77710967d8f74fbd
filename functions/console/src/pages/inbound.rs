//! Received mail: the hostnames that it is posted of, their MX records as the DNS has them, and mail that was lost.

use askama::Template;
use futures_util::future::join_all;
use posthaste_model::Timestamp;
use posthaste_store::ApiKey;
use serde::Deserialize;

use crate::api::{ApiReader, ReadError, encoded};
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;

/// The scope that reads settings and lost mail.
const READ: &str = "user.webhooks.parse.settings.read";

const SETTINGS: &str = "/v3/user/webhooks/parse/settings";

/// Hostnames whose records are looked up; those of others are on no page.
const LOOKED_UP: usize = 20;

/// Lost mails on a page.
const SHOWN: usize = 50;

const HERE: &str = "/console/inbound";

#[derive(Template)]
#[template(path = "inbound.html")]
struct InboundPage {
    settings: Result<Vec<HostnameRow>, String>,
    /// How many hostnames are not looked up.
    unseen: usize,
    lost: Result<Vec<LostRow>, String>,
    newest: Option<&'static str>,
    older: Option<String>,
    rights: InboundRights,
}

/// What the reader may change.
struct InboundRights {
    create: bool,
    update: bool,
    delete: bool,
}

impl InboundRights {
    fn of(key: &ApiKey) -> Self {
        let holds = |word| key.holds(&format!("user.webhooks.parse.settings.{word}"));
        Self {
            create: holds("create"),
            update: holds("update"),
            delete: holds("delete"),
        }
    }
}

/// A hostname, and where its mail is posted.
#[derive(Deserialize)]
struct HostnameRow {
    hostname: String,
    url: String,
    spam_check: bool,
    send_raw: bool,
    security_policy: Option<String>,
    mx: Option<MxRow>,
}

#[derive(Deserialize)]
struct MxRow {
    expected: String,
    found: Vec<String>,
    valid: bool,
    reason: Option<String>,
}

struct LostRow {
    hostname: String,
    received: String,
    gave_up: String,
    attempts: u32,
    reason: String,
}

#[derive(Deserialize)]
struct HostnamesAnswer {
    result: Vec<HostnameRow>,
}

#[derive(Deserialize)]
struct LostAnswer {
    result: Vec<LostMailAnswer>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct LostMailAnswer {
    hostname: String,
    received_at: Timestamp,
    gave_up_at: Timestamp,
    attempts: u32,
    reason: String,
}

impl From<LostMailAnswer> for LostRow {
    fn from(lost: LostMailAnswer) -> Self {
        Self {
            hostname: lost.hostname,
            received: lost.received_at.iso(),
            gave_up: lost.gave_up_at.iso(),
            attempts: lost.attempts,
            reason: lost.reason,
        }
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let after = visit.params.text("after");
    let (settings, lost) = futures_util::join!(settings(&visit.api), lost(&visit.api, after));
    let unseen = settings
        .as_ref()
        .map_or(0, |rows| rows.len().saturating_sub(LOOKED_UP));
    let (lost, next) = match lost {
        Ok(LostAnswer { result, next }) => {
            (Ok(result.into_iter().map(LostRow::from).collect()), next)
        }
        Err(error) => (Err(error.without(READ)), None),
    };
    let page = InboundPage {
        settings: settings.map_err(|error| error.without(READ)),
        unseen,
        lost,
        newest: (!after.is_empty()).then_some(HERE),
        older: next.map(|next| format!("{HERE}?after={}", encoded(&next))),
        rights: InboundRights::of(&visit.caller.key),
    };
    PageContent::of(texts::INBOUND, &page)
}

/// The settings, the first with their MX records.
async fn settings(api: &ApiReader) -> Result<Vec<HostnameRow>, ReadError> {
    let answer = api.get::<HostnamesAnswer>(SETTINGS).await?;
    let mut rows = answer.result;
    let mut lookups = Vec::new();
    for row in rows.iter().take(LOOKED_UP) {
        lookups.push(exchange(api, &row.hostname));
    }
    let found = join_all(lookups).await;
    for (row, mx) in rows.iter_mut().zip(found) {
        row.mx = mx;
    }
    Ok(rows)
}

/// The MX records of a hostname, if they can be looked up.
async fn exchange(api: &ApiReader, hostname: &str) -> Option<MxRow> {
    let path = format!("{SETTINGS}/{}?details=true", encoded(hostname));
    let setting = api.get::<HostnameRow>(&path).await.ok()?;
    setting.mx
}

async fn lost(api: &ApiReader, after: &str) -> Result<LostAnswer, ReadError> {
    let mut path = format!("/v3/user/webhooks/parse/undelivered?limit={SHOWN}");
    if !after.is_empty() {
        path = format!("{path}&after={}", encoded(after));
    }
    api.get(&path).await
}
