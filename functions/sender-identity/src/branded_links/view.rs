//! A branded link as the API shows it.

use std::collections::BTreeMap;

use posthaste_model::{Record, RecordKind};
use posthaste_store::{Account, BrandedLink};
use serde::{Deserialize, Serialize};

use crate::App;
use crate::wire::Dns;

/// The record that leads the host here.
pub(crate) const HOST_RECORD: &str = "domain_cname";

/// The record that names the account.
pub(crate) const OWNER_RECORD: &str = "owner_cname";

/// The body that creates a branded link.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LinkRequest {
    pub(crate) domain: Option<String>,
    /// `url` and four digits when it is left out.
    pub(crate) subdomain: Option<String>,
    pub(crate) default: Option<bool>,
    pub(crate) region: Option<String>,
}

/// The body that changes one.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LinkChange {
    pub(crate) default: Option<bool>,
}

/// A branded link as the API shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BrandedLinkView {
    id: i64,
    domain: String,
    subdomain: String,
    username: String,
    user_id: u32,
    default: bool,
    valid: bool,
    legacy: bool,
    dns: BTreeMap<String, Dns>,
}

impl BrandedLinkView {
    /// The link of this owner.
    pub(crate) fn of(app: &App, link: BrandedLink, owner: &Account) -> Self {
        Self {
            id: link.id,
            username: owner.username.clone(),
            user_id: owner.user_id,
            default: link.default,
            valid: link.is_valid(),
            legacy: false,
            dns: Dns::of_all(records(app, &link, owner)),
            domain: link.domain,
            subdomain: link.subdomain,
        }
    }
}

/// The records to publish. Where this installation has lost its host name, they say so by having no target.
pub(crate) fn records(app: &App, link: &BrandedLink, owner: &Account) -> Vec<Record> {
    let target = app.links.host.clone().unwrap_or_default();
    let record = |name: &str, host: String, valid: bool| Record {
        name: name.to_owned(),
        kind: RecordKind::Cname,
        host,
        data: target.clone(),
        valid,
    };
    let owned = format!("{}.{}", owner.user_id, link.domain);
    vec![
        record(HOST_RECORD, link.host(), link.host_valid),
        record(OWNER_RECORD, owned, link.owner_valid),
    ]
}
