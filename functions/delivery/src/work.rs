//! Processes a batch of queue messages.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use posthaste_model::batch::PartFate;
use posthaste_model::{DropReason, Event, Mail, RecipientCopy};
use posthaste_queue::{BatchResult, Disposition, EventBatch, Job, SqsEvent, SqsMessage, gather};

use posthaste_render::{Compiled, effective};
use posthaste_runtime::WorkError;
use posthaste_store::{Due, ScheduledMail, StoreError};
use tracing::field::display;

use crate::App;
use crate::context::JobContext;
use crate::copy::{CopyResult, deliver};
use crate::cost::Room;
use crate::delayed::{WaitingJob, begin_waiting, must_wait, store_waiting, waiting_jobs};
use crate::jobs::{RANGE, Unloadable, load, split_job};
use crate::record::{alarm, drop_copy};
use crate::template::NoTemplate;

/// What became of a job.
struct JobResult {
    disposition: Disposition,
    events: Vec<Event>,
    /// Jobs for copies that wait for the relay.
    waiting: Vec<WaitingJob>,
    /// How many copies wait because the relay takes no mail.
    relay_trouble: usize,
}

impl From<Disposition> for JobResult {
    fn from(disposition: Disposition) -> Self {
        Self {
            disposition,
            events: Vec::new(),
            waiting: Vec::new(),
            relay_trouble: 0,
        }
    }
}

/// Handles a batch of the send queue.
pub async fn handle(app: &App, event: &SqsEvent) -> BatchResult {
    let ends = gather(event, app.concurrency, |record| work(app, record)).await;
    let mut result = BatchResult::default();
    let (mut done, mut waiting) = (Vec::new(), Vec::new());
    let (mut events, mut relay_trouble) = (Vec::new(), 0);
    for (id, end) in ends {
        let end = end.unwrap_or_else(|| Disposition::Fail.into());
        events.extend(end.events);
        relay_trouble += end.relay_trouble;
        match end.disposition {
            Disposition::Done => {
                waiting.push((id.clone(), end.waiting));
                done.push(id);
            }
            Disposition::Retry | Disposition::Fail => result.add(id, end.disposition),
        }
    }
    // Published once for the whole batch. If that fails, the jobs are retried and publish again:
    // then they carry their copies that wait, whose own jobs are not queued.
    if let Err(error) = publish(app, &events).await {
        tracing::error!(error = %error, "events could not be queued: {error}");
        for id in done {
            result.add(id, error.disposition());
        }
    } else {
        for id in store_waiting(app, waiting).await {
            result.add(id, Disposition::Retry);
        }
    }
    app.handed.store(&app.store, app.clock.now_ms()).await;
    crate::count::tell(&events, result.unfinished().count(), relay_trouble);
    result
}

async fn publish(app: &App, events: &[Event]) -> Result<(), WorkError> {
    // Suppressions first: both writes can be repeated, neither may be skipped.
    match app.store.apply_suppressions(events).await {
        // The lists miss an address; the events are still published.
        Err(error) if error.is_permanent() => {
            alarm("the suppression lists miss an address", &error);
        }
        applied => applied?,
    }
    let texts = EventBatch::to_texts(events)?;
    let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
    app.events.send_all(messages.collect()).await?;
    Ok(())
}

/// A job and its mail, with the memory of that; otherwise what becomes of the message.
async fn read_job(app: &App, text: &str) -> Result<(Job, Mail, Option<Room>), JobResult> {
    let job = posthaste_offload::run(text.len(), || Job::from_text(text)).await;
    let loaded = match job {
        Ok(mut job) => {
            let span = tracing::Span::current();
            span.record("account.id", display(&job.account));
            span.record("message.id", display(&job.message));
            if let Some(waiting) = must_wait(app, &job, text) {
                return Err(JobResult {
                    waiting: vec![waiting],
                    relay_trouble: 1,
                    ..Disposition::Done.into()
                });
            }
            let loaded = load(app, &mut job).await;
            loaded.map(|(mail, room)| (job, mail, room))
        }
        Err(error) => Err(Unloadable::from(error)),
    };
    loaded.map_err(|why| {
        // An unreadable job goes to the dead letters, which an alarm watches: a newer release
        // may have written it, or its blob may be restored.
        tracing::error!(error = %why, "{why}");
        why.disposition().into()
    })
}

/// Handles one job: splits it, or delivers its copies.
async fn work(app: &App, record: &SqsMessage) -> JobResult {
    let text = record.body.as_deref().unwrap_or_default();
    let (job, mail, _room) = match read_job(app, text).await {
        Ok(read) => read,
        Err(result) => return result,
    };
    let dropped = match decide(app, &job, &mail, text).await {
        Ok(SendDecision::Deliver) => None,
        Ok(SendDecision::Skip) => return Disposition::Done.into(),
        Ok(SendDecision::Drop(reason)) => Some(reason),
        Err(WorkError::Store(error)) if error.is_permanent() => {
            return drop_all(app, &job, &mail, mail.copies(), &error).await;
        }
        Err(error) => {
            tracing::warn!(message.id = %job.message, "message {} must wait: {error}", job.message);
            return error.disposition().into();
        }
    };
    let copies: Vec<_> = mail
        .copies()
        .filter(|copy| job.holds(copy.recipient))
        .collect();
    if dropped.is_none() && copies.len() > RANGE {
        let recipients: Vec<u32> = copies.iter().map(|copy| copy.recipient).collect();
        let disposition = match split_job(app, &job, &recipients).await {
            Ok(()) => Disposition::Done,
            Err(error) => {
                tracing::error!(message.id = %job.message, "message {} could not be split: {error}", job.message);
                error.disposition()
            }
        };
        return disposition.into();
    }
    let template = match dropped {
        Some(reason) => Err(reason),
        None => match template(app, &job, &mail).await {
            Ok(template) => Ok(template),
            Err(NoTemplate::Gone(reason)) => Err(DropReason::Unsendable(reason)),
            Err(error) => return without_template(app, &job, &mail, copies, error).await,
        },
    };
    let made = template
        .as_ref()
        .map(Option::as_deref)
        .map_err(DropReason::clone);
    Box::pin(deliver_copies(app, &job, &mail, copies, made)).await
}

/// The template that renders the mail's copies; `None` when the mail names none.
async fn template(app: &App, job: &Job, mail: &Mail) -> Result<Option<Arc<Compiled>>, NoTemplate> {
    let Some(name) = &mail.template_id else {
        return Ok(None);
    };
    let now = app.clock.now_ms();
    let template = app
        .templates
        .compiled(&app.store, &job.account, name.as_str(), now);
    template.await.map(Some)
}

/// Handles a job whose template is unavailable.
async fn without_template(
    app: &App,
    job: &Job,
    mail: &Mail,
    copies: Vec<RecipientCopy<'_>>,
    error: NoTemplate,
) -> JobResult {
    match error {
        NoTemplate::Store(error) if error.is_permanent() => {
            drop_all(app, job, mail, copies.into_iter(), &error).await
        }
        NoTemplate::Store(error) => {
            tracing::warn!(message.id = %job.message, "message {} must wait for its template: {error}", job.message);
            Disposition::Retry.into()
        }
        // Not the sender's fault: the job goes to the dead letters, which an alarm watches, and a
        // release that compiles the template delivers it from there.
        NoTemplate::Gone(_) | NoTemplate::Uncompiled(..) => {
            tracing::error!(message.id = %job.message, "message {} must wait: {error}", job.message);
            Disposition::Fail.into()
        }
    }
}

/// Advances every copy by one step, several concurrently.
async fn deliver_copies(
    app: &App,
    job: &Job,
    mail: &Mail,
    copies: Vec<RecipientCopy<'_>>,
    made: Result<Option<&Compiled>, DropReason>,
) -> JobResult {
    let account = &job.account;
    let known = futures_util::try_join!(
        app.accounts.settings(account),
        app.accounts.links(account, app.tracking.as_ref()),
        crate::lists::read(app, account, mail, &copies),
    );
    let (settings, links, lists) = match known {
        Ok(known) => known,
        Err(error) if error.is_permanent() => {
            return drop_all(app, job, mail, copies.into_iter(), &error).await;
        }
        Err(error) => {
            tracing::warn!(message.id = %job.message, "message {} must wait: {error}", job.message);
            return Disposition::Retry.into();
        }
    };
    let context = JobContext {
        job,
        mail,
        settings: &settings,
        effective: &effective(&settings.defaults, mail),
        links: &links,
    };
    let now = app.clock.now();
    let running: Vec<_> = copies
        .into_iter()
        .map(|copy| {
            let refused = crate::submitted::refused(mail);
            let made = refused.map_or_else(|| made.clone(), Err);
            let listed = || lists.reason(mail, copy, &settings, now);
            let made = made.and_then(|template| listed().map_or(Ok(template), Err));
            async move {
                let done = deliver(app, context, copy, made).await;
                match done.as_ref().err().and_then(WorkError::permanent) {
                    Some(error) => drop_copy(app, job, mail, copy, error)
                        .await
                        .map(CopyResult::Recorded),
                    None => done,
                }
            }
        })
        .collect();
    let ends: Vec<_> = futures_util::stream::iter(running)
        .buffer_unordered(app.concurrency.max(1))
        .collect()
        .await;
    gathered(app, job, ends).await
}

/// The result of a job out of those of its copies. The copies that must wait are queued together,
/// unless the job is retried: then it carries them.
async fn gathered(app: &App, job: &Job, ends: Vec<Result<CopyResult, WorkError>>) -> JobResult {
    let mut result = JobResult::from(Disposition::Done);
    let mut waiting = Vec::new();
    for end in ends {
        match end {
            Ok(CopyResult::Recorded(events)) => result.events.extend(events),
            Ok(CopyResult::Waits(copy)) => {
                result.relay_trouble += usize::from(copy.is_out());
                waiting.push(copy);
            }
            Err(error) => result.postpone(job, &error),
        }
    }
    let (starting, waiting): (Vec<_>, Vec<_>) =
        waiting.into_iter().partition(|copy| copy.start.is_some());
    let now = app.clock.now();
    let jobs = waiting_jobs(app, job, &waiting).and_then(|mut jobs| {
        let started = Job {
            waits_since: Some(now),
            ..job.clone()
        };
        jobs.extend(waiting_jobs(app, &started, &starting)?);
        Ok(jobs)
    });
    match begin_waiting(app, job, starting).await {
        Ok(events) => result.events.extend(events),
        Err(error) => result.postpone(job, &error),
    }
    match jobs {
        Ok(jobs) if matches!(result.disposition, Disposition::Done) => result.waiting = jobs,
        Ok(_) => {}
        Err(error) => result.postpone(job, &error),
    }
    result
}

impl JobResult {
    fn postpone(&mut self, job: &Job, error: &WorkError) {
        tracing::warn!(message.id = %job.message, "a copy of message {} must wait: {error}", job.message);
        self.disposition = self.disposition.and(error.disposition());
    }
}

/// Ends the given copies of the job as dropped: the table rejects what they need.
async fn drop_all<'a>(
    app: &App,
    job: &Job,
    mail: &Mail,
    copies: impl Iterator<Item = RecipientCopy<'a>>,
    error: &StoreError,
) -> JobResult {
    let mut result = JobResult::from(Disposition::Done);
    for copy in copies.filter(|copy| job.holds(copy.recipient)) {
        match drop_copy(app, job, mail, copy, error).await {
            Ok(events) => result.events.extend(events),
            Err(error) => result.postpone(job, &error),
        }
    }
    result
}

/// Whether a job is delivered.
enum SendDecision {
    Deliver,
    /// Another job handles it.
    Skip,
    /// Every copy is dropped, for this reason.
    Drop(DropReason),
}

/// Decides whether to deliver now, and only for an account that may still send.
async fn decide(app: &App, job: &Job, mail: &Mail, text: &str) -> Result<SendDecision, WorkError> {
    let leave = check_schedule(app, job, mail, text).await?;
    if !matches!(leave, SendDecision::Deliver) {
        return Ok(leave);
    }
    let reason = app.accounts.suspension_reason(&job.account).await?;
    Ok(reason.map_or(SendDecision::Deliver, SendDecision::Drop))
}

/// Reads the state of the job and its batch again, at the moment of sending.
async fn check_schedule(
    app: &App,
    job: &Job,
    mail: &Mail,
    text: &str,
) -> Result<SendDecision, WorkError> {
    let Some(at) = job.due.filter(|_| job.attempt == 0 && !job.left) else {
        return Ok(SendDecision::Deliver);
    };
    let recipients = mail
        .copies()
        .filter(|copy| job.holds(copy.recipient))
        .count();
    let piece = ScheduledMail {
        account: &job.account,
        message: &job.message,
        first: job.first(),
        recipients: u32::try_from(recipients).unwrap_or(u32::MAX),
        accepted: job.accepted.seconds(),
        at,
        batch: mail.batch_id.as_ref(),
        job: text,
    };
    Ok(match app.store.begin_delivery(&piece, &app.clock).await? {
        PartFate::Deliver => SendDecision::Deliver,
        PartFate::Hold | PartFate::Ignore => SendDecision::Skip,
        PartFate::Discard(reason) => SendDecision::Drop(reason.drop_reason()),
        PartFate::Move(to) => {
            let moved = Job {
                due: Some(to),
                ..job.clone()
            };
            let id = (&job.message, job.first(), 0);
            let due = Due::send(to, &job.account, id, moved.to_text()?);
            let near = app.store.defer(vec![due], &app.clock).await?;
            app.send.send_all(near).await?;
            SendDecision::Skip
        }
    })
}
