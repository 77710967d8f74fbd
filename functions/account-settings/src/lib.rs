//! `/v3/mail_settings…` and `/v3/tracking_settings…`: settings for all mail of an account.
//!
//! A request's own setting overrides the account's (`posthaste_render::settings`). Changes take
//! effect within ten seconds.

mod confirm;
mod limits;
mod mail;
mod overview;
mod retired;
mod setting;
mod tracking;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_notices::Notices;
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

use setting::Setting;

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// Sends the mails that confirm a forwarding address.
    pub notices: Notices,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER` (`no-reply` at the
    /// bounce domain), `PUBLIC_URL` (the gateway's).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            notices: Notices::open(platform)?,
        })
    }
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    store: Store,
    notices: Notices,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let desk = AppState {
        store: app.store,
        notices: app.notices,
        gate: gate.clone(),
    };
    let (mail, tracking) = (
        Access::Scope("mail_settings.read"),
        Access::Scope("tracking_settings.read"),
    );
    let routes = Routes::new(gate)
        .at(Method::GET, "/v3/mail_settings", mail, overview::mail)
        .at(
            Method::GET,
            "/v3/tracking_settings",
            tracking,
            overview::tracking,
        )
        .at(Method::GET, confirm::PATH, Access::Public, confirm::ask)
        .at(Method::POST, confirm::PATH, Access::Public, confirm::accept);
    let routes = with::<mail::AddressWhitelist>(routes);
    let routes = with::<mail::BouncePurge>(routes);
    let routes = with::<mail::Footer>(routes);
    let routes = with::<mail::ForwardBounce>(routes);
    let routes = with::<mail::ForwardSpam>(routes);
    let routes = with::<mail::SpamCheck>(routes);
    let routes = with::<mail::Template>(routes);
    let routes = with::<retired::Bcc>(routes);
    let routes = with::<retired::PlainContent>(routes);
    let routes = with::<tracking::Click>(routes);
    let routes = with::<tracking::GoogleAnalytics>(routes);
    let routes = with::<tracking::OpenTracking>(routes);
    let routes = with::<tracking::Subscription>(routes);
    routes.with_state(desk)
}

/// The two routes of one setting.
fn with<S: Setting>(routes: Routes<AppState>) -> Routes<AppState> {
    let (read, update) = (Access::Scope(S::READ), Access::Scope(S::UPDATE));
    routes.at(Method::GET, S::PATH, read, setting::get::<S>).at(
        Method::PATCH,
        S::PATH,
        update,
        setting::patch::<S>,
    )
}
