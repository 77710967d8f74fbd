//! `POST /v3/user/webhooks/event/test`: one post of made-up events, now, without retries.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Caller, JsonBody, Rejection};
use posthaste_model::Problems;
use posthaste_store::Webhook;
use posthaste_webhook::{
    OauthCredentials, Post, PostOutcome, Tokens, Unopened, WebhookKeyPair, batch, check_url,
    oauth_place, samples, signing_place,
};
use url::Url;

use crate::App;
use crate::fail::url_message;
use crate::wire::{Trial, TrialView};

/// Characters of an answer that are shown: as many as are stored of other posts.
const SHOWN: usize = 500;

/// Posts one event of each kind to the URL of the body. With the id of a webhook the post is signed
/// and authorized like that webhook's posts. A receiver that does not answer 2xx results in a 400
/// that reports its answer, unless the body asks for the details.
pub(crate) async fn post(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<Trial>,
) -> Result<Response, Rejection> {
    let mut found = Problems::default();
    let url = wanted_url("url", body.url.as_deref(), &app, &mut found);
    let missing = body.url.as_deref().unwrap_or_default().is_empty();
    found.unless(!missing, "url", "missing required argument");
    let field = "oauth_token_url";
    let _checked = wanted_url(field, body.oauth_token_url.as_deref(), &app, &mut found);
    let Some(url) = url.filter(|_| found.is_empty()) else {
        return Err(found.into());
    };
    let webhook = match body.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => Some(app.webhook(&caller, id).await?),
        None => None,
    };
    let signer = webhook.as_ref().map(|w| signer(&app, w)).transpose()?;
    let credentials = credentials(&app, &body, &url, webhook.as_ref())?;
    let now = app.clock.now();
    let events = samples::events(now, &app.entropy);
    // A dozen small events are one post.
    let packed = batch::pack(&events).into_iter().next();
    let sample = packed.map(|packed| packed.body).unwrap_or_default();
    let post = Post {
        url,
        headers: batch::headers(signer.flatten().as_ref(), now, &sample),
        body: sample,
    };
    let made = TrialView {
        headers: texts(&post.headers),
        body: String::from_utf8_lossy(&post.body).into_owned(),
        ..TrialView::default()
    };
    let outcome = match credentials {
        None => app.client.post(post).await,
        Some(credentials) => {
            let tokens = Tokens::new(app.clock.clone());
            tokens.post(&app.client, "test", &credentials, post).await
        }
    };
    if body.details {
        Ok(Json(made.answered(&outcome)).into_response())
    } else if outcome.is_success() {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        let message = format!("The test events were not delivered: {outcome}");
        Err(Rejection::on("url", message))
    }
}

fn texts(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let all = headers.iter();
    all.map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

impl TrialView {
    /// With what became of the post.
    fn answered(self, outcome: &PostOutcome) -> Self {
        let (answer, took_ms) = match outcome {
            PostOutcome::Answered(answer) => {
                let text = String::from_utf8_lossy(&answer.body_head);
                (text.chars().take(SHOWN).collect(), Some(answer.took_ms))
            }
            failed => (failed.to_string(), None),
        };
        Self {
            delivered: outcome.is_success(),
            status_code: outcome.status().map(|status| status.as_u16()),
            answer,
            took_ms,
            ..self
        }
    }
}

/// The URL of a text, if there is one and it may be posted to; reports what is wrong with it.
fn wanted_url(field: &str, text: Option<&str>, app: &App, found: &mut Problems) -> Option<Url> {
    let text = text.filter(|text| !text.is_empty())?;
    match check_url(text, app.client.guard()) {
        Ok(url) => Some(url),
        Err(problem) => {
            found.add(field, url_message(text, &problem));
            None
        }
    }
}

fn signer(app: &App, webhook: &Webhook) -> Result<Option<WebhookKeyPair>, Rejection> {
    let Some(signing) = &webhook.signing else {
        return Ok(None);
    };
    let place = signing_place(&webhook.account, &webhook.id);
    let pair = app.sealer.open_pair(&place, &signing.private_key);
    pair.map(Some).map_err(|e| unopened(&place, e))
}

fn unopened(place: &str, error: Unopened) -> Rejection {
    Rejection::internal(&format!("{error}: {place}"))
}

/// The credentials in the body, completed with those of the webhook. The stored secret goes only to
/// the stored token URL, and the token it yields only to the webhook's own URL: a caller that may
/// send test posts need not know the secret.
fn credentials(
    app: &App,
    body: &Trial,
    url: &Url,
    webhook: Option<&Webhook>,
) -> Result<Option<OauthCredentials>, Rejection> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let stored_id = webhook.and_then(|w| w.oauth_client_id.clone());
    let stored_url = webhook.and_then(|w| w.oauth_token_url.as_deref());
    let client_id = given(&body.oauth_client_id).or(stored_id);
    let token_url = given(&body.oauth_token_url).or(stored_url.map(str::to_owned));
    let (client_id, token_url) = match (client_id, token_url) {
        (Some(id), Some(url)) => (id, url),
        (None, _) => return Ok(None),
        (Some(_), None) => {
            let message = "oauth_client_id requires oauth_token_url";
            return Err(Rejection::on("oauth_token_url", message));
        }
    };
    let mut found = Problems::default();
    let token_url = wanted_url("oauth_token_url", Some(&token_url), app, &mut found);
    found.into_result()?;
    let Some(token_url) = token_url else {
        return Ok(None);
    };
    let at_home = stored_url.and_then(|stored| check_url(stored, app.client.guard()).ok());
    let at_home = at_home.is_some_and(|stored| stored == token_url)
        && webhook.is_some_and(|w| w.target == url.as_str());
    let client_secret = match given(&body.oauth_client_secret) {
        Some(secret) => secret,
        None if at_home => stored_secret(app, webhook)?,
        None => {
            let message = "oauth_client_secret is required for another url or oauth_token_url than \
                 those of the webhook";
            return Err(Rejection::on("oauth_client_secret", message));
        }
    };
    Ok(Some(OauthCredentials {
        client_id,
        client_secret,
        token_url,
        scopes: Vec::new(),
    }))
}

fn stored_secret(app: &App, webhook: Option<&Webhook>) -> Result<String, Rejection> {
    let sealed = webhook.and_then(|w| Some((w, w.oauth_client_secret.as_ref()?)));
    let Some((webhook, sealed)) = sealed else {
        return Ok(String::new());
    };
    let place = oauth_place(&webhook.account, &webhook.id);
    let secret = app.sealer.open_text(&place, sealed);
    secret.map_err(|e| unopened(&place, e))
}
