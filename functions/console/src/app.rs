//! The dependencies of the pages.

use posthaste_http::{Authorizer, Routes};
use posthaste_model::{Clock, Entropy, PublicUrl};
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

use crate::api::ApiRouter;

/// The dependencies of the pages, among them the functions whose answers they show.
#[derive(Clone)]
pub struct App {
    /// Holds sessions and the links that open them.
    pub store: Store,
    pub clock: Clock,
    pub entropy: Entropy,
    /// The address that pages show in commands; if missing, the one at which the gateway was called.
    pub public_url: Option<PublicUrl>,
    access_settings: access_settings::App,
    account_settings: account_settings::App,
    activity: activity::App,
    api_keys: api_keys::App,
    event_settings: event_settings::App,
    mail_batch: mail_batch::App,
    parse_settings: parse_settings::App,
    sender_identity: sender_identity::App,
    subusers: subusers::App,
    suppressions: suppressions::App,
    templates: templates::App,
}

impl App {
    /// Reads `TABLE_NAME`, `PUBLIC_URL` (the gateway's), and what the functions read whose answers it shows:
    /// `SEARCH_DAYS`, `SEND_QUEUE_URL`, `RETRIES_QUEUE_URL`, `INBOUND_QUEUE_URL`, `BUCKET_NAME`, `MAIL_HOST`, `STACK_SECRET`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER`, `DELIVERY`,
    /// `SERVICE_PRICE`, `RELAY_PRICE`, `HORIZON_SECONDS`, `MAX_WEBHOOKS`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            public_url: platform.env().optional("PUBLIC_URL")?,
            access_settings: access_settings::App::from_env(platform)?,
            account_settings: account_settings::App::from_env(platform)?,
            activity: activity::App::from_env(platform)?,
            api_keys: api_keys::App::from_env(platform)?,
            event_settings: event_settings::App::from_env(platform)?,
            mail_batch: mail_batch::App::from_env(platform)?,
            parse_settings: parse_settings::App::from_env(platform)?,
            sender_identity: sender_identity::App::from_env(platform)?,
            subusers: subusers::App::from_env(platform)?,
            suppressions: suppressions::App::from_env(platform)?,
            templates: templates::App::from_env(platform)?,
        })
    }

    /// The calls that pages read, behind this authorizer.
    fn api(&self, gate: &Authorizer) -> Routes {
        let gate = || gate.clone();
        access_settings::routes(self.access_settings.clone(), gate())
            .merge(account_settings::routes(
                self.account_settings.clone(),
                gate(),
            ))
            .merge(activity::routes(self.activity.clone(), gate()))
            .merge(api_keys::routes(self.api_keys.clone(), gate()))
            .merge(event_settings::routes(self.event_settings.clone(), gate()))
            .merge(mail_batch::routes(self.mail_batch.clone(), gate()))
            .merge(parse_settings::routes(self.parse_settings.clone(), gate()))
            .merge(sender_identity::routes(
                self.sender_identity.clone(),
                gate(),
            ))
            .merge(subusers::routes(self.subusers.clone(), gate()))
            .merge(suppressions::routes(self.suppressions.clone(), gate()))
            .merge(templates::routes(self.templates.clone(), gate()))
    }
}

/// The state that the handlers share.
#[derive(Clone)]
pub(crate) struct AppState {
    pub(crate) app: App,
    pub(crate) gate: Authorizer,
    pub(crate) api: ApiRouter,
}

impl AppState {
    pub(crate) fn new(app: App, gate: Authorizer) -> Self {
        let api = ApiRouter::new(app.api(&gate).into_router());
        Self { app, gate, api }
    }
}
