//! Copies that wait for the relay: the jobs that carry them, where these are stored, and what is recorded of the
//! beginning of the wait.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::{Event, Millis, Timestamp};
use posthaste_outage::StoredJob;
use posthaste_queue::Job;
use posthaste_runtime::WorkError;
use posthaste_store::Described;

use crate::App;
use crate::jobs::spans;
use crate::outcome::{expiry, is_expired};
use crate::record::{alarm, recorded_events, release_claim};
use crate::wait::{RelayWait, WaitPlace};

/// A copy that waits for the relay, with what its row is to say.
pub(crate) struct DelayedCopy {
    pub(crate) recipient: u32,
    pub(crate) wait: RelayWait,
    pub(crate) start: Option<WaitStart>,
}

/// The beginning of the wait for a relay that takes no mail, which is reported once.
pub(crate) struct WaitStart {
    pub(crate) events: Vec<Event>,
    pub(crate) email: String,
    pub(crate) from: String,
    pub(crate) subject: String,
    /// Seconds for which the table stores the copy's row.
    pub(crate) retention: i64,
    /// Whether this job holds the claim of the copy.
    pub(crate) is_held: bool,
}

impl DelayedCopy {
    /// Whether it waits because the relay takes no mail.
    pub(crate) fn is_out(&self) -> bool {
        matches!(self.wait, RelayWait::Outage { .. })
    }
}

/// A job whose copies wait, as it is stored for that.
pub(crate) struct WaitingJob {
    pub(crate) text: String,
    pub(crate) place: WaitPlace,
    /// When it waits no longer.
    pub(crate) expires: Timestamp,
}

/// Where a job waits before anything of its mail is read: it waits for the relay already, and the relay is
/// not to be offered anything.
pub(crate) fn must_wait(app: &App, job: &Job, text: &str) -> Option<WaitingJob> {
    let since = job.waits_since?;
    if is_expired(job, app.clock.now_ms()) {
        return None;
    }
    let wait = app.relay.is_out(&job.account)?;
    Some(WaitingJob {
        text: text.to_owned(),
        place: wait.place(Some(since), app.clock.now(), app.entropy.below(100)),
        expires: expiry(job),
    })
}

/// Stores jobs that wait, each in its place, and returns the ids of the messages whose jobs could not be stored: they
/// come again, and make these jobs anew.
///
/// The bucket comes first. Where it fails, nothing of the same message is queued, and where the queue fails, only the
/// messages that need it come again: else what they stored already would be stored each time. A process that dies in
/// between leaves the stored jobs a second time, as their messages come again; the claims of their copies absorb that
/// when both are released, and neither makes a third.
pub(crate) async fn store_waiting(
    app: &App,
    jobs: Vec<(String, Vec<WaitingJob>)>,
) -> BTreeSet<String> {
    let (mut queued, mut stored, mut is_stored) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (id, job) in jobs
        .into_iter()
        .flat_map(|(id, jobs)| jobs.into_iter().map(move |job| (id.clone(), job)))
    {
        let WaitingJob {
            text,
            place,
            expires,
        } = job;
        match place {
            WaitPlace::Queue(delay) => queued.push((id, (text, delay))),
            WaitPlace::Bucket(scope) => {
                is_stored.insert(id);
                stored.push(StoredJob {
                    scope,
                    text,
                    expires,
                });
            }
        }
    }
    let mut unfinished = BTreeSet::new();
    if let Err(error) = app.outage.put(stored).await {
        tracing::error!(error = %error, "jobs that wait could not be stored: {error}");
        unfinished = is_stored;
    }
    queued.retain(|(id, _)| !unfinished.contains(id));
    let (ids, messages): (BTreeSet<_>, Vec<_>) = queued.into_iter().unzip();
    if let Err(error) = app.send.send_all(messages).await {
        tracing::error!(error = %error, "jobs that wait could not be queued: {error}");
        unfinished.extend(ids);
    }
    unfinished
}

/// Whether the copies of a job wait instead of expiring: for their turn however old they are, since
/// the relay takes mail.
pub(crate) fn may_wait(job: &Job, wait: &RelayWait, now: Millis) -> bool {
    wait.is_for_rate() || !is_expired(job, now)
}

/// The jobs of copies that wait for their turn, or for the relay. Copies that wait for the sending rate are
/// cut into jobs that a process can send at once when they return: more of them would only wait again.
pub(crate) fn waiting_jobs(
    app: &App,
    job: &Job,
    copies: &[DelayedCopy],
) -> Result<Vec<WaitingJob>, WorkError> {
    let (now, jitter) = (app.clock.now(), app.entropy.below(100));
    let place = |copy: &&DelayedCopy| {
        // A wait that begins now has not lasted yet.
        let since = job.waits_since.filter(|_| copy.start.is_none());
        copy.wait.place(since, now, jitter)
    };
    let (mut paced, others): (Vec<_>, Vec<_>) =
        copies.iter().partition(|copy| copy.wait.is_for_rate());
    paced.sort_by_key(place);
    let parts = paced.chunks(app.relay.burst());
    let parts = parts.chain([others.as_slice()]);
    let parts = parts.filter_map(|part| {
        // In the bucket rather than on the queue, and there for the longest of the waits.
        let place = part.iter().map(place).max()?;
        let mut recipients: Vec<u32> = part.iter().map(|copy| copy.recipient).collect();
        recipients.sort_unstable();
        let job = Job {
            spans: spans(&recipients),
            // The schedule was checked.
            left: job.due.is_some(),
            ..job.clone()
        };
        Some(job.to_text().map(|text| WaitingJob {
            text,
            place,
            expires: expiry(&job),
        }))
    });
    Ok(parts.collect::<Result<_, _>>()?)
}

/// Records that copies begin to wait for a relay that takes no mail, each in one write, and returns
/// the events that report it. Their job is queued afterwards: it reports no `processed`, so it must
/// not be handed out before that was recorded.
pub(crate) async fn begin_waiting(
    app: &App,
    job: &Job,
    copies: Vec<DelayedCopy>,
) -> Result<Vec<Event>, WorkError> {
    let begun = copies.into_iter().filter_map(|copy| {
        let start = copy.start?;
        Some(async move {
            let which = (&job.account, &job.message, copy.recipient);
            let described = Described {
                email: &start.email,
                from: &start.from,
                subject: &start.subject,
                accepted_at: job.accepted.seconds(),
            };
            let how = (app.claimant(start.retention), &described, start.is_held);
            let store = &app.store;
            let begin = || store.begin_waiting(which, job.attempt, how, &start.events);
            match store.through_throttles(begin).await {
                Ok(true) => Ok(start.events),
                // An earlier run may have died before it published them.
                Ok(false) => {
                    if start.is_held {
                        release_claim(app, job, copy.recipient).await?;
                    }
                    let is_own = |event: &Event| start.events.iter().any(|own| own.id == event.id);
                    recorded_events(app, job, copy.recipient, is_own).await
                }
                Err(error) if error.is_permanent() => {
                    alarm("the wait of a copy cannot be recorded", &error);
                    Ok(start.events)
                }
                Err(error) => Err(error.into()),
            }
        })
    });
    let begun = futures_util::stream::iter(begun.collect::<Vec<_>>());
    let begun: Vec<Vec<Event>> = begun
        .buffer_unordered(app.concurrency.max(1))
        .try_collect()
        .await?;
    Ok(begun.concat())
}
