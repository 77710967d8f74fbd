//! The sources of a copy's details on the mailbox page: its events, and the answers of webhooks.

use std::sync::Arc;

use posthaste_mailbox::Sources;
use posthaste_model::EventKind;
use posthaste_store::{Recipient, Store, VisitKind};
use serde_json::{Value, json};

use crate::answers::Answers;

/// The sources of the mailbox page.
pub(crate) fn sources(store: &Store, answers: &Answers) -> Sources {
    let store = store.clone();
    Sources {
        events: Some(Arc::new(move |trace| {
            let store = store.clone();
            Box::pin(async move {
                let Some(verp) = trace.verp else {
                    return Vec::new();
                };
                let row = store
                    .recipient(&verp.account, &verp.message, verp.recipient)
                    .await;
                row.ok().flatten().map(|row| told(&row)).unwrap_or_default()
            })
        })),
        webhooks: Some(answers.lookup()),
    }
}

/// The events of a copy and the actions on it, in chronological order.
fn told(row: &Recipient) -> Vec<Value> {
    let events = row.events();
    let events = events
        .iter()
        .filter_map(|event| Some((event.at, serde_json::to_value(event).ok()?)));
    let visits = [
        (VisitKind::Open, EventKind::Open),
        (VisitKind::Click, EventKind::Click),
    ];
    let visits = visits.into_iter().flat_map(|(kind, name)| {
        row.visits(kind).into_iter().map(move |visit| {
            let (at, url) = (visit.at, visit.url);
            let value = json!({"kind": name, "at": at, "email": row.email, "url": url});
            (at, value)
        })
    });
    let mut told: Vec<_> = events.chain(visits).collect();
    told.sort_by_key(|(at, _)| *at);
    told.into_iter().map(|(_, value)| value).collect()
}
