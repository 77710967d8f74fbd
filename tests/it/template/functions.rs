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
            Kind::Worker(|platform| started(delivery::App::from_env(platform))),
        ),
        (
            "event-settings",
            Kind::Http(|platform| {
                let app = event_settings::App::from_env(platform)?;
                Ok(event_settings::routes(app, platform.gate()?))
            }),
        ),
        (
            "inbound-parse",
            Kind::Worker(|platform| started(inbound_parse::App::from_env(platform))),
        ),
        (
            "mail-batch",
            Kind::Http(|platform| {
                let app = mail_batch::App::from_env(platform)?;
                Ok(mail_batch::routes(app, platform.gate()?))
            }),
        ),
        ("mail-send", Kind::Http(mail_send)),
        (
            "parse-settings",
            Kind::Http(|platform| {
                let app = parse_settings::App::from_env(platform)?;
                Ok(parse_settings::routes(app, platform.gate()?))
            }),
        ),
        (
            "schedule-sweep",
            Kind::Worker(|platform| started(schedule_sweep::App::from_env(platform))),
        ),
        (
            "sender-identity",
            Kind::Http(|platform| {
                let app = sender_identity::App::from_env(platform)?;
                Ok(sender_identity::routes(app, platform.gate()?))
            }),
        ),
        (
            "ses-feedback",
            Kind::Worker(|platform| started(ses_feedback::App::from_env(platform))),
        ),
        ("subusers", Kind::Http(subusers)),
        (
            "templates",
            Kind::Http(|platform| {
                let app = templates::App::from_env(platform)?;
                Ok(templates::routes(app, platform.gate()?))
            }),
        ),
        (
            "suppressions",
            Kind::Http(|platform| {
                let app = suppressions::App::from_env(platform)?;
                Ok(suppressions::routes(app, platform.gate()?))
            }),
        ),
        (
            "tracking",
            Kind::Http(|platform| {
                let app = tracking::App::from_env(platform)?;
                Ok(tracking::routes(app, platform.gate()?))
            }),
        ),
        (
            "webhook-fanout",
            Kind::Worker(|platform| started(webhook_fanout::App::from_env(platform))),
        ),
    ]
}

/// Whether a worker can be built; what was built is not needed.
fn started<A, E: Into<Error>>(app: Result<A, E>) -> Result<(), Error> {
    app.map(drop).map_err(Into::into)
}

fn mail_send(platform: &Platform) -> Result<Routes, Error> {
    let app = mail_send::App::from_env(platform)?;
    Ok(mail_send::routes(app, platform.gate()?))
}

fn api_keys(platform: &Platform) -> Result<Routes, Error> {
    let app = api_keys::App::from_env(platform)?;
    Ok(api_keys::routes(app, platform.gate()?))
}

fn activity(platform: &Platform) -> Result<Routes, Error> {
    let app = activity::App::from_env(platform)?;
    Ok(activity::routes(app, platform.gate()?))
}

fn access_settings(platform: &Platform) -> Result<Routes, Error> {
    let app = access_settings::App::from_env(platform)?;
    Ok(access_settings::routes(app, platform.gate()?))
}

fn account_settings(platform: &Platform) -> Result<Routes, Error> {
    let app = account_settings::App::from_env(platform)?;
    Ok(account_settings::routes(app, platform.gate()?))
}

fn subusers(platform: &Platform) -> Result<Routes, Error> {
    let app = subusers::App::from_env(platform)?;
    Ok(subusers::routes(app, platform.gate()?))
}
