//! The audit log: who changed what, latest first.

use askama::Template;
use posthaste_model::Timestamp;
use serde::Deserialize;

use crate::api::{ReadError, encoded, next_place};
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;

/// Changes on a page.
const SHOWN: usize = 50;

const HERE: &str = "/console/audit-log";

#[derive(Template)]
#[template(path = "audit_log.html")]
struct AuditLogPage {
    problem: Option<String>,
    rows: Vec<ChangeRow>,
    /// The address of the first page, where this is another.
    newest: Option<&'static str>,
    older: Option<String>,
}

struct ChangeRow {
    at: String,
    method: String,
    path: String,
    /// The id or name of what was created.
    created: Option<String>,
    /// A key, a session or the operator.
    by: &'static str,
    name: String,
    /// The page of the key.
    key: Option<String>,
    acted_for: bool,
    ip: String,
}

#[derive(Deserialize)]
struct ChangesAnswer {
    result: Vec<ChangeAnswer>,
}

#[derive(Deserialize)]
struct ChangeAnswer {
    at: Timestamp,
    method: String,
    path: String,
    created: Option<String>,
    changed_by: String,
    name: String,
    api_key_id: Option<String>,
    acting_account_id: Option<String>,
    ip: String,
}

impl From<ChangeAnswer> for ChangeRow {
    fn from(change: ChangeAnswer) -> Self {
        Self {
            at: change.at.iso(),
            method: change.method,
            path: change.path,
            created: change.created,
            by: texts::changed_by(&change.changed_by),
            name: change.name,
            // The keys of another account have no page here.
            key: change
                .api_key_id
                .filter(|_| change.acting_account_id.is_none()),
            acted_for: change.acting_account_id.is_some(),
            ip: change.ip,
        }
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let after = visit.params.text("after");
    let read = changes(&visit, after).await;
    let (rows, older, problem) = match read {
        Ok((rows, next)) => (rows, next, None),
        Err(error) => {
            let why = error.without("access_settings.activity.read");
            (Vec::new(), None, Some(why))
        }
    };
    let page = AuditLogPage {
        problem,
        rows,
        newest: (!after.is_empty()).then_some(HERE),
        older: older.map(|place| format!("{HERE}?after={}", encoded(&place))),
    };
    PageContent::of(texts::AUDIT_LOG, &page)
}

async fn changes(
    visit: &PageVisit,
    after: &str,
) -> Result<(Vec<ChangeRow>, Option<String>), ReadError> {
    let mut path = format!("/v3/access_settings/audit_log?limit={SHOWN}");
    if !after.is_empty() {
        path = format!("{path}&after={}", encoded(after));
    }
    let (headers, answer) = visit.api.get_with_headers::<ChangesAnswer>(&path).await?;
    let rows = answer.result.into_iter().map(ChangeRow::from).collect();
    Ok((rows, next_place(&headers)))
}
