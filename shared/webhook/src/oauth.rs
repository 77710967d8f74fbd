//! OAuth client credentials (RFC 6749, section 4.4): fetches, caches and renews tokens.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use posthaste_cache::BoundedMap;
use posthaste_model::{Clock, Timestamp};
use serde::Deserialize;
use url::Url;
use url::form_urlencoded::byte_serialize;

use crate::outcome::TokenProblem;
use crate::{Post, PostOutcome, WebhookClient};

/// How long a token without a stated lifetime is cached, in seconds.
const UNSTATED: i64 = 600;
/// A token is renewed this long before it expires, in seconds, or at half of a shorter lifetime.
const MARGIN: i64 = 60;
/// How long a failure is cached, in seconds: a dead token URL is not called for every post.
const FAILURE_LIFE: i64 = 5;
/// How long a token URL may take to answer: as long as an event webhook.
const LONGEST_FETCH: Duration = Duration::from_secs(12);
/// How many tokens are cached. Past that, the one used longest ago is fetched again when needed.
const MOST: usize = 10_000;

/// The credentials of a webhook or security policy for its token URL. The secret does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct OauthCredentials {
    pub client_id: String,
    /// Empty when the owner set none.
    pub client_secret: String,
    pub token_url: Url,
    /// What the token is to permit (RFC 6749, section 3.3); empty where the token URL decides.
    pub scopes: Vec<String>,
}

impl fmt::Debug for OauthCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OauthCredentials({})", self.client_id)
    }
}

/// The tokens of one process, one per webhook or security policy.
#[derive(Debug)]
pub struct Tokens {
    clock: Clock,
    /// The inner lock is held while a token is fetched, so that many posts fetch it once.
    slots: BoundedMap<String, Arc<tokio::sync::Mutex<Option<CachedToken>>>>,
}

struct CachedToken {
    credentials: OauthCredentials,
    token: Result<HeaderValue, TokenProblem>,
    until: Timestamp,
}

impl fmt::Debug for CachedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept(until {})", self.until)
    }
}

impl Tokens {
    /// An empty cache; `clock` decides when a token has expired.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            slots: BoundedMap::new(MOST),
        }
    }

    /// Posts with a token of `name`, a webhook or security policy; a receiver that refuses the
    /// token gets the post with a fresh one, once.
    pub async fn post(
        &self,
        client: &WebhookClient,
        name: &str,
        credentials: &OauthCredentials,
        post: Post,
    ) -> PostOutcome {
        let token = match self.token(client, name, credentials, None).await {
            Ok(token) => token,
            Err(problem) => return PostOutcome::NoToken(problem),
        };
        let first = client.post(with_token(&post, &token)).await;
        if !refuses_token(&first) {
            return first;
        }
        match self.token(client, name, credentials, Some(&token)).await {
            Ok(fresh) => client.post(with_token(&post, &fresh)).await,
            Err(problem) => PostOutcome::NoToken(problem),
        }
    }

    /// Drops the cached token of a webhook: it was deleted or its credentials changed.
    pub fn forget(&self, name: &str) {
        self.slots.remove(&name.to_owned());
    }

    /// The cached token while it is valid and not `refused`, or else a new one.
    async fn token(
        &self,
        client: &WebhookClient,
        name: &str,
        credentials: &OauthCredentials,
        refused: Option<&HeaderValue>,
    ) -> Result<HeaderValue, TokenProblem> {
        let slot = self.slots.update(name.to_owned(), |slot| Arc::clone(slot));
        let mut kept = slot.lock().await;
        let now = self.clock.now();
        if let Some(kept) = kept.as_ref().filter(|kept| {
            now < kept.until
                && kept.credentials == *credentials
                && (refused.is_none() || kept.token.as_ref().ok() != refused)
        }) {
            return kept.token.clone();
        }
        let (token, life) = match fetch(client, credentials).await {
            Ok((token, life)) => (Ok(token), life),
            Err(problem) => (Err(problem), FAILURE_LIFE),
        };
        *kept = Some(CachedToken {
            credentials: credentials.clone(),
            token: token.clone(),
            until: self.clock.now().plus(life),
        });
        token
    }
}

/// Whether a receiver refuses the token and not what was posted: any 401, and a 400 or 403 whose body
/// names the error of RFC 6750, section 3.1 (page "Securing your Inbound Parse Webhooks").
fn refuses_token(outcome: &PostOutcome) -> bool {
    let PostOutcome::Answered(answer) = outcome else {
        return false;
    };
    let names = |error: &[u8]| {
        let mut parts = answer.body_head.windows(error.len());
        parts.any(|part| part == error)
    };
    match answer.status {
        StatusCode::UNAUTHORIZED => true,
        StatusCode::BAD_REQUEST => names(b"invalid_request"),
        StatusCode::FORBIDDEN => names(b"insufficient_scope"),
        _ => false,
    }
}

fn with_token(post: &Post, token: &HeaderValue) -> Post {
    let mut post = post.clone();
    post.headers.insert(AUTHORIZATION, token.clone());
    post
}

/// Calls the token URL: the form's grant type and scopes, the credentials as HTTP Basic (RFC 6749,
/// 2.3.1). It has [`LONGEST_FETCH`], however long the client waits for a receiver of large posts.
async fn fetch(
    client: &WebhookClient,
    credentials: &OauthCredentials,
) -> Result<(HeaderValue, i64), TokenProblem> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let (id, secret) = (&credentials.client_id, &credentials.client_secret);
    let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    let mut headers = HeaderMap::new();
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(CONTENT_TYPE, form);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(AUTHORIZATION, sensitive(&format!("Basic {pair}"))?);
    let mut form = "grant_type=client_credentials".to_owned();
    if !credentials.scopes.is_empty() {
        form = format!("{form}&scope={}", encoded(&credentials.scopes.join(" ")));
    }
    let asked = Post {
        url: credentials.token_url.clone(),
        headers,
        body: form.into(),
    };
    let asked = tokio::time::timeout(LONGEST_FETCH, client.post(asked)).await;
    match asked.unwrap_or(PostOutcome::TimedOut) {
        PostOutcome::Answered(answer) if answer.status.is_success() => read(&answer.body_head),
        PostOutcome::Answered(answer) => Err(TokenProblem::Status(answer.status)),
        PostOutcome::TimedOut => Err(TokenProblem::TimedOut),
        other @ (PostOutcome::Refused(_)
        | PostOutcome::Unreachable { .. }
        | PostOutcome::NoToken(_)
        | PostOutcome::Unsecured(_)) => Err(TokenProblem::Unanswered(other.to_string())),
    }
}

/// The answer of RFC 6749, section 5.1. Some servers write the lifetime as text or a fraction.
#[derive(Deserialize)]
struct Granted {
    access_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<serde_json::Value>,
}

/// The header that carries the token, and for how many seconds it may be used.
fn read(body: &[u8]) -> Result<(HeaderValue, i64), TokenProblem> {
    let granted: Granted = serde_json::from_slice(body)
        .map_err(|_| TokenProblem::Answer("is not the JSON of RFC 6749, section 5.1"))?;
    let kind = granted.token_type.as_deref().unwrap_or("bearer");
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(TokenProblem::Answer(
            "has a token that is not a bearer token",
        ));
    }
    let token = granted.access_token.filter(|token| !token.is_empty());
    let token = token.ok_or(TokenProblem::Answer("has no access_token"))?;
    let stated = granted.expires_in.as_ref().and_then(seconds);
    let life = stated.unwrap_or(UNSTATED);
    Ok((
        sensitive(&format!("Bearer {token}"))?,
        (life - MARGIN).max(life / 2),
    ))
}

fn seconds(value: &serde_json::Value) -> Option<i64> {
    let number = match value {
        serde_json::Value::Number(number) => number.as_f64(),
        serde_json::Value::String(text) => text.trim().parse().ok(),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_) => None,
    };
    // A year is longer than any process lives.
    let year = f64::from(365 * 24 * 3600);
    let bounded = number.filter(|n| n.is_finite())?.clamp(0.0, year);
    format!("{bounded:.0}").parse().ok()
}

/// A header value that does not print.
fn sensitive(text: &str) -> Result<HeaderValue, TokenProblem> {
    let value = HeaderValue::try_from(text);
    let mut value =
        value.map_err(|_| TokenProblem::Answer("has a token that is no header value"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_answer_is_read_as_servers_write_it() {
        for (body, want) in [
            (
                r#"{"access_token":"t","token_type":"Bearer","expires_in":3600}"#,
                Ok(("Bearer t", 3540)),
            ),
            (
                r#"{"access_token":"t","expires_in":"3600"}"#,
                Ok(("Bearer t", 3540)),
            ),
            (
                r#"{"access_token":"t","expires_in":3600.9,"x":1}"#,
                Ok(("Bearer t", 3541)),
            ),
            (r#"{"access_token":"t"}"#, Ok(("Bearer t", 540))),
            (
                r#"{"access_token":"t","expires_in":null}"#,
                Ok(("Bearer t", 540)),
            ),
            (
                r#"{"access_token":"t","expires_in":30}"#,
                Ok(("Bearer t", 15)),
            ),
            (
                r#"{"access_token":"t","expires_in":0}"#,
                Ok(("Bearer t", 0)),
            ),
            (
                r#"{"access_token":"t","expires_in":-5}"#,
                Ok(("Bearer t", 0)),
            ),
            (
                r#"{"access_token":"t","expires_in":1e300}"#,
                Ok(("Bearer t", 31_535_940)),
            ),
            (r#"{"access_token":""}"#, Err("has no access_token")),
            (r#"{"expires_in":1}"#, Err("has no access_token")),
            (
                r#"{"access_token":"t","token_type":"mac"}"#,
                Err("has a token that is not a bearer token"),
            ),
            (
                r#"{"access_token":"a\r\nX: y"}"#,
                Err("has a token that is no header value"),
            ),
            (
                "access_token=t",
                Err("is not the JSON of RFC 6749, section 5.1"),
            ),
            ("", Err("is not the JSON of RFC 6749, section 5.1")),
        ] {
            let found = read(body.as_bytes());
            let found = found.map(|(value, life)| (value.to_str().unwrap().to_owned(), life));
            let want = want.map(|(text, life)| (text.to_owned(), life));
            assert_eq!(found, want.map_err(TokenProblem::Answer), "{body}");
        }
    }

    #[test]
    fn neither_a_secret_nor_a_token_prints() {
        let credentials = OauthCredentials {
            client_id: "id".into(),
            client_secret: "hush".into(),
            token_url: Url::parse("https://u:hush@example.com/").unwrap(),
            scopes: Vec::new(),
        };
        let (token, _) = read(br#"{"access_token":"hush"}"#).unwrap();
        let printed = format!("{credentials:?} {token:?}");
        assert!(!printed.contains("hush"), "{printed}");
    }
}
