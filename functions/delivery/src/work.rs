//! Processes a batch of queue messages.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use posthaste_blob::BlobError;
use posthaste_model::batch::PartFate;
use posthaste_model::{Event, Mail, RecipientCopy, Span};
use posthaste_offload::UNKNOWN;
use posthaste_queue::{
    BatchResult, Disposition, EventBatch, Job, JobBody, JobError, SqsEvent, SqsMessage, gather,
    unpack,
};

use posthaste_render::{Compiled, effective};
use posthaste_runtime::WorkError;
use posthaste_store::{Due, ScheduledMail, StoreError};
use tracing::field::display;

use crate::App;
use crate::context::JobContext;
use crate::copy::deliver;
use crate::record::{alarm, drop_copy};
use crate::template::NoTemplate;

/// A job with more recipients than this is split into ranges first, so that no invocation runs past
/// half its timeout.
const RANGE: u32 = 50;

/// Handles a batch of the send queue.
pub async fn handle(app: &App, event: &SqsEvent) -> BatchResult {
    let ends = gather(event, app.concurrency, |record| work(app, record)).await;
    let mut result = BatchResult::default();
    let mut done = Vec::new();
    let mut events = Vec::new();
    for (id, end) in ends {
        let (disposition, told) = end.unwrap_or((Disposition::Fail, Vec::new()));
        events.extend(told);
        match disposition {
            Disposition::Done => done.push(id),
            Disposition::Retry | Disposition::Fail => result.add(id, disposition),
        }
    }
    // Published once for the whole batch. If that fails, the jobs are retried and publish again.
    if let Err(error) = publish(app, &events).await {
        tracing::error!(error = %error, "events could not be queued: {error}");
        for id in done {
            result.add(id, error.disposition());
        }
    }
    crate::count::tell(&events, result.unfinished().count());
    result
}

async fn publish(app: &App, events: &[Event]) -> Result<(), WorkError> {
    // Suppressions first: both writes can be repeated, neither may be skipped.
    match app.store.apply_suppressions(events).await {
        // The lists miss an address; the events are still published.
        Err(error) if error.is_permanent() => {
            alarm("the suppression lists miss an address", &error);
        }
        learnt => learnt?,
    }
    let texts = EventBatch::to_texts(events)?;
    let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
    app.events.send_all(messages.collect()).await?;
    Ok(())
}

/// Handles one job: splits it, or delivers its copies.
async fn work(app: &App, record: &SqsMessage) -> (Disposition, Vec<Event>) {
    let text = record.body.as_deref().unwrap_or_default();
    let (job, mail) = match load(app, text).await {
        Ok(loaded) => loaded,
        Err(why) => {
            // An unreadable job goes to the dead letters, which an alarm watches: a newer release
            // may have written it, or its blob may be restored.
            tracing::error!(error = %why, "{why}");
            return (why.disposition(), Vec::new());
        }
    };
    let span = tracing::Span::current();
    span.record("account.id", display(&job.account));
    span.record("message.id", display(&job.message));
    let dropped = match decide(app, &job, &mail, text).await {
        Ok(SendDecision::Deliver) => None,
        Ok(SendDecision::Skip) => return (Disposition::Done, Vec::new()),
        Ok(SendDecision::Drop(reason)) => Some(reason.to_owned()),
        Err(WorkError::Store(error)) if error.is_permanent() => {
            return drop_all(app, (&job, &mail), mail.copies(), &error).await;
        }
        Err(trouble) => {
            tracing::warn!(message.id = %job.message, "message {} must wait: {trouble}", job.message);
            return (trouble.disposition(), Vec::new());
        }
    };
    let copies: Vec<_> = mail
        .copies()
        .filter(|copy| job.holds(copy.recipient))
        .collect();
    if dropped.is_none() && copies.len() > usize::try_from(RANGE).unwrap_or(usize::MAX) {
        let recipients: Vec<u32> = copies.iter().map(|copy| copy.recipient).collect();
        let disposition = match split_job(app, &job, &recipients).await {
            Ok(()) => Disposition::Done,
            Err(error) => {
                tracing::error!(message.id = %job.message, "message {} could not be split: {error}", job.message);
                error.disposition()
            }
        };
        return (disposition, Vec::new());
    }
    let template = match dropped {
        Some(reason) => Err(reason),
        None => match template(app, &job, &mail).await {
            Ok(template) => Ok(template),
            Err(NoTemplate::Gone(reason)) => Err(reason),
            Err(error) => return without_template(app, (&job, &mail), copies, error).await,
        },
    };
    let made = template
        .as_ref()
        .map(Option::as_deref)
        .map_err(String::as_str);
    deliver_copies(app, &job, &mail, copies, made).await
}

/// The template that renders the mail's copies; `None` when the mail names none.
async fn template(app: &App, job: &Job, mail: &Mail) -> Result<Option<Arc<Compiled>>, NoTemplate> {
    let Some(name) = &mail.template_id else {
        return Ok(None);
    };
    let (asked, now) = ((&job.account, name.as_str()), app.clock.now_ms());
    let template = app.templates.compiled(&app.store, asked, now);
    template.await.map(Some)
}

/// Handles a job whose template is unavailable.
async fn without_template(
    app: &App,
    (job, mail): (&Job, &Mail),
    copies: Vec<RecipientCopy<'_>>,
    error: NoTemplate,
) -> (Disposition, Vec<Event>) {
    match error {
        NoTemplate::Store(error) if error.is_permanent() => {
            drop_all(app, (job, mail), copies.into_iter(), &error).await
        }
        NoTemplate::Store(error) => {
            tracing::warn!(message.id = %job.message, "message {} must wait for its template: {error}", job.message);
            (Disposition::Retry, Vec::new())
        }
        // Not the sender's fault: the job goes to the dead letters, which an alarm watches, and a
        // release that compiles the template delivers it from there.
        NoTemplate::Gone(_) | NoTemplate::Uncompiled(..) => {
            tracing::error!(message.id = %job.message, "message {} must wait: {error}", job.message);
            (Disposition::Fail, Vec::new())
        }
    }
}

/// Advances every copy by one step, several concurrently.
async fn deliver_copies(
    app: &App,
    job: &Job,
    mail: &Mail,
    copies: Vec<RecipientCopy<'_>>,
    made: Result<Option<&Compiled>, &str>,
) -> (Disposition, Vec<Event>) {
    let account = &job.account;
    let known = futures_util::try_join!(
        app.accounts.settings(account),
        crate::lists::read(app, account, mail, &copies),
    );
    let (settings, lists) = match known {
        Ok(known) => known,
        Err(error) if error.is_permanent() => {
            return drop_all(app, (job, mail), copies.into_iter(), &error).await;
        }
        Err(error) => {
            tracing::warn!(message.id = %job.message, "message {} must wait: {error}", job.message);
            return (Disposition::Retry, Vec::new());
        }
    };
    let order = JobContext {
        job,
        mail,
        settings: &settings,
        effective: &effective(&settings.defaults, mail),
    };
    let now = app.clock.now();
    let running: Vec<_> = copies
        .into_iter()
        .map(|copy| {
            let made = crate::submitted::refused(mail).map_or(made, Err);
            let listed = || lists.reason(mail, copy, &settings, now);
            let made = made.and_then(|template| listed().map_or(Ok(template), Err));
            async move {
                let done = deliver(app, order, copy, made).await;
                match done.as_ref().err().and_then(WorkError::permanent) {
                    Some(error) => drop_copy(app, (job, mail), copy, error).await,
                    None => done,
                }
            }
        })
        .collect();
    let ends: Vec<_> = futures_util::stream::iter(running)
        .buffer_unordered(app.concurrency.max(1))
        .collect()
        .await;
    let mut events = Vec::new();
    let mut disposition = Disposition::Done;
    for end in ends {
        match end {
            Ok(told) => events.extend(told),
            Err(trouble) => {
                tracing::warn!(message.id = %job.message, "a copy of message {} must wait: {trouble}", job.message);
                disposition = disposition.and(trouble.disposition());
            }
        }
    }
    (disposition, events)
}

/// Ends the given copies of the job as dropped: the table rejects what they need.
async fn drop_all<'a>(
    app: &App,
    (job, mail): (&Job, &Mail),
    copies: impl Iterator<Item = RecipientCopy<'a>>,
    error: &StoreError,
) -> (Disposition, Vec<Event>) {
    let (mut events, mut disposition) = (Vec::new(), Disposition::Done);
    for copy in copies.filter(|copy| job.holds(copy.recipient)) {
        match drop_copy(app, (job, mail), copy, error).await {
            Ok(told) => events.extend(told),
            Err(trouble) => {
                tracing::warn!(message.id = %job.message, "a copy of message {} must wait: {trouble}", job.message);
                disposition = disposition.and(trouble.disposition());
            }
        }
    }
    (disposition, events)
}

/// Whether a job is delivered.
enum SendDecision {
    Deliver,
    /// Another job handles it.
    Skip,
    /// Every copy is dropped, for this reason.
    Drop(&'static str),
}

/// Decides whether to deliver now, and only for an account that may still send.
async fn decide(app: &App, job: &Job, mail: &Mail, text: &str) -> Result<SendDecision, WorkError> {
    let leave = check_schedule(app, job, mail, text).await?;
    if !matches!(leave, SendDecision::Deliver) {
        return Ok(leave);
    }
    let barred = app.accounts.suspension_reason(&job.account).await?;
    Ok(barred.map_or(SendDecision::Deliver, SendDecision::Drop))
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
        PartFate::Discard(reason) => SendDecision::Drop(reason.word()),
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

#[derive(Debug, thiserror::Error)]
enum Unloadable {
    #[error("a send job cannot be read: {0}")]
    Unreadable(#[from] JobError),
    #[error("a send job cannot be read: its blob {0} is gone")]
    Bodiless(String),
    #[error("a send job must wait: {0}")]
    Later(BlobError),
}

impl Unloadable {
    fn disposition(&self) -> Disposition {
        match self {
            Self::Later(_) => Disposition::Retry,
            Self::Unreadable(_) | Self::Bodiless(_) => Disposition::Fail,
        }
    }
}

async fn load(app: &App, text: &str) -> Result<(Job, Mail), Unloadable> {
    let mut job = posthaste_offload::run(text.len(), || Job::from_text(text)).await?;
    let mail = match &mut job.body {
        // A compressed body is larger than it looks.
        JobBody::Packed(packed) => posthaste_offload::run(UNKNOWN, || packed.unpack()).await?,
        JobBody::Blob(name) => match app.blob.get(name).await {
            Ok(bytes) => posthaste_offload::run(UNKNOWN, || unpack(&bytes)).await?,
            Err(BlobError::Missing(name)) => {
                return Err(Unloadable::Bodiless(name));
            }
            Err(error @ BlobError::Unreachable(_)) => {
                return Err(Unloadable::Later(error));
            }
        },
        JobBody::Mail(mail) => (**mail).clone(),
    };
    let size = crate::submitted::size(&mail);
    let opened = || crate::submitted::opened(mail);
    Ok((job, posthaste_offload::run(size, opened).await))
}

/// Replaces a large job by jobs of at most [`RANGE`] recipients. Running twice creates each range
/// twice, which the claims absorb.
async fn split_job(app: &App, job: &Job, recipients: &[u32]) -> Result<(), WorkError> {
    // Each part repeats a body that travels in the job, up to 240 KB.
    const MADE_AT_ONCE: usize = 10;
    let range = usize::try_from(RANGE).unwrap_or(usize::MAX);
    for several in recipients.chunks(range * MADE_AT_ONCE) {
        let mut messages = Vec::new();
        for chunk in several.chunks(range) {
            let part = Job {
                spans: spans(chunk),
                left: true,
                ..job.clone()
            };
            messages.push((part.to_text()?, Duration::ZERO));
        }
        app.send.send_all(messages).await?;
    }
    Ok(())
}

/// Groups the ascending numbers into ranges.
fn spans(recipients: &[u32]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for &recipient in recipients {
        match spans.last_mut() {
            Some(last) if last.to == recipient => last.to += 1,
            Some(_) | None => spans.push(Span {
                from: recipient,
                to: recipient + 1,
            }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges() {
        let span = |from, to| Span { from, to };
        assert_eq!(
            spans(&[0, 1, 2, 5, 7, 8]),
            [span(0, 3), span(5, 6), span(7, 9)]
        );
        assert!(spans(&[]).is_empty());
    }
}
