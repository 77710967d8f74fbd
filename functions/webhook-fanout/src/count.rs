//! Adds a batch of events to the statistics of its account, which the guard of reputation judges then.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{StreamExt as _, TryStreamExt as _, try_join};
use posthaste_model::{
    AccountId, BounceType, Category, DropReason, Event, EventKind, MessageId, Segment,
};
use posthaste_queue::Disposition;
use posthaste_runtime::WorkError;
use posthaste_store::{SegmentCounts, StoreError, Tally, VisitKind};
use sha2::{Digest as _, Sha256};

use crate::App;

/// Counts a batch once, however often it is delivered.
pub(crate) async fn work(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    let counted = async {
        count(app, account, events).await?;
        crate::guard::check(app, account, events).await
    };
    match counted.await {
        Ok(()) => Disposition::Done,
        Err(error) => {
            tracing::error!(account.id = %account, "events of account {account} could not be counted: {error}");
            error.disposition()
        }
    }
}

async fn count(app: &App, account: &AccountId, events: &[Event]) -> Result<(), WorkError> {
    let now = app.clock.now();
    let ((), mut firsts) = try_join!(
        crate::visits::keep(app, account, events),
        firsts(app, account, events),
    )?;
    let addresses = events.iter().map(|event| event.email.as_str());
    let providers = app.mailbox_hosts.of(addresses, app.clock.now_ms()).await;
    let mut tally = Tally::default();
    for event in events {
        let mut metrics = metrics(event);
        if firsts.remove(&event.id) {
            metrics.extend(unique(event.kind));
        }
        let day = event.at.day();
        if let Some(end) = crate::severity::mail_end(event) {
            tally.hours.add(event.at, end);
        }
        let provider = providers.get(event.email.as_str()).copied();
        let segments = provider.into_iter().chain(visitor(event));
        add_segments(&mut tally.segments, &day, segments, &metrics);
        for category in [""].into_iter().chain(categories(event)) {
            for metric in &metrics {
                let place = (day.clone(), category.to_owned());
                let counters = tally.counters.entry(place).or_default();
                *counters.entry(*metric).or_default() += 1;
            }
        }
        if let (EventKind::Bounce, Some(class)) = (event.kind, &event.bounce_classification) {
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
        .await?;
    Ok(())
}

/// The ids of the events, of this batch or an earlier one, that were the first open or click of
/// copies in this batch. One concurrent lookup per copy and kind.
async fn firsts(
    app: &App,
    account: &AccountId,
    events: &[Event],
) -> Result<BTreeSet<String>, StoreError> {
    let now = app.clock.now();
    let mut candidates: BTreeMap<(&MessageId, u32, EventKind), &Event> = BTreeMap::new();
    for event in events {
        let (Some(_), Some(message)) = (unique(event.kind), &event.message) else {
            continue;
        };
        let copy = (message, event.recipient, event.kind);
        let first = candidates.entry(copy).or_insert(event);
        if (event.at, &event.id) < (first.at, &first.id) {
            *first = event;
        }
    }
    let looks: Vec<_> = candidates
        .into_iter()
        .map(|((message, recipient, kind), event)| async move {
            let kind = (kind.flag(), event.id.as_str());
            let first = app.store.first_of(account, (message, recipient), kind, now);
            first.await
        })
        .collect();
    let looks = futures_util::stream::iter(looks).buffer_unordered(app.concurrency.max(1));
    looks.try_collect().await
}

/// A name that is the same for the same events in any order.
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

fn unique(kind: EventKind) -> Option<&'static str> {
    Some(match crate::visits::kind(kind)? {
        VisitKind::Open => "unique_opens",
        VisitKind::Click => "unique_clicks",
    })
}

/// The counters that one event adds to (API facts, stats rows). A request is a requested copy,
/// whether it was processed or dropped.
fn metrics(event: &Event) -> Vec<&'static str> {
    match event.kind {
        EventKind::Processed => vec!["requests", "processed"],
        EventKind::Delivered => vec!["delivered"],
        EventKind::Deferred => vec!["deferred"],
        EventKind::Bounce => match event.bounce_type {
            Some(BounceType::Blocked | BounceType::Expired) => vec!["blocks"],
            Some(BounceType::Bounce) | None => vec!["bounces"],
        },
        EventKind::Dropped => {
            let request = is_first_event(event).then_some("requests");
            request.into_iter().chain(drop_metric(event)).collect()
        }
        EventKind::Open => vec!["opens"],
        EventKind::Click => vec!["clicks"],
        EventKind::SpamReport => vec!["spam_reports"],
        EventKind::Unsubscribe | EventKind::GroupUnsubscribe => vec!["unsubscribes"],
        EventKind::GroupResubscribe | EventKind::AccountStatusChange => Vec::new(),
    }
}

/// The counter of a drop reason.
fn drop_metric(event: &Event) -> Option<&'static str> {
    match DropReason::from(event.reason.clone()?) {
        DropReason::BouncedAddress => Some("bounce_drops"),
        DropReason::SpamReportingAddress => Some("spam_report_drops"),
        DropReason::UnsubscribedAddress => Some("unsubscribe_drops"),
        DropReason::Invalid => Some("invalid_emails"),
        DropReason::InvalidSmtpapiHeader
        | DropReason::SpamContent
        | DropReason::OverQuota
        | DropReason::Cancelled
        | DropReason::Expired
        | DropReason::AccountSuspended
        | DropReason::AccountDisabled
        | DropReason::AccountDeleted
        | DropReason::CannotBeRecorded
        | DropReason::RenderingFailure
        | DropReason::Unsendable(_) => None,
    }
}

/// Whether the drop has no preceding `processed` event: the copy ended at its first attempt. A copy
/// that SES rejects or a later attempt drops was processed, and counted as a request then.
fn is_first_event(dropped: &Event) -> bool {
    dropped.message.as_ref().is_none_or(|message| {
        dropped.id == Event::derived_id(message, dropped.recipient, EventKind::Dropped, 0)
    })
}

/// Drops because the address is on a suppression list, which providers count as one.
const DROPS: [&str; 4] = [
    "bounce_drops",
    "spam_report_drops",
    "unsubscribe_drops",
    "invalid_emails",
];

/// The mail client and device that opened the mail, or the browser that followed a link.
fn visitor(event: &Event) -> Vec<Segment> {
    let agent = event.useragent.as_deref().unwrap_or_default();
    match crate::visits::kind(event.kind) {
        Some(VisitKind::Open) => vec![Segment::client(agent), Segment::device(agent)],
        Some(VisitKind::Click) => vec![Segment::browser(agent)],
        None => Vec::new(),
    }
}

/// Adds an event to the counters of mailbox providers, mail clients, devices and browsers, with the metrics that it adds
/// to the whole account.
fn add_segments(
    counts: &mut SegmentCounts,
    day: &str,
    segments: impl Iterator<Item = Segment>,
    metrics: &[&'static str],
) {
    for segment in segments {
        for metric in metrics {
            let is_drop = DROPS.contains(metric);
            // A metric that the segmentation does not have is left out there.
            counts.add(day, segment, if is_drop { "drops" } else { metric });
        }
    }
}
