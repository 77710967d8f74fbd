//! Records how an attempt at a copy ended: the retry first, then the row.

use std::time::Duration;

use posthaste_metrics::Metric;
use posthaste_model::{DropReason, Event, Mail, Masked, RecipientCopy, Span};
use posthaste_queue::{Job, LONGEST_DELAY};
use posthaste_runtime::WorkError;
use posthaste_store::{AttemptOutcome, Described, Due, StoreError};

use crate::App;
use crate::outcome::{EventContext, RecordResult, RetryReason, pause, waiting_number};

/// Seconds after which no job of a mail can remain: scheduled 72 hours ahead, and retried for 72
/// more.
const OVER: i64 = 6 * 86_400;

/// Milliseconds from its acceptance for which a job that has not waited is taken to be of an address
/// that was not erased since.
const UNREAD: i64 = 60_000;

/// Queues the retry, then records this attempt: in the opposite order a crash in between would lose
/// the copy; in this order the claim absorbs the second job.
pub(crate) async fn finish(
    app: &App,
    job: &Job,
    recipient: u32,
    processed: Option<Event>,
    end: RecordResult,
) -> Result<Vec<Event>, WorkError> {
    let event = end.event.as_ref();
    let email = event.map(|event| Masked(&event.email).to_string());
    let email = email.unwrap_or_default();
    let message = &job.message;
    let state = end.state;
    if let Some(reason) = end.retry {
        let wait = pause(reason, job.attempt, app.entropy.below(100));
        let why = event.and_then(|event| event.response.as_deref());
        let why = why.unwrap_or_default();
        report_retry(job, reason, why, &email);
        let next = Job {
            attempt: job.attempt + 1,
            waits_since: None,
            spans: vec![Span {
                from: recipient,
                to: recipient + 1,
            }],
            ..job.clone()
        };
        if let Err(error) = again(app, &next, recipient, wait).await {
            release_unqueued(app, job, recipient, reason).await;
            return Err(error);
        }
    } else {
        let kind = event.map(|event| event.kind.wire());
        tracing::debug!(message.id = %message, attempt.no = job.attempt, event.kind = kind, "message {message} to {email}: {state:?}");
    }
    let events = processed.into_iter().chain(end.event).chain(end.reports);
    let events: Vec<Event> = events.collect();
    let outcome = AttemptOutcome {
        state,
        now: app.clock.now(),
        events: &events,
    };
    let which = (&job.account, &job.message, recipient);
    let store = &app.store;
    let record = || store.record(which, job.attempt, &outcome);
    // Otherwise the claim holds up the repeated job until it ends, and then the copy is sent twice.
    match store.through_throttles(record).await {
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

fn report_retry(job: &Job, reason: RetryReason, why: &str, email: &str) {
    let message = &job.message;
    match reason {
        RetryReason::Sender | RetryReason::Unanswered => {
            posthaste_metrics::record(&[Metric::RelayTrouble.of(1)]);
            tracing::error!(message.id = %message, attempt.no = job.attempt, "the relay does not take message {message}: {why}");
        }
        RetryReason::Recipient => {
            tracing::info!(message.id = %message, attempt.no = job.attempt, "message {message} to {email} was deferred");
        }
    }
}

/// Gives back the claim of a copy whose retry could not be queued, so that the repeated job offers it at once, not when
/// the claim ends. SES may have taken what it did not answer: that claim stays.
async fn release_unqueued(app: &App, job: &Job, recipient: u32, reason: RetryReason) {
    if reason != RetryReason::Unanswered
        && let Err(error) = release_claim(app, job, recipient).await
    {
        let message = &job.message;
        tracing::warn!(message.id = %message, error = %error, "message {message} waits for the end of its claim: {error}");
    }
}

/// Gives back the claim of a copy that the relay has not taken: otherwise its job would wait until the claim ends.
pub(crate) async fn release_claim(app: &App, job: &Job, recipient: u32) -> Result<(), StoreError> {
    let which = (&job.account, &job.message, recipient);
    let (store, now) = (&app.store, app.clock.now());
    let release = || store.release_claim(which, job.attempt, &app.owner, now);
    store.through_throttles(release).await?;
    Ok(())
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
    let defer = || app.store.defer(vec![due.clone()], &app.clock);
    let near = app.store.through_throttles(defer).await?;
    Ok(app.send.send_all(near).await?)
}

/// An earlier run brought the copy this far: its events may not have been published.
pub(crate) async fn replayed_events(
    app: &App,
    job: &Job,
    recipient: u32,
) -> Result<Vec<Event>, WorkError> {
    let numbers = [job.attempt, waiting_number(job.attempt)];
    let numbers = numbers.map(|number| format!("-{number}-{}", job.message));
    let is_own = |event: &Event| numbers.iter().any(|number| event.id.contains(number));
    recorded_events(app, job, recipient, is_own).await
}

/// Events of the copy's row.
pub(crate) async fn recorded_events(
    app: &App,
    job: &Job,
    recipient: u32,
    wanted: impl Fn(&Event) -> bool,
) -> Result<Vec<Event>, WorkError> {
    let row = app
        .store
        .recipient(&job.account, &job.message, recipient)
        .await?;
    let events = row.map(|row| row.events()).unwrap_or_default();
    Ok(events.into_iter().filter(wanted).collect())
}

/// Writes the metric that the alarm watches, and the log line.
pub(crate) fn alarm(what: &str, error: &StoreError) {
    posthaste_metrics::record(&[Metric::Unrecordable.of(1)]);
    tracing::error!(error = %error, "{what}: {error}");
}

/// Ends a copy as dropped that the table cannot store, and returns its event.
///
/// Rows are bounded so that this does not happen; if it does, repeating the job would not help, and
/// an accepted mail must end in a state. So the copy gets a row of a small, fixed size, and an
/// alarm. If the table rejects that row too, the mail is not the cause, and the job is retried.
pub(crate) async fn drop_copy(
    app: &App,
    job: &Job,
    mail: &Mail,
    copy: RecipientCopy<'_>,
    error: &StoreError,
) -> Result<Vec<Event>, WorkError> {
    let email = copy.mailbox.email.as_str();
    let to = Masked(email);
    alarm(
        &format!("message {} to {to} is dropped", job.message),
        error,
    );
    let message_id = app.message_id(&job.message, mail, copy);
    let about = EventContext {
        job,
        recipient: copy.recipient,
        email,
        message_id: &message_id,
        mail,
        personalization: copy.personalization,
        now: app.clock.now_ms(),
    };
    let who = app.claimant(app.retention);
    let what = Described {
        email,
        from: "",
        subject: "",
        accepted_at: job.accepted.seconds(),
    };
    let which = (&job.account, &job.message, copy.recipient);
    let Some(event) = about.dropped(&DropReason::CannotBeRecorded).event else {
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

/// For how long what is stored of a copy stays.
#[derive(Clone, Copy)]
pub(crate) struct Retention {
    /// Seconds for which the table stores its row.
    pub(crate) seconds: i64,
    /// Whether its address was erased after the mail was accepted.
    pub(crate) is_erased: bool,
}

impl Retention {
    /// That of a copy whose address was not erased.
    pub(crate) fn of(app: &App) -> Self {
        Self {
            seconds: app.retention,
            is_erased: false,
        }
    }
}

/// For how long the copy's row is stored.
///
/// A copy to an address that was erased while its job waited is sent: a request to erase stored data
/// does not cancel scheduled mail. But the data stored about it expires as soon as no job can need
/// it, whatever retention is configured.
pub(crate) async fn retention(
    app: &App,
    job: &Job,
    copy: RecipientCopy<'_>,
) -> Result<Retention, StoreError> {
    let has_waited = job.due.is_some() || job.attempt > 0 || job.waits_since.is_some();
    let whole = Retention::of(app);
    // A wait for the sending rate leaves no trace in the job except its age.
    if !has_waited && app.clock.now_ms().0 - job.accepted.0 < UNREAD {
        return Ok(whole);
    }
    let email = copy.mailbox.email.folded();
    let erased = app.store.erased_at(&job.account, &email).await?;
    Ok(match erased {
        Some(at) if at >= job.accepted.seconds() => Retention {
            seconds: whole.seconds.min(OVER),
            is_erased: true,
        },
        Some(_) | None => whole,
    })
}
