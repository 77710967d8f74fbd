//! Records feedback about a copy in its row, and makes its event, once.

use posthaste_model::{Event, EventKind, Timestamp};
use posthaste_runtime::WorkError;
use posthaste_store::{CopyState, FeedbackOutcome, FeedbackUpdate, Recipient, StoreError};

use crate::App;
use crate::feedback::{FeedbackKind, SesFeedback};

/// Records feedback and returns the event to queue, if there is one.
///
/// Feedback that the row already has was recorded by another run, which queues the event, unless
/// that was an earlier run of this very message: `again`.
///
/// # Errors
/// [`WorkError::Busy`] while the copy is still being handed over.
pub(crate) async fn record(
    app: &App,
    word: &SesFeedback,
    again: bool,
) -> Result<Option<Event>, WorkError> {
    let copy = (&word.account, &word.message, word.recipient);
    let now = app.clock.now();
    let id = word.event_id();
    let mut early = false;
    let change = |row: &Recipient| {
        early = id.is_some() && is_early(row, now);
        if early {
            return None;
        }
        update(word, id.as_deref(), row)
    };
    let outcome = app.store.record_feedback(copy, now, change).await?;
    match outcome {
        FeedbackOutcome::New(update) => Ok(update.event),
        FeedbackOutcome::Unchanged(_) if early => Err(WorkError::Busy),
        FeedbackOutcome::Unchanged(row) => {
            let mut events = row.events().into_iter();
            let mine = events.find(|event| Some(&event.id) == id.as_ref());
            match (&word.kind, mine) {
                (FeedbackKind::Left { .. }, None) => {
                    Ok(beyond(app, word, id, row.as_ref(), again).await?)
                }
                (_, mine) => Ok(mine.filter(|_| again)),
            }
        }
        FeedbackOutcome::Missing => Ok(forgotten(app, word, id, again).await?),
    }
}

/// The event of a recipient who unsubscribes once more when the row lists the maximum of events: it
/// is published once, and stored in a row of its own.
async fn beyond(
    app: &App,
    word: &SesFeedback,
    id: Option<String>,
    row: &Recipient,
    again: bool,
) -> Result<Option<Event>, StoreError> {
    let Some((id, kind)) = id.zip(word.kind.event_kind()) else {
        return Ok(None);
    };
    let copy = (&word.account, &word.message, word.recipient);
    let first = app.store.tell_once(copy, &id, app.clock.now()).await?;
    let event = || with_copy(word.event(&id, kind, &row.email), row.events().first());
    Ok((first || again).then(event))
}

/// Adds the fields that all events of a copy share.
fn with_copy(mut event: Event, first: Option<&Event>) -> Event {
    if let Some(first) = first {
        event.smtp_id.clone_from(&first.smtp_id);
        event.category.clone_from(&first.category);
        event.custom_args.clone_from(&first.custom_args);
        event.asm_group_id = event.asm_group_id.or(first.asm_group_id);
        event.template_id.clone_from(&first.template_id);
    }
    event
}

/// Whether a running job is about to write the copy's fields (categories, custom arguments), which
/// an event published now would lack. If that job died, its lease expires, and the event is
/// published without them.
fn is_early(row: &Recipient, now: Timestamp) -> bool {
    row.state == CopyState::Claimed && row.events.is_empty() && now < row.lease
}

/// The update for the row, if the feedback is new to it.
fn update(word: &SesFeedback, id: Option<&str>, row: &Recipient) -> Option<FeedbackUpdate> {
    let state = match &word.kind {
        FeedbackKind::Handed => Some(CopyState::Handed),
        FeedbackKind::Delivered { .. } => Some(CopyState::Delivered),
        FeedbackKind::Deferred { .. } => Some(CopyState::Deferred),
        FeedbackKind::Bounced(_) => Some(CopyState::Bounced),
        FeedbackKind::Dropped { .. } => Some(CopyState::Dropped),
        FeedbackKind::Complained | FeedbackKind::Unsubscribed | FeedbackKind::Left { .. } => None,
    };
    let Some((id, kind)) = id.zip(word.kind.event_kind()) else {
        // Only a copy whose hand-over was not confirmed changes.
        let open = matches!(row.state, CopyState::Claimed | CopyState::Deferred);
        return open.then_some(FeedbackUpdate { event: None, state });
    };
    let events = row.events();
    let has_it = |event: &Event| match word.kind {
        FeedbackKind::Deferred { .. } | FeedbackKind::Left { .. } => event.id == id,
        _ => event.kind == kind,
    };
    let is_new = match word.kind {
        FeedbackKind::Left { .. } => !row.is_full(),
        // Of the events that are not listed, only the last is stored.
        FeedbackKind::Deferred { .. } if row.is_full() => {
            let deferred = events
                .iter()
                .filter(|event| event.kind == EventKind::Deferred);
            deferred.map(|event| event.at).max() < Some(word.at)
        }
        _ => true,
    };
    if !is_new || events.iter().any(has_it) {
        return None;
    }
    let mut event = with_copy(word.event(id, kind, &row.email), events.first());
    if kind == EventKind::Deferred {
        event.attempt = Some(row.deferrals().saturating_add(1));
    }
    let event = Some(event);
    Some(FeedbackUpdate { event, state })
}

/// A copy without a row is past its retention, or belongs to another stack in this AWS account. A
/// complaint may arrive late and is recorded if the feedback authenticates the recipient.
async fn forgotten(
    app: &App,
    word: &SesFeedback,
    id: Option<String>,
    again: bool,
) -> Result<Option<Event>, StoreError> {
    let Some(((id, kind), email)) = id.zip(word.kind.event_kind()).zip(word.email.as_deref())
    else {
        return Ok(None);
    };
    if app.store.account(&word.account).await?.is_none() {
        return Ok(None);
    }
    let copy = (&word.account, &word.message, word.recipient);
    let first = app.store.tell_once(copy, &id, app.clock.now()).await?;
    Ok((first || again).then(|| word.event(&id, kind, email)))
}
