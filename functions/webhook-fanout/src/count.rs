//! What a batch of events adds to the statistics of its account.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, BounceType, Category, Event, Kind};
use posthaste_queue::Verdict;
use posthaste_store::{StoreError, Tally};
use sha2::{Digest as _, Sha256};

use crate::App;

/// Counts a batch once, however often it comes.
pub(crate) async fn work(app: &App, account: &AccountId, events: &[Event]) -> Verdict {
    match count(app, account, events).await {
        Ok(()) => Verdict::Done,
        Err(error) => {
            tracing::error!(account.id = %account, "events of account {account} could not be counted: {error}");
            Verdict::Again
        }
    }
}

async fn count(app: &App, account: &AccountId, events: &[Event]) -> Result<(), StoreError> {
    crate::visits::keep(app, account, events).await?;
    let now = app.clock.now();
    let mut tally = Tally::default();
    for event in events {
        let mut metrics = metrics(event);
        if let Some(unique) = unique(event.kind)
            && let Some(message) = &event.message
        {
            let copy = (message, event.recipient);
            let kind = (event.kind.flag(), event.id.as_str());
            if app.store.is_first(account, copy, kind, now).await? {
                metrics.push(unique);
            }
        }
        let day = event.at.day();
        for category in [""].into_iter().chain(categories(event)) {
            for metric in &metrics {
                let place = (day.clone(), category.to_owned());
                let counters = tally.counters.entry(place).or_default();
                *counters.entry(*metric).or_default() += 1;
            }
        }
        if let (Kind::Bounce, Some(class)) = (event.kind, &event.bounce_classification) {
            let domain = event
                .email
                .rsplit_once('@')
                .map_or("", |(_, domain)| domain);
            let place = (day, class.clone(), domain.to_lowercase());
            *tally.bounces.entry(place).or_default() += 1;
        }
    }
    if tally == Tally::default() {
        return Ok(());
    }
    app.store
        .count_batch(account, &name(events), &tally, now)
        .await
}

/// The same events make the same name, in whatever order they come.
fn name(events: &[Event]) -> String {
    let mut ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    ids.sort_unstable();
    let hash = Sha256::digest(ids.join("\n"));
    URL_SAFE_NO_PAD.encode(hash)
}

fn categories(event: &Event) -> Vec<&str> {
    match &event.category {
        None => Vec::new(),
        Some(Category::One(one)) => vec![one],
        Some(Category::Many(many)) => many.iter().map(String::as_str).collect(),
    }
}

fn unique(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Open => Some("unique_opens"),
        Kind::Click => Some("unique_clicks"),
        Kind::Processed
        | Kind::Delivered
        | Kind::Deferred
        | Kind::Bounce
        | Kind::Dropped
        | Kind::SpamReport
        | Kind::Unsubscribe
        | Kind::GroupUnsubscribe
        | Kind::GroupResubscribe
        | Kind::AccountStatusChange => None,
    }
}

/// The counters that one event adds to (API facts, stats rows). A request is a copy that was
/// asked for, whether it was processed or dropped.
fn metrics(event: &Event) -> Vec<&'static str> {
    match event.kind {
        Kind::Processed => vec!["requests", "processed"],
        Kind::Delivered => vec!["delivered"],
        Kind::Deferred => vec!["deferred"],
        Kind::Bounce => match event.bounce_type {
            Some(BounceType::Blocked | BounceType::Expired) => vec!["blocks"],
            Some(BounceType::Bounce) | None => vec!["bounces"],
        },
        Kind::Dropped => match event.reason.as_deref() {
            Some("Bounced Address") => vec!["requests", "bounce_drops"],
            Some("Spam Reporting Address") => vec!["requests", "spam_report_drops"],
            Some("Unsubscribed Address") => vec!["requests", "unsubscribe_drops"],
            Some("Invalid") => vec!["requests", "invalid_emails"],
            Some(_) | None => vec!["requests"],
        },
        Kind::Open => vec!["opens"],
        Kind::Click => vec!["clicks"],
        Kind::SpamReport => vec!["spam_reports"],
        Kind::Unsubscribe | Kind::GroupUnsubscribe => vec!["unsubscribes"],
        Kind::GroupResubscribe | Kind::AccountStatusChange => Vec::new(),
    }
}
