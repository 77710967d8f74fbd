//! Posts events to one webhook.

use futures_util::StreamExt as _;
use posthaste_metrics::Metric;
use posthaste_model::Event;
use posthaste_queue::Disposition;
use posthaste_store::Webhook;
use posthaste_webhook::{
    Post, PostOutcome, PostSecurity, RetryAfter, RetryFate, Schedule, SealedOauth, SealedSecurity,
    batch, event_json,
};
use url::Url;

use crate::App;
use crate::failure::{self, Failed};
use crate::health;
use crate::post_log::{self, MadePost};

/// Concurrent posts to one webhook, when its events need several.
const AT_ONCE: usize = 4;

/// The approximate size of an event as JSON, in bytes.
const EVENT: usize = 1024;

/// What posts to a webhook require.
struct Means<'a> {
    webhook: &'a Webhook,
    url: Url,
    security: PostSecurity,
}

impl<'a> Means<'a> {
    fn of(app: &App, webhook: &'a Webhook) -> Result<Self, String> {
        let unreadable = |e: url::ParseError| format!("its URL cannot be read: {e}");
        let oauth = webhook
            .oauth_client_id
            .as_deref()
            .zip(webhook.oauth_token_url.as_deref());
        let sealed = SealedSecurity {
            account: &webhook.account,
            id: webhook.id.as_str(),
            private_key: webhook.signing.as_ref().map(|pair| &*pair.private_key),
            oauth: oauth.map(|(client_id, token_url)| SealedOauth {
                client_id,
                client_secret: webhook.oauth_client_secret.as_deref(),
                token_url,
                scopes: &[],
            }),
        };
        Ok(Self {
            webhook,
            url: webhook.target.parse().map_err(unreadable)?,
            security: PostSecurity::open(&app.sealer, sealed).map_err(|e| e.to_string())?,
        })
    }
}

/// Posts events to a webhook after `attempt` failed attempts. `Done` means that each of them was
/// accepted or stored for later.
pub(crate) async fn deliver(
    app: &App,
    webhook: &Webhook,
    events: Vec<Event>,
    attempt: u32,
) -> Disposition {
    let attempt = attempt + 1;
    if let Err(until) = app.breaker.admit(&webhook.id, app.clock.now()) {
        // Counts as an attempt: other deliveries have just timed out on this webhook.
        let last = "not tried: the webhook does not answer".to_owned();
        let failed = Failed {
            events,
            attempt,
            last,
        };
        return failure::failed(app, webhook, failed, Some(RetryAfter::At(until))).await;
    }
    let Some(_permit) = app.breaker.permit(&webhook.id) else {
        // No attempt was made. The deliveries in flight will show whether the webhook answers.
        let failed = Failed {
            events,
            attempt: attempt - 1,
            last: "not tried: other posts wait for the webhook".to_owned(),
        };
        return failure::enqueue(app, webhook, failed, app.clock.now().plus(1)).await;
    };
    let means = match Means::of(app, webhook) {
        Ok(means) => means,
        Err(problem) => {
            tracing::error!(webhook.id = %webhook.id, "webhook {} cannot be posted to: {problem}", webhook.id);
            let failed = Failed {
                events,
                attempt,
                last: problem,
            };
            return failure::failed(app, webhook, failed, None).await;
        }
    };
    let size = events.len().saturating_mul(EVENT);
    let packing = || batch::pack(&events.iter().map(event_json).collect::<Vec<_>>());
    let packed = posthaste_offload::run(size, packing).await;
    let posts = futures_util::stream::iter(packed).map(|packed| {
        let part = events.get(packed.events).unwrap_or_default();
        post(app, &means, part, packed.body, attempt)
    });
    let ends = posts.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await;
    ends.into_iter().fold(Disposition::Done, Disposition::and)
}

/// Makes one post, attempt `attempt` of its events, and handles the result.
async fn post(
    app: &App,
    means: &Means<'_>,
    events: &[Event],
    body: bytes::Bytes,
    attempt: u32,
) -> Disposition {
    let webhook = means.webhook;
    // Signed anew at each attempt: receivers reject old timestamps.
    let at = app.clock.now();
    let signing = || batch::headers(means.security.signer(), at, &body);
    let headers = posthaste_offload::run(body.len(), signing).await;
    let post = Post {
        url: means.url.clone(),
        headers: headers.clone(),
        body,
    };
    let outcome = means.security.post(&app.client, &app.tokens, post).await;
    let made = MadePost {
        webhook,
        url: &means.url,
        events,
        attempt,
        at,
        headers: &headers,
        outcome: &outcome,
    };
    post_log::store(app, &made).await;
    app.breaker.note(&webhook.id, &outcome, app.clock.now());
    let oldest = events.iter().map(|event| event.at).min().unwrap_or(at);
    // Retries to an unavailable receiver would hide the delivery lag of the others.
    let lag = (attempt == 1).then(|| at.since(oldest).max(0) * 1000);
    let mut figures = vec![
        Metric::WebhookPosts.of(1),
        Metric::WebhookEvents.of(events.len()),
    ];
    figures.extend(lag.map(|lag| Metric::WebhookLagMs.of(lag)));
    posthaste_metrics::record(&figures);
    match Schedule::Events.fate(&outcome) {
        RetryFate::Done => {
            if let PostOutcome::Answered(answer) = &outcome {
                health::record_success(app, webhook, answer.took_ms).await;
            }
            Disposition::Done
        }
        RetryFate::Retry | RetryFate::End => {
            tracing::info!(
                webhook.id = %webhook.id, attempt.no = attempt,
                "webhook {} did not accept {} events: {outcome}", webhook.id, events.len()
            );
            let failed = Failed {
                events: events.to_vec(),
                attempt,
                last: outcome.to_string(),
            };
            let end = failure::failed(app, webhook, failed, outcome.retry_after()).await;
            health::record_failure(app, webhook, &outcome).await;
            end
        }
    }
}
