//! The health of a webhook, stored in its row and shared by all processes.

use posthaste_model::Timestamp;
use posthaste_queue::BusEvent;
use posthaste_store::{Saved, StoreError, Webhook};
use posthaste_webhook::PostOutcome;

use crate::App;

/// Why new events go to the retry queue, so that the events of other webhooks do not wait for this
/// one; `None` for a healthy webhook.
pub(crate) fn skip_reason(webhook: &Webhook) -> Option<&'static str> {
    match (webhook.failing_since, webhook.slow_since) {
        (Some(_), _) => Some("not tried: the webhook is failing"),
        (None, Some(_)) => Some("not tried: the webhook is slow"),
        (None, None) => None,
    }
}

/// The time since which a webhook is slow, given the previous value `since` and `took_ms` of its
/// last answer. The state clears at half of the limit, so that a webhook at the limit is not
/// rewritten with each post.
fn slow(
    since: Option<Timestamp>,
    took_ms: u64,
    limit_ms: u64,
    now: Timestamp,
) -> Option<Timestamp> {
    match since {
        None if took_ms >= limit_ms => Some(now),
        Some(since) if took_ms.saturating_mul(2) >= limit_ms => Some(since),
        None | Some(_) => None,
    }
}

/// Records a successful post: clears the failure state, and the slow state unless it was slow.
pub(crate) async fn record_success(app: &App, webhook: &Webhook, took_ms: u64) {
    let now = app.clock.now();
    let slow = |since| slow(since, took_ms, app.retry_policy.slow_ms, now);
    if webhook.failing_since.is_none() && webhook.slow_since == slow(webhook.slow_since) {
        return;
    }
    let changed = app
        .store
        .change_webhook(&webhook.account, &webhook.id, |mut webhook| {
            webhook.failing_since = None;
            webhook.slow_since = slow(webhook.slow_since);
            Ok::<_, StoreError>(webhook)
        });
    if let Err(error) = changed.await {
        // The next success tries again; until then new events only go to the retry queue.
        tracing::warn!(webhook.id = %webhook.id, "the state of webhook {} could not be stored: {error}", webhook.id);
    }
}

/// Records a failed post, and disables the webhook if it has failed for days. Its events are stored
/// as dead letters.
pub(crate) async fn record_failure(app: &App, webhook: &Webhook, outcome: &PostOutcome) {
    let now = app.clock.now();
    let limit = app.retry_policy.disable_after;
    let is_lost = |since: Option<Timestamp>| since.is_some_and(|since| now.since(since) >= limit);
    if webhook.failing_since.is_some() && !is_lost(webhook.failing_since) {
        return;
    }
    let mut disabled = false;
    let changed = app
        .store
        .change_webhook(&webhook.account, &webhook.id, |mut webhook| {
            // Unless its owner or another process did so meanwhile.
            disabled = is_lost(webhook.failing_since) && webhook.enabled;
            if disabled {
                webhook.enabled = false;
                webhook.updated_at = now;
                webhook.unreported = Some(outcome.to_string());
            }
            webhook.failing_since = webhook.failing_since.or(Some(now));
            Ok::<_, StoreError>(webhook)
        });
    match changed.await {
        Ok(Saved::Done(off)) if disabled => {
            tracing::warn!(
                account.id = %off.account, webhook.id = %off.id,
                "webhook {} has failed for days and is disabled: {outcome}", off.id
            );
            announce(app, &off).await;
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(
            webhook.id = %webhook.id,
            "the failure of webhook {} could not be stored: {error}", webhook.id
        ),
    }
}

/// Publishes the notice that a webhook was disabled, if one is due. If the bus fails, the notice is
/// retried with the next event of the account or the next retry of the webhook.
pub(crate) async fn announce(app: &App, webhook: &Webhook) {
    let Some(reason) = &webhook.unreported else {
        return;
    };
    let notice = BusEvent {
        account: webhook.account.clone(),
        kind: "Webhook Disabled".to_owned(),
        detail: serde_json::json!({
            "webhook_id": webhook.id,
            "friendly_name": webhook.friendly_name,
            "failing_since": webhook.failing_since,
            "reason": reason,
        }),
    };
    if let Err(error) = app.bus.publish(&[notice]).await {
        tracing::error!(webhook.id = %webhook.id, "the notice that webhook {} is disabled could not be published: {error}", webhook.id);
        return;
    }
    let changed = app
        .store
        .change_webhook(&webhook.account, &webhook.id, |mut webhook| {
            webhook.unreported = None;
            Ok::<_, StoreError>(webhook)
        });
    if let Err(error) = changed.await {
        tracing::warn!(webhook.id = %webhook.id, "the notice that webhook {} is disabled will be published again: {error}", webhook.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_slow_from_the_limit_on_and_until_half_of_it() {
        let (then, now) = (Timestamp(5), Timestamp(9));
        for (since, took_ms, want) in [
            (None, 0, None),
            (None, 2_999, None),
            (None, 3_000, Some(now)),
            (None, u64::MAX, Some(now)),
            (Some(then), u64::MAX, Some(then)),
            (Some(then), 3_000, Some(then)),
            (Some(then), 1_500, Some(then)),
            (Some(then), 1_499, None),
            (Some(then), 0, None),
        ] {
            assert_eq!(
                slow(since, took_ms, 3_000, now),
                want,
                "{since:?} {took_ms}"
            );
        }
    }
}
