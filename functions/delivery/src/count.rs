//! Reports the metrics of a batch, for the dashboard and the alarms.

use std::collections::BTreeSet;

use posthaste_metrics::Metric;
use posthaste_model::{Event, EventKind};

/// Writes the metrics of a batch; `again` jobs return to the queue. A job that runs twice counts
/// twice: the metrics measure work done, and the rows are authoritative about mails.
///
/// `relay_trouble` copies wait because the relay takes no mail.
pub(crate) fn tell(events: &[Event], again: usize, relay_trouble: usize) {
    if relay_trouble > 0 {
        posthaste_metrics::record(&[Metric::RelayTrouble.of(relay_trouble)]);
    }
    if events.is_empty() && again == 0 {
        return;
    }
    posthaste_metrics::record(&[
        Metric::Delivered.of(of(events, EventKind::Delivered)),
        Metric::Deferred.of(of(events, EventKind::Deferred)),
        Metric::Bounced.of(of(events, EventKind::Bounce)),
        Metric::Dropped.of(of(events, EventKind::Dropped)),
        Metric::JobsAgain.of(again),
        Metric::RelayCalls.of(offered(events)),
    ]);
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
