//! What a batch came to, for the dashboard and the alarms.

use posthaste_model::{Event, Kind};

/// Writes the figures of a batch; `again` jobs go back to the queue. A job that runs twice counts
/// twice: these are figures of work done, the rows are the truth about mails.
pub(crate) fn tell(events: &[Event], again: usize) {
    if events.is_empty() && again == 0 {
        return;
    }
    let [delivered, deferred, bounced, dropped] =
        [Kind::Delivered, Kind::Deferred, Kind::Bounce, Kind::Dropped].map(|kind| of(events, kind));
    tracing::info!(
        target: "metrics",
        delivered, deferred, bounced, dropped, jobs_again = again,
        relay_calls = delivered + deferred + bounced
    );
}

fn of(events: &[Event], kind: Kind) -> usize {
    events.iter().filter(|event| event.kind == kind).count()
}
