//! The lists of settings, each with its switch.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, Rejection};
use posthaste_store::AccountSettings;
use serde::Serialize;

use crate::Desk;

#[derive(Serialize)]
pub(crate) struct Listed {
    result: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    enabled: bool,
}

/// Name, title, description, switch.
type Line = (
    &'static str,
    &'static str,
    &'static str,
    fn(&AccountSettings) -> bool,
);

const MAIL: [Line; 7] = [
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

const TRACKING: [Line; 4] = [
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
    State(desk): State<Desk>,
    caller: Caller,
    query: Query,
) -> Result<Json<Listed>, Rejection> {
    let (limit, offset) = (query.limit(MAIL.len(), MAIL.len())?, query.offset()?);
    let all = desk.store.settings(caller.id()).await?;
    let page = MAIL.iter().skip(offset).take(limit);
    Ok(Json(listed(page, &all)))
}

/// `GET /v3/tracking_settings`.
pub(crate) async fn tracking(
    State(desk): State<Desk>,
    caller: Caller,
) -> Result<Json<Listed>, Rejection> {
    let all = desk.store.settings(caller.id()).await?;
    Ok(Json(listed(TRACKING.iter(), &all)))
}

fn listed<'a>(lines: impl Iterator<Item = &'a Line>, all: &AccountSettings) -> Listed {
    let item = |(name, title, description, enabled): &Line| Item {
        name,
        title,
        description,
        enabled: enabled(all),
    };
    Listed {
        result: lines.map(item).collect(),
    }
}
