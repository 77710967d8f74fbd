//! Writes opens and clicks to the rows of their copies for message lookups.
//!
//! The writes happen here and not in `tracking`, so that a click does not wait for a write; and all
//! visits of a copy in a batch take one write.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use futures_util::TryStreamExt as _;
use posthaste_model::{AccountId, Event, EventKind, MessageId};
use posthaste_store::{StoreError, Visit, VisitKind};

use crate::App;

/// The visits of a batch, by copy and kind.
type Visits<'a> = BTreeMap<(&'a MessageId, u32, VisitKind), Vec<Visit>>;

/// Writes the visits of a batch. Repeating a batch is a no-op.
pub(crate) async fn keep(
    app: &App,
    account: &AccountId,
    events: &[Event],
) -> Result<(), StoreError> {
    let writes: Vec<_> = visits(events)
        .into_iter()
        .map(|((message, recipient, kind), visits)| async move {
            let copy = (account, message, recipient);
            app.store.note_visits(copy, kind, &visits).await
        })
        .collect();
    let writes = futures_util::stream::iter(writes).buffer_unordered(app.concurrency.max(1));
    writes.try_for_each(|_| async { Ok(()) }).await
}

fn visits(events: &[Event]) -> Visits<'_> {
    let mut visits = Visits::new();
    for event in events {
        let (Some(kind), Some(message)) = (kind(event.kind), &event.message) else {
            continue;
        };
        let copy = visits.entry((message, event.recipient, kind)).or_default();
        copy.push(Visit {
            at: event.at,
            id: event.id.clone(),
            url: event.url.clone(),
            agent: event.useragent.clone(),
        });
    }
    visits
}

pub(crate) fn kind(kind: EventKind) -> Option<VisitKind> {
    match kind {
        EventKind::Open => Some(VisitKind::Open),
        EventKind::Click => Some(VisitKind::Click),
        EventKind::Processed
        | EventKind::Delivered
        | EventKind::Deferred
        | EventKind::Bounce
        | EventKind::Dropped
        | EventKind::SpamReport
        | EventKind::Unsubscribe
        | EventKind::GroupUnsubscribe
        | EventKind::GroupResubscribe
        | EventKind::AccountStatusChange => None,
    }
}
