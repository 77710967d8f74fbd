//! The lists of settings, each with its switch.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, Rejection};
use posthaste_store::AccountSettings;
use serde::Serialize;

use crate::AppState;

#[derive(Serialize)]
pub(crate) struct SettingList {
    result: Vec<SettingItem>,
}

#[derive(Serialize)]
struct SettingItem {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    enabled: bool,
}

/// Name, title, description, switch.
type SettingLine = (
    &'static str,
    &'static str,
    &'static str,
    fn(&AccountSettings) -> bool,
);

const MAIL: [SettingLine; 7] = [
    (
        "address_whitelist",
        "Address Whitelist",
        "Addresses and domains that bounces and unsubscribes never keep mail from",
        |all| all.whitelist.enabled,
    ),
    (
        "bounce_purge",
        "Bounce Purge",
        "Days after which bounces are forgotten",
        |all| all.bounce_purge.enabled,
    ),
    (
        "footer",
        "Footer",
        "A text at the end of every mail",
        |all| all.defaults.footer.enable,
    ),
    (
        "forward_bounce",
        "Forward Bounce",
        "An address that is told of bounces",
        |all| all.forward_bounce.enabled,
    ),
    (
        "forward_spam",
        "Forward Spam",
        "An address that is told of spam reports",
        |all| all.forward_spam.enabled,
    ),
    (
        "spam_check",
        "Spam Checker",
        "From which score on a mail is kept back as spam, where the service has a spam filter",
        |all| all.spam_check.enabled,
    ),
    (
        "template",
        "Email Template",
        "HTML around every mail that uses no template",
        |all| all.defaults.wrapper.enable,
    ),
];

const TRACKING: [SettingLine; 4] = [
    (
        "click",
        "Click Tracking",
        "Links lead over the tracking host, which counts clicks",
        |all| all.defaults.click.enable,
    ),
    (
        "google_analytics",
        "Google Analytics",
        "utm parameters at the end of every link",
        |all| all.defaults.ganalytics.enable,
    ),
    (
        "open",
        "Open Tracking",
        "A picture in every HTML mail counts opens",
        |all| all.defaults.open.enable,
    ),
    (
        "subscription",
        "Subscription Tracking",
        "A link in every mail by which people unsubscribe",
        |all| all.defaults.subscription.enable,
    ),
];

/// `GET /v3/mail_settings`.
pub(crate) async fn mail(
    State(desk): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<SettingList>, Rejection> {
    let (limit, offset) = (query.limit(MAIL.len(), MAIL.len())?, query.offset()?);
    let all = desk.store.settings(caller.id()).await?;
    let page = MAIL.iter().skip(offset).take(limit);
    Ok(Json(listed(page, &all)))
}

/// `GET /v3/tracking_settings`.
pub(crate) async fn tracking(
    State(desk): State<AppState>,
    caller: Caller,
) -> Result<Json<SettingList>, Rejection> {
    let all = desk.store.settings(caller.id()).await?;
    Ok(Json(listed(TRACKING.iter(), &all)))
}

fn listed<'a>(lines: impl Iterator<Item = &'a SettingLine>, all: &AccountSettings) -> SettingList {
    let item = |(name, title, description, enabled): &SettingLine| SettingItem {
        name,
        title,
        description,
        enabled: enabled(all),
    };
    SettingList {
        result: lines.map(item).collect(),
    }
}
