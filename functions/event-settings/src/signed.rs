//! Signatures: one key pair per webhook, created when signing is enabled and deleted when it is
//! disabled.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::WebhookId;
use posthaste_store::{Saved, Signing, Webhook};
use posthaste_webhook::{WebhookKeyPair, signing_place};

use crate::App;
use crate::app::OldestWebhook;
use crate::fail;
use crate::wire::{PublicKey, Switch};

fn shown(webhook: &Webhook) -> Json<PublicKey> {
    let signing = webhook.signing.as_ref();
    Json(PublicKey {
        id: webhook.id.to_string(),
        public_key: signing.map_or_else(String::new, |s| s.public_key.clone()),
    })
}

/// `GET …/settings/signed/{id}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<PublicKey>, Rejection> {
    Ok(shown(&app.webhook(&caller, &id).await?))
}

/// `GET …/settings/signed`: of the oldest webhook; both texts are empty on a fresh account.
pub(crate) async fn oldest(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<PublicKey>, Rejection> {
    let oldest = app.oldest(&caller).await?;
    Ok(oldest.as_ref().map_or_else(none_yet, shown))
}

/// `PATCH …/settings/signed/{id}`.
pub(crate) async fn switch(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Switch>,
) -> Result<Json<PublicKey>, Rejection> {
    let id = WebhookId::parse(&id).map_err(|_| fail::unknown_id())?;
    change(&app, &caller, &id, &body).await
}

/// `PATCH …/settings/signed`: of the oldest webhook. Switching signatures on for a fresh account
/// creates the first webhook, which is off until it gets a URL.
pub(crate) async fn switch_oldest(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<Switch>,
) -> Result<Json<PublicKey>, Rejection> {
    if !enabled(&body)? && app.oldest(&caller).await?.is_none() {
        return Ok(none_yet());
    }
    let first = || {
        let mut webhook = app.new_webhook(&caller);
        webhook.signing = Some(new_pair(&app, &webhook)?);
        Ok(webhook)
    };
    match app.oldest_or_created(&caller, first).await? {
        OldestWebhook::Created(webhook) => Ok(shown(&webhook)),
        OldestWebhook::Existing(id) => change(&app, &caller, &id, &body).await,
    }
}

fn none_yet() -> Json<PublicKey> {
    Json(PublicKey {
        id: String::new(),
        public_key: String::new(),
    })
}

fn enabled(body: &Switch) -> Result<bool, Rejection> {
    let missing = || Rejection::on("enabled", "missing required argument");
    body.enabled.ok_or_else(missing)
}

async fn change(
    app: &App,
    caller: &Caller,
    id: &WebhookId,
    body: &Switch,
) -> Result<Json<PublicKey>, Rejection> {
    let enabled = enabled(body)?;
    let now = app.clock.now();
    let changed = app.store.change_webhook(caller.id(), id, |mut webhook| {
        match (enabled, &webhook.signing) {
            // Enabling it again keeps the key that receivers already have.
            (true, Some(_)) | (false, None) => return Ok(webhook),
            (true, None) => webhook.signing = Some(new_pair(app, &webhook)?),
            (false, Some(_)) => webhook.signing = None,
        }
        webhook.updated_at = now;
        Ok::<_, Rejection>(webhook)
    });
    match changed.await? {
        Saved::Done(webhook) => Ok(shown(&webhook)),
        // The URL does not change here, so it cannot be taken.
        Saved::Missing | Saved::UrlTaken(_) => Err(fail::unknown_id()),
    }
}

fn new_pair(app: &App, webhook: &Webhook) -> Result<Signing, Rejection> {
    let pair = WebhookKeyPair::generate(&app.entropy).map_err(|e| Rejection::internal(&e))?;
    let place = signing_place(&webhook.account, &webhook.id);
    Ok(Signing {
        public_key: pair.public_key().to_owned(),
        private_key: app.seal(&place, &pair.to_bytes())?,
    })
}
