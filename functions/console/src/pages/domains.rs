//! What the account may send from: authenticated domains, verified addresses, and the hosts of its links.

use askama::Template;
use posthaste_store::ApiKey;
use serde::Deserialize;

use crate::content::{PageContent, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;

/// Domains, links and senders on the page; the API has more.
const SHOWN: usize = 50;

/// The scope of all of them.
pub(super) const READ: &str = "whitelabel.read";

#[derive(Template)]
#[template(path = "domains.html")]
struct DomainsPage {
    domains: Result<Vec<HostRow>, String>,
    links: Result<Vec<HostRow>, String>,
    senders: Result<Vec<SenderRow>, String>,
    rights: DomainRights,
}

/// A domain, or the host of links.
struct HostRow {
    path: String,
    name: String,
    status: MailStatus,
    is_default: bool,
}

/// A verified sender, or one that is yet to be.
#[derive(Deserialize)]
struct SenderRow {
    id: i64,
    nickname: String,
    from_email: String,
    verified: bool,
}

#[derive(Deserialize)]
struct SendersListed {
    results: Vec<SenderRow>,
}

/// A domain or a link as the API lists it.
#[derive(Deserialize)]
struct ListedHost {
    id: i64,
    domain: String,
    subdomain: String,
    valid: bool,
    #[serde(rename = "default")]
    is_default: bool,
}

/// What the reader may do with domains, links and senders.
pub(super) struct DomainRights {
    can_create: bool,
    pub(super) can_check: bool,
    pub(super) can_delete: bool,
}

impl DomainRights {
    pub(super) fn of(key: &ApiKey) -> Self {
        Self {
            can_create: key.holds("whitelabel.create"),
            can_check: key.holds("whitelabel.update"),
            can_delete: key.holds("whitelabel.delete"),
        }
    }
}

impl HostRow {
    fn of(prefix: &str, host: ListedHost) -> Self {
        Self {
            path: format!("/console/domains/{prefix}{}", host.id),
            name: match prefix {
                "" => host.domain,
                _ => format!("{}.{}", host.subdomain, host.domain),
            },
            status: texts::validity(host.valid),
            is_default: host.is_default,
        }
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let domains = format!("/v3/whitelabel/domains?limit={SHOWN}");
    let links = format!("/v3/whitelabel/links?limit={SHOWN}");
    let senders = format!("/v3/verified_senders?limit={SHOWN}");
    let (domains, links, senders) = futures_util::join!(
        visit.api.get::<Vec<ListedHost>>(&domains),
        visit.api.get::<Vec<ListedHost>>(&links),
        visit.api.get::<SendersListed>(&senders),
    );
    let rows = |prefix: &'static str| {
        move |hosts: Vec<ListedHost>| {
            let hosts = hosts.into_iter();
            hosts.map(|host| HostRow::of(prefix, host)).collect()
        }
    };
    let page = DomainsPage {
        domains: domains.map(rows("")).map_err(|error| error.without(READ)),
        links: links
            .map(rows("link-"))
            .map_err(|error| error.without(READ)),
        senders: senders
            .map(|senders| senders.results)
            .map_err(|error| error.without(READ)),
        rights: DomainRights::of(&visit.caller.key),
    };
    PageContent::of(texts::DOMAINS, &page)
}
