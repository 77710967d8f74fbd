//! Every deployed function, built as its `main` builds it.

use posthaste_http::Routes;
use posthaste_runtime::{Error, Platform};

pub(crate) enum Kind {
    Http(fn(&Platform) -> Result<Routes, Error>),
    Worker(fn(&Platform) -> Result<(), Error>),
}

/// By name. A function that is missing here fails the test of the folders.
pub(crate) fn all() -> Vec<(&'static str, Kind)> {
    vec![
        ("access-settings", Kind::Http(access_settings)),
        ("account-settings", Kind::Http(account_settings)),
        ("activity", Kind::Http(activity)),
        ("api-keys", Kind::Http(api_keys)),
        (
            "delivery",
            Kind::Worker(|boot| started(delivery::App::from_env(boot))),
        ),
        (
            "event-settings",
            Kind::Http(|boot| {
                let app = event_settings::App::from_env(boot)?;
                Ok(event_settings::routes(app, boot.gate()?))
            }),
        ),
        (
            "inbound-parse",
            Kind::Worker(|boot| started(inbound_parse::App::from_env(boot))),
        ),
        (
            "mail-batch",
            Kind::Http(|boot| {
                let app = mail_batch::App::from_env(boot)?;
                Ok(mail_batch::routes(app, boot.gate()?))
            }),
        ),
        ("mail-send", Kind::Http(mail_send)),
        (
            "parse-settings",
            Kind::Http(|boot| {
                let app = parse_settings::App::from_env(boot)?;
                Ok(parse_settings::routes(app, boot.gate()?))
            }),
        ),
        (
            "schedule-sweep",
            Kind::Worker(|boot| started(schedule_sweep::App::from_env(boot))),
        ),
        (
            "sender-identity",
            Kind::Http(|boot| {
                let app = sender_identity::App::from_env(boot)?;
                Ok(sender_identity::routes(app, boot.gate()?))
            }),
        ),
        (
            "ses-feedback",
            Kind::Worker(|boot| started(ses_feedback::App::from_env(boot))),
        ),
        ("subusers", Kind::Http(subusers)),
        (
            "templates",
            Kind::Http(|boot| {
                let app = templates::App::from_env(boot)?;
                Ok(templates::routes(app, boot.gate()?))
            }),
        ),
        (
            "suppressions",
            Kind::Http(|boot| {
                let app = suppressions::App::from_env(boot)?;
                Ok(suppressions::routes(app, boot.gate()?))
            }),
        ),
        (
            "tracking",
            Kind::Http(|boot| {
                let app = tracking::App::from_env(boot)?;
                Ok(tracking::routes(app, boot.gate()?))
            }),
        ),
        (
            "webhook-fanout",
            Kind::Worker(|boot| started(webhook_fanout::App::from_env(boot))),
        ),
    ]
}

/// Whether a worker can be built; what was built is not needed.
fn started<A, E: Into<Error>>(app: Result<A, E>) -> Result<(), Error> {
    app.map(drop).map_err(Into::into)
}

fn mail_send(boot: &Platform) -> Result<Routes, Error> {
    let app = mail_send::App::from_env(boot)?;
    Ok(mail_send::routes(app, boot.gate()?))
}

fn api_keys(boot: &Platform) -> Result<Routes, Error> {
    let app = api_keys::App::from_env(boot)?;
    Ok(api_keys::routes(app, boot.gate()?))
}

fn activity(boot: &Platform) -> Result<Routes, Error> {
    let app = activity::App::from_env(boot)?;
    Ok(activity::routes(app, boot.gate()?))
}

fn access_settings(boot: &Platform) -> Result<Routes, Error> {
    let app = access_settings::App::from_env(boot)?;
    Ok(access_settings::routes(app, boot.gate()?))
}

fn account_settings(boot: &Platform) -> Result<Routes, Error> {
    let app = account_settings::App::from_env(boot)?;
    Ok(account_settings::routes(app, boot.gate()?))
}

fn subusers(boot: &Platform) -> Result<Routes, Error> {
    let app = subusers::App::from_env(boot)?;
    Ok(subusers::routes(app, boot.gate()?))
}
