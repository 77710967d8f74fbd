//! The rules of SPEC.md, "PATCH /v3/user/webhooks/event/settings/{id}": from a body to a webhook.

use posthaste_http::Rejection;
use posthaste_model::{EventKind, Patch, Problems};
use posthaste_store::Webhook;
use posthaste_webhook::{Guard, check_url, oauth_place};

use crate::App;
use crate::fail::url_message;
use crate::wire::WebhookSettings;

/// The longest name, client id and secret taken, in bytes; one of ours.
const LONGEST: usize = 1024;

/// The answer to a request that sets the flag without naming it in the query, which SPEC.md, "event
/// webhook update", asks for.
const STATUS_CHANGE_HINT: &str =
    "account_status_change is set by requests with include=account_status_change in the query";

/// Applies a body to a webhook: omitted fields are unchanged, and all problems are reported at
/// once.
///
/// `status_change` says whether the caller requested that flag, without which it is not set.
///
/// # Errors
/// 400 with every problem.
pub(crate) fn apply(
    app: &App,
    body: &WebhookSettings,
    status_change: bool,
    mut webhook: Webhook,
) -> Result<Webhook, Rejection> {
    let mut found = Problems::default();
    let guard = app.client.guard();
    check_target(body, guard, &mut webhook, &mut found);
    check_flags(body, status_change, &mut webhook, &mut found);
    check_text("friendly_name", &body.friendly_name, &mut found);
    body.friendly_name.clone().apply(&mut webhook.friendly_name);
    check_oauth(body, guard, &mut webhook, &mut found);
    found.into_result()?;
    if let Patch::Set(secret) = &body.oauth_client_secret
        && !secret.is_empty()
    {
        let place = oauth_place(&webhook.account, &webhook.id);
        webhook.oauth_client_secret = Some(app.seal(&place, secret.as_bytes())?);
    }
    Ok(webhook)
}

fn check_target(
    body: &WebhookSettings,
    guard: &Guard,
    webhook: &mut Webhook,
    found: &mut Problems,
) {
    let Patch::Set(url) = &body.url else {
        found.add("url", "missing required argument");
        return;
    };
    match check_url(url, guard) {
        Ok(target) => {
            // Another receiver has its own history.
            if webhook.target != target.as_str() {
                webhook.failing_since = None;
                webhook.slow_since = None;
            }
            webhook.url.clone_from(url);
            webhook.target = target.into();
        }
        Err(problem) => found.add("url", url_message(url, &problem)),
    }
}

fn check_flags(
    body: &WebhookSettings,
    status_change: bool,
    webhook: &mut Webhook,
    found: &mut Problems,
) {
    match body.enabled {
        Patch::Keep => {}
        Patch::Clear => found.add("enabled", "enabled must be a boolean"),
        Patch::Set(enabled) => {
            if enabled && !webhook.enabled {
                webhook.failing_since = None;
                webhook.unreported = None;
            }
            webhook.enabled = enabled;
        }
    }
    for (kind, flag) in body.flags() {
        if kind == EventKind::AccountStatusChange && !status_change {
            // Clients send back what an earlier answer held; a subscription is never overlooked.
            let unheard = *flag == Patch::Set(true) && !webhook.kinds.contains(&kind);
            found.unless(!unheard, kind.flag(), STATUS_CHANGE_HINT);
            continue;
        }
        match flag {
            Patch::Keep => {}
            Patch::Clear => found.add(kind.flag(), format!("{} must be a boolean", kind.flag())),
            Patch::Set(true) => _ = webhook.kinds.insert(kind),
            Patch::Set(false) => _ = webhook.kinds.remove(&kind),
        }
    }
}

fn check_text(field: &str, value: &Patch<String>, found: &mut Problems) {
    if let Patch::Set(text) = value {
        let message = format!("{field} exceeds {LONGEST} bytes");
        found.unless(text.len() <= LONGEST, field, &message);
    }
}

/// OAuth rules 2 and 3: an id needs a token URL, a secret needs both, empty strings disable it.
/// They apply to the resulting webhook, so stored and sent values combine.
///
/// A new token URL keeps the stored secret, as rule 2 says ("needed once"): a caller that may
/// change a webhook's settings decides where its credentials go, just as where its events go. The
/// test post, which requires fewer scopes, sends the secret to no new address.
fn check_oauth(body: &WebhookSettings, guard: &Guard, webhook: &mut Webhook, found: &mut Problems) {
    for (field, value) in [
        ("oauth_client_id", &body.oauth_client_id),
        ("oauth_client_secret", &body.oauth_client_secret),
    ] {
        check_text(field, value, found);
    }
    filled(&body.oauth_client_id).apply(&mut webhook.oauth_client_id);
    filled(&body.oauth_token_url).apply(&mut webhook.oauth_token_url);
    if let Patch::Set(url) = filled(&body.oauth_token_url)
        && let Err(problem) = check_url(&url, guard)
    {
        found.add("oauth_token_url", url_message(&url, &problem));
    }
    let has_id = webhook.oauth_client_id.is_some();
    let has_url = webhook.oauth_token_url.is_some();
    let new_secret = filled(&body.oauth_client_secret);
    if matches!(new_secret, Patch::Clear) || !has_id && !has_url {
        // Disabled; a secret without its id is useless.
        webhook.oauth_client_secret = None;
    }
    if has_id && !has_url {
        found.add(
            "oauth_token_url",
            "oauth_client_id requires oauth_token_url",
        );
    }
    let has_secret = webhook.oauth_client_secret.is_some() || matches!(new_secret, Patch::Set(_));
    if has_secret && !(has_id && has_url) {
        found.add(
            "oauth_client_secret",
            "oauth_client_secret requires oauth_client_id and oauth_token_url",
        );
    }
    if has_id && has_url && !has_secret {
        found.add(
            "oauth_client_secret",
            "oauth_client_secret is required to configure OAuth",
        );
    }
}

/// The empty string means the same as `null` here.
fn filled(value: &Patch<String>) -> Patch<String> {
    match value {
        Patch::Set(text) if text.is_empty() => Patch::Clear,
        other => other.clone(),
    }
}
