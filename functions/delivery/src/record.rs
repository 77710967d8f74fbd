//! Records how an attempt at a copy ended: the retry first, then the row.

use std::time::Duration;

use posthaste_model::{Event, Mail, Masked, RecipientCopy, Span};
use posthaste_queue::{Job, LONGEST_DELAY};
use posthaste_runtime::WorkError;
use posthaste_store::{AttemptOutcome, Claimant, Described, Due, StoreError};

use crate::App;
use crate::context::LEASE;
use crate::outcome::{EventContext, RecordResult, RetryReason, pause};

/// The drop reason of a copy that the table cannot store.
pub(crate) const UNRECORDABLE: &str = "Cannot Be Recorded";

/// Queues the retry, then records this attempt: in the opposite order a crash in between would lose
/// the copy; in this order the claim absorbs the second job.
pub(crate) async fn finish(
    app: &App,
    job: &Job,
    recipient: u32,
    processed: Option<Event>,
    end: RecordResult,
) -> Result<Vec<Event>, WorkError> {
    let told = end.event.as_ref();
    let email = told.map(|event| Masked(&event.email).to_string());
    let email = email.unwrap_or_default();
    let message = &job.message;
    let state = end.state;
    if let Some(cause) = end.retry {
        let patience = RetryReason::from(cause);
        let wait = pause(patience, job.attempt, app.entropy.below(100));
        let why = told.and_then(|event| event.response.as_deref());
        let why = why.unwrap_or_default();
        match patience {
            RetryReason::Relay => {
                tracing::info!(target: "metrics", relay_trouble = 1_u64);
                tracing::error!(message.id = %message, attempt.no = job.attempt, "the relay does not take message {message}: {why}");
            }
            RetryReason::Recipient => {
                tracing::info!(message.id = %message, attempt.no = job.attempt, "message {message} to {email} was deferred");
            }
        }
        let next = Job {
            attempt: job.attempt + 1,
            spans: vec![Span {
                from: recipient,
                to: recipient + 1,
            }],
            ..job.clone()
        };
        again(app, &next, recipient, wait).await?;
    } else {
        let kind = told.map(|event| event.kind.wire());
        tracing::debug!(message.id = %message, attempt.no = job.attempt, event.kind = kind, "message {message} to {email}: {state:?}");
    }
    let events: Vec<Event> = processed.into_iter().chain(end.event).collect();
    let outcome = AttemptOutcome {
        state,
        now: app.clock.now(),
        events: &events,
    };
    let which = (&job.account, &job.message, recipient);
    match app.store.record(which, job.attempt, &outcome).await {
        // It was handed over: the event still says so.
        Err(error) if error.is_permanent() => {
            let what = format!("how message {message} ended cannot be recorded");
            alarm(&what, &error);
        }
        recorded => {
            recorded?;
        }
    }
    Ok(events)
}

/// Schedules the retry: with the queue's own delay, or as a due row.
async fn again(app: &App, next: &Job, recipient: u32, wait: Duration) -> Result<(), WorkError> {
    let text = next.to_text()?;
    if wait <= LONGEST_DELAY {
        return Ok(app.send.send(text, wait).await?);
    }
    let seconds = i64::try_from(wait.as_secs()).unwrap_or(i64::MAX);
    let at = app.clock.now().plus(seconds);
    let due = Due::send(
        at,
        &next.account,
        (&next.message, recipient, next.attempt),
        text,
    );
    let near = app.store.defer(vec![due], &app.clock).await?;
    Ok(app.send.send_all(near).await?)
}

/// An earlier run brought the copy this far: its events may not have been published.
pub(crate) async fn replayed_events(
    app: &App,
    job: &Job,
    recipient: u32,
) -> Result<Vec<Event>, WorkError> {
    let row = app
        .store
        .recipient(&job.account, &job.message, recipient)
        .await?;
    let events = row.map(|row| row.events()).unwrap_or_default();
    let mine = |event: &Event| {
        event
            .id
            .contains(&format!("-{}-{}", job.attempt, job.message))
    };
    Ok(events.into_iter().filter(mine).collect())
}

/// Writes the metric that the alarm watches, and the log line.
pub(crate) fn alarm(what: &str, error: &StoreError) {
    tracing::info!(target: "metrics", unrecordable = 1_u64);
    tracing::error!(error = %error, "{what}: {error}");
}

/// Ends a copy as dropped that the table cannot store, and returns its event.
///
/// Rows are bounded so that this does not happen; if it does, repeating the job would not help, and
/// an accepted mail must end in a state. So the copy gets a row of a small, fixed size, and an
/// alarm. If the table rejects that row too, the mail is not the cause, and the job is retried.
pub(crate) async fn drop_copy(
    app: &App,
    (job, mail): (&Job, &Mail),
    copy: RecipientCopy<'_>,
    error: &StoreError,
) -> Result<Vec<Event>, WorkError> {
    let email = copy.mailbox.email.as_str();
    let to = Masked(email);
    alarm(
        &format!("message {} to {to} is dropped", job.message),
        error,
    );
    let message_id = app.message_id(&job.message, copy.recipient);
    let about = EventContext {
        job,
        recipient: copy.recipient,
        email,
        message_id: &message_id,
        mail,
        personalization: copy.personalization,
        now: app.clock.now_ms(),
    };
    let who = Claimant {
        owner: &app.owner,
        single_process: app.single_process,
        now: app.clock.now(),
        lease: LEASE,
        retention: app.retention,
    };
    let what = Described {
        email,
        from: "",
        subject: "",
        accepted_at: job.accepted.seconds(),
    };
    let which = (&job.account, &job.message, copy.recipient);
    let Some(event) = about.dropped(UNRECORDABLE).event else {
        return Ok(Vec::new());
    };
    let store = &app.store;
    let done = store.drop_unrecordable(which, job.attempt, (who, &what), &event);
    if done.await? {
        Ok(vec![event])
    } else {
        replayed_events(app, job, copy.recipient).await
    }
}
