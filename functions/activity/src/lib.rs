//! `/v3/messages…`, `/v3/logs…`, `/v3/stats`, `/v3/categories…`, `/v3/subusers/…stats…`, statistics by mailbox
//! provider, client, device and browser, bounces by classification: the results of mails, individually and counted; and
//! jobs that erase the data of addresses.

mod bounces;
mod content;
mod days;
mod download;
mod erase;
mod logs;
mod look_up;
mod mail;
mod message;
mod query;
#[cfg(test)]
mod reference;
mod search;
mod segments;
mod stats;
mod subusers;
mod sums;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_kept::KeptMails;
use posthaste_model::{Clock, Entropy, PublicUrl};
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
    /// Makes the ids and the secrets of downloads.
    pub entropy: Entropy,
    /// Base URL of the links to downloads; if missing, the URL at which the gateway was called.
    pub public_url: Option<PublicUrl>,
    /// The composed mails of accounts that keep them.
    pub kept: KeptMails,
    /// Whether mails can be searched: whether `webhook-fanout` writes the rows for it.
    pub searches: bool,
}

impl App {
    /// Reads `TABLE_NAME`, `BUCKET_NAME`, `SEARCH_DAYS`, `PUBLIC_URL` (the gateway's).
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let store = platform.store()?;
        Ok(Self {
            kept: KeptMails::new(store.clone(), platform.blob()?),
            store,
            clock: platform.clock(),
            entropy: platform.entropy(),
            public_url: platform.env().optional("PUBLIC_URL")?,
            searches: platform.env().or_default("SEARCH_DAYS", 0_u32)? > 0,
        })
    }
}

/// The statistics of subusers, beside what `subusers` serves.
fn of_subusers(routes: Routes<App>) -> Routes<App> {
    const REPUTATIONS: &str = "/v3/subusers/reputations";
    const STATS: &str = "/v3/subusers/stats";
    const SUMS: &str = "/v3/subusers/stats/sums";
    const MONTHS: &str = "/v3/subusers/stats/monthly";
    const MONTHS_OF_ONE: &str = "/v3/subusers/{subuser_name}/stats/monthly";
    let stats = Access::Scope("subusers.stats.read");
    let sums = Access::Scope("subusers.stats.sums.read");
    let months = Access::Scope("subusers.stats.monthly.read");
    let reputations = Access::Scope("subusers.reputations.read");
    routes
        .at(Method::GET, REPUTATIONS, reputations, subusers::reputations)
        .at(Method::GET, STATS, stats, subusers::by_day)
        .at(Method::GET, SUMS, sums, subusers::sums)
        .at(Method::GET, MONTHS, months, subusers::month)
        .at(Method::GET, MONTHS_OF_ONE, months, subusers::month_of_one)
}

/// Statistics by what mails were sent to and read in.
fn of_segments(routes: Routes<App>) -> Routes<App> {
    const PROVIDERS: &str = "/v3/mailbox_providers/stats";
    const CLIENTS: &str = "/v3/clients/stats";
    const CLIENTS_OF_TYPE: &str = "/v3/clients/{client_type}/stats";
    const DEVICES: &str = "/v3/devices/stats";
    const BROWSERS: &str = "/v3/browsers/stats";
    const PLACES: &str = "/v3/geo/stats";
    let providers = Access::Scope("mailbox_providers.stats.read");
    let clients = Access::Scope("clients.stats.read");
    let of_type = Access::OneOf(&segments::CLIENT_SCOPES);
    let devices = Access::Scope("devices.stats.read");
    let browsers = Access::Scope("browsers.stats.read");
    let places = Access::Scope("geo.stats.read");
    routes
        .at(Method::GET, PROVIDERS, providers, segments::providers)
        .at(Method::GET, CLIENTS, clients, segments::clients)
        .at(
            Method::GET,
            CLIENTS_OF_TYPE,
            of_type,
            segments::clients_of_type,
        )
        .at(Method::GET, DEVICES, devices, segments::devices)
        .at(Method::GET, BROWSERS, browsers, segments::browsers)
        .at(Method::GET, PLACES, places, segments::places)
}

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    const DOWNLOAD: &str = "/v3/messages/download/{download_uuid}";
    const CLASSES: &str = "/v3/suppression/bounces/classifications";
    const CLASS: &str = "/v3/suppression/bounces/classifications/{classification}";
    // The v3 API documents one path and answers the other (API facts 1, suppressions).
    const CLASSES_TOO: &str = "/v3/suppressions/bounces/classifications";
    const CLASS_TOO: &str = "/v3/suppressions/bounces/classifications/{classification}";
    const ERASEJOB: &str = "/v3/recipients/erasejob";
    const ERASEJOB_STATE: &str = "/v3/recipients/erasejob/{job_id}";
    let activity = Access::Scope("email_activity.read");
    let read = Access::Scope("messages.content.read");
    let all = Access::Scope("stats.read");
    let named = Access::Scope("categories.stats.read");
    let names = Access::Scope("categories.read");
    let sums = Access::Scope("categories.stats.sums.read");
    let bounced = Access::Scope("suppression.bounces.read");
    // The v3 API has no scope for this; this is the closest one.
    let forget = Access::Scope("suppression.delete");
    let erase = Access::Scope("recipients.erasejob.create");
    let erasing = Access::Scope("recipients.erasejob.read");
    of_segments(of_subusers(Routes::new(gate)))
        .at(Method::GET, "/v3/messages", activity, search::find)
        .at(Method::GET, "/v3/messages/{msg_id}", activity, message::one)
        .at(Method::GET, content::PATH, read, content::show)
        .at(
            Method::POST,
            "/v3/messages/download",
            activity,
            download::request,
        )
        .at(Method::GET, DOWNLOAD, activity, download::link)
        .at(Method::GET, download::FILE, Access::Public, download::open)
        .at(Method::POST, "/v3/logs", activity, logs::find)
        .at(Method::GET, "/v3/logs/{sg_message_id}", activity, logs::one)
        .at(
            Method::DELETE,
            "/v3/messages/recipients/{email}",
            forget,
            erase::forget,
        )
        .at(Method::POST, ERASEJOB, erase, erase::start)
        .at(Method::GET, ERASEJOB_STATE, erasing, erase::state)
        .at(
            Method::GET,
            "/v3/categories/stats/sums",
            sums,
            sums::by_category,
        )
        .at(Method::GET, "/v3/stats", all, stats::global)
        .at(Method::GET, "/v3/categories", names, stats::categories)
        .at(
            Method::GET,
            "/v3/categories/stats",
            named,
            stats::by_category,
        )
        .at(Method::GET, CLASSES, bounced, bounces::totals)
        .at(Method::GET, CLASS, bounced, bounces::of_one)
        .at(Method::GET, CLASSES_TOO, bounced, bounces::totals)
        .at(Method::GET, CLASS_TOO, bounced, bounces::of_one)
        .with_state(app)
}
