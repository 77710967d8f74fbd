//! One authenticated domain, or the host of an account's links: its records, and what the DNS answers for each.

use std::collections::BTreeMap;

use askama::Template;
use posthaste_model::Timestamp;
use serde::Deserialize;

use super::domains::DomainRights;
use crate::api::encoded;
use crate::content::{PageContent, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;

#[derive(Template)]
#[template(path = "domain.html")]
struct DomainPage {
    name: String,
    /// The path of the API.
    path: String,
    is_link: bool,
    is_default: bool,
    status: MailStatus,
    /// When the records were looked up last; `None` before.
    checked: Option<String>,
    records: Vec<RecordRow>,
    /// The domain itself, for the record of its policy.
    domain: String,
    rights: DomainRights,
}

/// A record of the DNS.
struct RecordRow {
    /// As the API calls it.
    name: String,
    kind: String,
    host: String,
    data: String,
    status: MailStatus,
}

#[derive(Deserialize)]
struct HostAnswer {
    domain: String,
    subdomain: String,
    valid: bool,
    #[serde(rename = "default")]
    is_default: bool,
    #[serde(default)]
    last_validation_attempt_at: Option<i64>,
    dns: BTreeMap<String, RecordAnswer>,
}

#[derive(Deserialize)]
struct RecordAnswer {
    data: String,
    host: String,
    #[serde(rename = "type")]
    kind: String,
    valid: bool,
}

impl RecordRow {
    fn of((name, record): (String, RecordAnswer)) -> Self {
        Self {
            name,
            kind: record.kind.to_uppercase(),
            host: record.host,
            data: record.data,
            status: texts::validity(record.valid),
        }
    }
}

pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    let link = id.strip_prefix("link-");
    let path = match link {
        Some(link) => format!("/v3/whitelabel/links/{}", encoded(link)),
        None => format!("/v3/whitelabel/domains/{}", encoded(&id)),
    };
    let host = visit.api.get::<HostAnswer>(&path).await?;
    let name = match link {
        Some(_) => format!("{}.{}", host.subdomain, host.domain),
        None => host.domain.clone(),
    };
    let checked = host.last_validation_attempt_at.filter(|at| *at > 0);
    let page = DomainPage {
        name: name.clone(),
        path,
        is_link: link.is_some(),
        is_default: host.is_default,
        status: texts::validity(host.valid),
        checked: checked.map(|at| Timestamp(at).iso()),
        records: host.dns.into_iter().map(RecordRow::of).collect(),
        domain: host.domain,
        rights: DomainRights::of(&visit.caller.key),
    };
    PageContent::of(name, &page)
}
