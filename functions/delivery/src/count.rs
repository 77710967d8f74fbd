//! Reports the metrics of a batch, for the dashboard and the alarms.

use std::collections::BTreeSet;

use posthaste_model::{Event, EventKind};

/// Writes the metrics of a batch; `again` jobs return to the queue. A job that runs twice counts
/// twice: the metrics measure work done, and the rows are authoritative about mails.
///
/// `relay_trouble` copies wait because the relay takes no mail.
pub(crate) fn tell(events: &[Event], again: usize, relay_trouble: usize) {
    if relay_trouble > 0 {
        tracing::info!(target: "metrics", relay_trouble);
    }
    if events.is_empty() && again == 0 {
        return;
    }
    let [delivered, deferred, bounced, dropped] = [
        EventKind::Delivered,
        EventKind::Deferred,
        EventKind::Bounce,
        EventKind::Dropped,
    ]
    .map(|kind| of(events, kind));
    tracing::info!(
        target: "metrics",
        delivered, deferred, bounced, dropped, jobs_again = again,
        relay_calls = offered(events)
    );
}

/// Copies that were offered to the relay. A copy that SES accepts at a later attempt has no event
/// yet and is not counted.
fn offered(events: &[Event]) -> usize {
    let kinds = [
        EventKind::Processed,
        EventKind::Delivered,
        EventKind::Deferred,
        EventKind::Bounce,
    ];
    let offered = events.iter().filter(|event| kinds.contains(&event.kind));
    let copies: BTreeSet<_> = offered
        .filter_map(|event| Some((event.message.as_ref()?.as_str(), event.recipient)))
        .collect();
    copies.len()
}

fn of(events: &[Event], kind: EventKind) -> usize {
    events.iter().filter(|event| event.kind == kind).count()
}
