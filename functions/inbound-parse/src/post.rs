//! The POST itself.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use posthaste_mime::inbound::{Facts, Mode, Signature, Spam, Spf, form};
use posthaste_queue::{Inbound, Judged};
use posthaste_store::{ParseSetting, StoreError};
use posthaste_webhook::{
    Post, PostOutcome, PostSecurity, RequestStage, SealedOauth, SealedSecurity,
};

use crate::App;

/// What secures the posts of a setting, or why it cannot be used; `None` where the setting names no
/// security policy.
pub(crate) async fn security(
    app: &App,
    setting: &ParseSetting,
) -> Result<Result<Option<PostSecurity>, String>, StoreError> {
    let account = &setting.account;
    let Some(id) = &setting.security_policy else {
        return Ok(Ok(None));
    };
    let Some(policy) = app.store.security_policy(account, id).await? else {
        // Deleted since the setting was read: the next attempt reads what the setting says then.
        return Ok(Err("its security policy is deleted".to_owned()));
    };
    let sealed = SealedSecurity {
        account,
        id: id.as_str(),
        private_key: policy.signing.as_ref().map(|pair| &*pair.private_key),
        oauth: policy.oauth.as_ref().map(|oauth| SealedOauth {
            client_id: &oauth.client_id,
            client_secret: Some(&oauth.client_secret),
            token_url: &oauth.token_url,
            scopes: &oauth.scopes,
        }),
    };
    let opened = PostSecurity::open(&app.sealer, sealed);
    Ok(opened.map(Some).map_err(|error| {
        tracing::error!(account.id = %account, error = %error, "security policy {id} cannot be used: {error}");
        error.to_string()
    }))
}

/// Posts a mail once to the URL of its setting.
///
/// The bytes are the same at each attempt, unless the setting has changed. They are signed anew with
/// the time of the attempt: receivers reject old timestamps, and retries last for 72 hours.
pub(crate) async fn post(
    app: &App,
    (setting, security): (&ParseSetting, Option<&PostSecurity>),
    job: &Inbound,
    judged: &Judged,
    raw: Bytes,
) -> PostOutcome {
    let unreachable = |detail: String| PostOutcome::Unreachable {
        stage: RequestStage::Name,
        detail,
    };
    let url = match setting.target.parse() {
        Ok(url) => url,
        Err(error) => return unreachable(format!("the url cannot be read: {error}")),
    };
    let form = || encoded(setting, job, judged, &raw);
    let (content_type, body) = posthaste_offload::run(raw.len(), form).await;
    // Only the form is needed now; two copies of a large mail are enough.
    drop(raw);
    let content_type = match HeaderValue::try_from(content_type) {
        Ok(value) => value,
        Err(error) => return unreachable(error.to_string()),
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, content_type);
    let body = Bytes::from(body);
    let Some(security) = security else {
        return app.client.post(Post { url, headers, body }).await;
    };
    let now = app.clock.now();
    let sign = || security.sign(&mut headers, now, &body);
    posthaste_offload::run(body.len(), sign).await;
    let post = Post { url, headers, body };
    security.post(&app.client, &app.tokens, post).await
}

fn encoded(
    setting: &ParseSetting,
    job: &Inbound,
    judged: &Judged,
    raw: &[u8],
) -> (String, Vec<u8>) {
    let dkim: Vec<Signature> = judged
        .dkim
        .iter()
        .map(|(domain, passed)| Signature {
            domain: domain.clone(),
            passed: *passed,
        })
        .collect();
    let scored = judged.spam.as_ref().map(|scored| Spam {
        score: Some(scored.score),
        report: scored.report.clone(),
    });
    let unscored = judged.unscored.as_ref().map(|reason| Spam {
        score: None,
        report: reason.clone(),
    });
    let spam = scored.or(unscored).filter(|_| setting.spam_check);
    let facts = Facts {
        envelope_from: &job.from,
        envelope_to: &job.to,
        sender_ip: job.ip,
        received: job.trace.as_deref(),
        spf: spf(&judged.spf),
        dkim: &dkim,
        spam: spam.as_ref(),
    };
    let mode = if setting.send_raw {
        Mode::Raw
    } else {
        Mode::Parsed
    };
    form(raw, &facts, mode).encode()
}

/// A receiver accepts five values (API facts, section 4); a failed check has no result.
fn spf(word: &str) -> Spf {
    match word {
        "pass" => Spf::Pass,
        "fail" => Spf::Fail,
        "softfail" => Spf::SoftFail,
        "neutral" => Spf::Neutral,
        _ => Spf::None,
    }
}
