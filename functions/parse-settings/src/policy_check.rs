//! The body of a security policy, and its rules (page "Securing your Inbound Parse Webhooks").

use posthaste_http::Rejection;
use posthaste_model::{Patch, Problems};
use posthaste_store::{PolicyOauth, SecurityPolicy, Signing};
use posthaste_webhook::{WebhookKeyPair, check_url, oauth_place, signing_place};
use serde::Deserialize;

use crate::App;
use crate::check::url_message;

/// The longest name, client id, secret and list of scopes taken, in bytes, as for event webhooks.
const LONGEST: usize = 1024;

/// The body of a create or an update; every field may be left out.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct PolicyRequest {
    #[cfg_attr(test, schemars(with = "String"))]
    name: Patch<String>,
    #[cfg_attr(test, schemars(with = "Option<OauthRequest>"))]
    oauth: Patch<OauthRequest>,
    #[cfg_attr(test, schemars(with = "Option<SignatureRequest>"))]
    signature: Patch<SignatureRequest>,
}

/// A new policy needs all but `scopes`; a change keeps what is left out.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
struct OauthRequest {
    client_id: Option<String>,
    client_secret: Option<String>,
    token_url: Option<String>,
    scopes: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
struct SignatureRequest {
    enabled: Option<bool>,
}

/// Applies a body to a policy: omitted fields are unchanged, and all problems are reported at once.
///
/// # Errors
/// 400 with every problem, also when the resulting policy would neither sign nor authorize.
pub(crate) fn apply(
    app: &App,
    body: &PolicyRequest,
    mut policy: SecurityPolicy,
) -> Result<SecurityPolicy, Rejection> {
    let mut found = Problems::default();
    match &body.name {
        Patch::Keep => {}
        Patch::Clear => found.add("name", "name must be a string"),
        Patch::Set(name) => {
            check_text("name", name, &mut found);
            policy.name.clone_from(name);
        }
    }
    let is_signed = match &body.signature {
        Patch::Keep => policy.signing.is_some(),
        Patch::Clear => false,
        Patch::Set(SignatureRequest { enabled }) => enabled.unwrap_or_else(|| {
            found.add("signature.enabled", "missing required argument");
            false
        }),
    };
    let oauth = match &body.oauth {
        Patch::Keep => None,
        Patch::Clear => {
            policy.oauth = None;
            None
        }
        Patch::Set(oauth) => Some(oauth),
    };
    if let Some(oauth) = oauth {
        check_oauth(app, oauth, policy.oauth.is_none(), &mut found);
    }
    let is_secure = is_signed || oauth.is_some() || policy.oauth.is_some();
    if found.is_empty() && !is_secure {
        found.add(
            "signature",
            "a security policy has a signature, oauth or both",
        );
    }
    found.into_result()?;
    if let Some(oauth) = oauth {
        policy.oauth = Some(with_oauth(app, oauth, &policy)?);
    }
    // Enabling it again keeps the key that receivers already have.
    if is_signed && policy.signing.is_none() {
        policy.signing = Some(new_pair(app, &policy)?);
    }
    if !is_signed {
        policy.signing = None;
    }
    Ok(policy)
}

fn check_text(field: &str, text: &str, found: &mut Problems) {
    let message = format!("{field} exceeds {LONGEST} bytes");
    found.unless(text.len() <= LONGEST, field, &message);
}

fn check_oauth(app: &App, oauth: &OauthRequest, is_new: bool, found: &mut Problems) {
    let texts = [
        ("oauth.client_id", &oauth.client_id),
        ("oauth.client_secret", &oauth.client_secret),
        ("oauth.token_url", &oauth.token_url),
    ];
    for (field, text) in texts {
        match text {
            None if is_new => found.add(field, "missing required argument"),
            None => {}
            Some(text) if text.is_empty() => found.add(field, "missing required argument"),
            Some(url) if field == "oauth.token_url" => {
                if let Err(problem) = check_url(url, &app.guard) {
                    found.add(field, url_message(field, &problem));
                }
            }
            Some(text) => check_text(field, text, found),
        }
    }
    let scopes = oauth.scopes.as_deref().unwrap_or_default();
    // A scope-token of RFC 6749, section 3.3.
    let legal = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    let is_scope = |scope: &String| !scope.is_empty() && scope.bytes().all(legal);
    let field = "oauth.scopes";
    found.unless(
        scopes.iter().all(is_scope),
        field,
        "a scope has printable characters of ASCII, without spaces, quotes and backslashes",
    );
    check_text(field, &scopes.join(" "), found);
}

/// The policy's OAuth part with what the body changes. A new token URL keeps the stored secret, as
/// that of an event webhook does.
fn with_oauth(
    app: &App,
    oauth: &OauthRequest,
    policy: &SecurityPolicy,
) -> Result<PolicyOauth, Rejection> {
    let old = policy.oauth.as_ref();
    let kept = |new: &Option<String>, old: Option<&String>| {
        let text = new.as_ref().or(old);
        text.cloned().unwrap_or_default()
    };
    let client_secret = match &oauth.client_secret {
        None => old.map(|old| old.client_secret.clone()).unwrap_or_default(),
        Some(secret) => {
            let place = oauth_place(&policy.account, &policy.id);
            app.seal(&place, secret.as_bytes())?
        }
    };
    let old_scopes = old.map(|old| old.scopes.clone());
    Ok(PolicyOauth {
        client_id: kept(&oauth.client_id, old.map(|old| &old.client_id)),
        client_secret,
        token_url: kept(&oauth.token_url, old.map(|old| &old.token_url)),
        scopes: oauth.scopes.clone().or(old_scopes).unwrap_or_default(),
    })
}

fn new_pair(app: &App, policy: &SecurityPolicy) -> Result<Signing, Rejection> {
    let pair = WebhookKeyPair::generate(&app.entropy).map_err(|e| Rejection::internal(&e))?;
    let place = signing_place(&policy.account, &policy.id);
    Ok(Signing {
        public_key: pair.public_key().to_owned(),
        private_key: app.seal(&place, &pair.to_bytes())?,
    })
}
