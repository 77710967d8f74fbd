//! Turns feedback about a copy into its event, once.

use posthaste_model::{Event, EventKind, MessageId, Timestamp};
use posthaste_store::{CopyState, FeedbackOutcome, FeedbackUpdate, Recipient, StoreError};

use crate::App;
use crate::word::{Says, SesFeedback};

/// Why feedback is not recorded yet. It will be retried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Untold {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the copy is still being handed over")]
    Early,
}

/// Records feedback and returns the event to queue, if there is one.
///
/// Feedback that the row already has was recorded by another run, which queues the event, unless
/// that was an earlier run of this very message: `again`.
pub(crate) async fn tell(
    app: &App,
    word: &SesFeedback,
    again: bool,
) -> Result<Option<Event>, Untold> {
    let copy = (&word.account, &word.message, word.recipient);
    let now = app.clock.now();
    let id = id(word);
    let mut early = false;
    let news = |row: &Recipient| {
        early = id.is_some() && is_early(row, now);
        if early {
            return None;
        }
        news(word, id.as_deref(), row)
    };
    let heard = app.store.record_feedback(copy, now, news).await?;
    match heard {
        FeedbackOutcome::New(news) => Ok(news.event),
        FeedbackOutcome::Known(_) if early => Err(Untold::Early),
        FeedbackOutcome::Known(row) => {
            let mut events = row.events().into_iter();
            let mine = events.find(|event| Some(&event.id) == id.as_ref());
            match (&word.says, mine) {
                (Says::Left { .. }, None) => {
                    Ok(beyond(app, word, id, (row.as_ref(), again)).await?)
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
    (row, again): (&Recipient, bool),
) -> Result<Option<Event>, StoreError> {
    let Some((id, kind)) = id.zip(word.says.kind()) else {
        return Ok(None);
    };
    let copy = (&word.account, &word.message, word.recipient);
    let first = app.store.tell_once(copy, &id, app.clock.now()).await?;
    let event = || with_copy(event(word, &id, kind, &row.email), row.events().first());
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

/// The id of the event, the same for every run that reports it. A copy ends once, but may be
/// deferred many times, and its recipient may unsubscribe many times.
fn id(word: &SesFeedback) -> Option<String> {
    let kind = word.says.kind()?;
    let when = match &word.says {
        Says::Deferred { .. } => word.at.to_string(),
        Says::Left { mail, .. } => mail.clone(),
        _ => String::new(),
    };
    let (message, recipient): (&MessageId, u32) = (&word.message, word.recipient);
    Some(format!("{}-fb{when}-{message}-{recipient}", kind.wire()))
}

/// The update for the row, if the feedback is new to it.
fn news(word: &SesFeedback, id: Option<&str>, row: &Recipient) -> Option<FeedbackUpdate> {
    let state = match &word.says {
        Says::Handed => Some(CopyState::Handed),
        Says::Delivered { .. } => Some(CopyState::Delivered),
        Says::Deferred { .. } => Some(CopyState::Deferred),
        Says::Bounced(_) => Some(CopyState::Bounced),
        Says::Dropped { .. } => Some(CopyState::Dropped),
        Says::Complained | Says::Unsubscribed | Says::Left { .. } => None,
    };
    let Some((id, kind)) = id.zip(word.says.kind()) else {
        // Only a copy whose hand-over was not confirmed changes.
        let open = matches!(row.state, CopyState::Claimed | CopyState::Deferred);
        return open.then_some(FeedbackUpdate { event: None, state });
    };
    let events = row.events();
    let told = |event: &Event| match word.says {
        Says::Deferred { .. } | Says::Left { .. } => event.id == id,
        _ => event.kind == kind,
    };
    let is_new = match word.says {
        Says::Left { .. } => !row.is_full(),
        // Of the events that are not listed, only the last is stored.
        Says::Deferred { .. } if row.is_full() => {
            let deferred = events
                .iter()
                .filter(|event| event.kind == EventKind::Deferred);
            deferred.map(|event| event.at).max() < Some(word.at)
        }
        _ => true,
    };
    if !is_new || events.iter().any(told) {
        return None;
    }
    let mut event = with_copy(event(word, id, kind, &row.email), events.first());
    if kind == EventKind::Deferred {
        event.attempt = Some(row.deferrals().saturating_add(1));
    }
    let event = Some(event);
    Some(FeedbackUpdate { event, state })
}

/// An event with the feedback and without the copy's fields.
fn event(word: &SesFeedback, id: &str, kind: EventKind, email: &str) -> Event {
    let mut event = Event::new(
        id.to_owned(),
        word.account.clone(),
        kind,
        word.at,
        email.to_owned(),
    );
    event.message = Some(word.message.clone());
    event.recipient = word.recipient;
    match &word.says {
        Says::Delivered { response, ip } => {
            event.response.clone_from(response);
            event.ip.clone_from(ip);
        }
        Says::Deferred { response, status } => {
            event.response = Some(response.clone());
            event.status.clone_from(status);
        }
        Says::Bounced(bounced) => {
            event.bounce_type = Some(bounced.kind);
            event.bounce_classification = Some(bounced.class.to_owned());
            event.status = Some(bounced.status.clone());
            event.reason = Some(bounced.reason.clone());
        }
        Says::Dropped { reason } => {
            event.reason = Some(reason.clone());
            event.status = Some("5.0.0".to_owned());
        }
        Says::Left { group, .. } => event.asm_group_id = *group,
        Says::Handed | Says::Complained | Says::Unsubscribed => {}
    }
    event
}

/// A copy without a row is past its retention, or belongs to another stack in this AWS account. A
/// complaint may arrive late and is recorded if the feedback authenticates the recipient.
async fn forgotten(
    app: &App,
    word: &SesFeedback,
    id: Option<String>,
    again: bool,
) -> Result<Option<Event>, StoreError> {
    let Some(((id, kind), email)) = id.zip(word.says.kind()).zip(word.email.as_deref()) else {
        return Ok(None);
    };
    if app.store.account(&word.account).await?.is_none() {
        return Ok(None);
    }
    let copy = (&word.account, &word.message, word.recipient);
    let first = app.store.tell_once(copy, &id, app.clock.now()).await?;
    Ok((first || again).then(|| event(word, &id, kind, email)))
}
