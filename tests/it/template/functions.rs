//! Every deployed function, built as its `main` builds it.

use posthaste_http::Routes;
use posthaste_runtime::{Boot, Error};

pub(crate) enum Kind {
    Http(fn(&Boot) -> Result<Routes, Error>),
    Worker(fn(&Boot) -> Result<(), Error>),
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
            Kind::Worker(|boot| started(delivery::App::open(boot))),
        ),
        (
            "event-settings",
            Kind::Http(|boot| {
                let app = event_settings::App::open(boot)?;
                Ok(event_settings::routes(app, boot.gate()?))
            }),
        ),
        (
            "inbound-parse",
            Kind::Worker(|boot| started(inbound_parse::App::open(boot))),
        ),
        (
            "mail-batch",
            Kind::Http(|boot| {
                let app = mail_batch::App::open(boot)?;
                Ok(mail_batch::routes(app, boot.gate()?))
            }),
        ),
        ("mail-send", Kind::Http(mail_send)),
        (
            "parse-settings",
            Kind::Http(|boot| {
                let app = parse_settings::App::open(boot)?;
                Ok(parse_settings::routes(app, boot.gate()?))
            }),
        ),
        (
            "schedule-sweep",
            Kind::Worker(|boot| started(schedule_sweep::App::open(boot))),
        ),
        (
            "sender-identity",
            Kind::Http(|boot| {
                let app = sender_identity::App::open(boot)?;
                Ok(sender_identity::routes(app, boot.gate()?))
            }),
        ),
        (
            "ses-feedback",
            Kind::Worker(|boot| started(ses_feedback::App::open(boot))),
        ),
        ("subusers", Kind::Http(subusers)),
        (
            "templates",
            Kind::Http(|boot| {
                let app = templates::App::open(boot)?;
                Ok(templates::routes(app, boot.gate()?))
            }),
        ),
        (
            "suppressions",
            Kind::Http(|boot| {
                let app = suppressions::App::open(boot)?;
                Ok(suppressions::routes(app, boot.gate()?))
            }),
        ),
        (
            "tracking",
            Kind::Http(|boot| {
                let app = tracking::App::open(boot)?;
                Ok(tracking::routes(app, boot.gate()?))
            }),
        ),
        (
            "webhook-fanout",
            Kind::Worker(|boot| started(webhook_fanout::App::open(boot))),
        ),
    ]
}

/// Whether a worker can be built; what was built is not needed.
fn started<A, E: Into<Error>>(app: Result<A, E>) -> Result<(), Error> {
    app.map(drop).map_err(Into::into)
}

fn mail_send(boot: &Boot) -> Result<Routes, Error> {
    let app = mail_send::App::open(boot)?;
    Ok(mail_send::routes(app, boot.gate()?))
}

fn api_keys(boot: &Boot) -> Result<Routes, Error> {
    let app = api_keys::App::open(boot)?;
    Ok(api_keys::routes(app, boot.gate()?))
}

fn activity(boot: &Boot) -> Result<Routes, Error> {
    let app = activity::App::open(boot)?;
    Ok(activity::routes(app, boot.gate()?))
}

fn access_settings(boot: &Boot) -> Result<Routes, Error> {
    let app = access_settings::App::open(boot)?;
    Ok(access_settings::routes(app, boot.gate()?))
}

fn account_settings(boot: &Boot) -> Result<Routes, Error> {
    let app = account_settings::App::open(boot)?;
    Ok(account_settings::routes(app, boot.gate()?))
}

fn subusers(boot: &Boot) -> Result<Routes, Error> {
    let app = subusers::App::open(boot)?;
    Ok(subusers::routes(app, boot.gate()?))
}
