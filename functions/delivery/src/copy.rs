//! One recipient's copy: claim, render, compose, hand over, record.

use std::sync::Arc;
use std::time::Duration;

use posthaste_identity::Signer;
use posthaste_mailer::{Envelope, Tags};
use posthaste_mime::{BuildError, LARGEST_MAIL, Outgoing, Stamp};
use posthaste_model::{Event, Mail, Mailbox, Masked, RecipientCopy, Span};
use posthaste_queue::{Disposition, Job, LONGEST_DELAY, QueueError};
use posthaste_render::{Compiled, Effective, Input, Links, MAX_OUTPUT, Rendered};
use posthaste_store::{
    AccountSettings, AttemptOutcome, Claim, Claimant, CopyState, Described, Due, StoreError,
};

use crate::cost::{carried_size, rendered_size, texts_size};
use crate::outcome::{EventContext, RecordResult};
use crate::retry::pause;
use crate::{App, RetryReason};

/// The duration of a claim in seconds: longer than the longest hand-over can take
/// (`posthaste_mailer::Timeouts::total`) and what comes before it.
pub(crate) const LEASE: i64 = 900;

/// Why a copy that exceeds the size limit of a mail is dropped.
const TOO_LARGE: &str = "the composed mail is not below 30 MiB";

/// An error that a later run of the same job may resolve.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("the next attempt has no form on the queue: {0}")]
    Job(#[from] posthaste_queue::JobError),
    #[error("somebody else is handing this copy over")]
    Busy,
}

impl WorkError {
    /// Whether the error is transient.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Job(_) => Disposition::Fail,
            Self::Store(error) if !error.is_transient() => Disposition::Fail,
            Self::Store(_) | Self::Queue(_) | Self::Busy => Disposition::Retry,
        }
    }
}

/// What all copies of a job share.
#[derive(Clone, Copy)]
pub(crate) struct JobContext<'a> {
    pub(crate) job: &'a Job,
    pub(crate) mail: &'a Mail,
    /// The settings of the account.
    pub(crate) settings: &'a AccountSettings,
    /// The settings that apply to this mail.
    pub(crate) effective: &'a Effective,
}

/// Advances one copy by one step and returns the result. The copy is made with a template, without
/// one, or not at all: then it is dropped for that reason.
pub(crate) async fn deliver(
    app: &App,
    order: JobContext<'_>,
    copy: RecipientCopy<'_>,
    made: Result<Option<&Compiled>, &str>,
) -> Result<Vec<Event>, WorkError> {
    let JobContext { job, mail, .. } = order;
    let which = (&job.account, &job.message, copy.recipient);
    let carried = carried_size(mail);
    let mut room = None;
    let rendered = match made {
        Err(reason) => Err(reason.to_owned()),
        Ok(template) => {
            let size = rendered_size(order, copy, template);
            let held = room.insert(app.memory.room(size.min(MAX_OUTPUT) + carried).await);
            let rendering = || render(app, order, copy, template);
            let rendered = posthaste_offload::run(size, rendering).await;
            held.shrink(rendered.as_ref().map_or(0, texts_size) + carried);
            rendered
        }
    };
    let from = &mail.from_of(copy.personalization).email;
    // Before the claim: a table that fails here costs a repeat, not the copy.
    let signer = crate::dkim::signer(app, &job.account, from).await?;
    let subject = rendered.as_ref().map_or("", |r| &r.subject);
    let email = copy.mailbox.email.as_str();
    let message_id = crate::submitted::message_id(mail);
    let message_id = message_id.unwrap_or_else(|| app.message_id(&job.message, copy.recipient));
    let described = Described {
        email,
        from: from.as_str(),
        subject,
        accepted_at: job.accepted.seconds(),
    };
    let who = Claimant {
        owner: &app.owner,
        single_process: app.single_process,
        now: app.clock.now(),
        lease: LEASE,
        retention: crate::erased::retention(app, job, copy).await?,
    };
    match app.store.claim(which, job.attempt, who, &described).await? {
        Claim::Won => {}
        Claim::Busy { .. } => return Err(WorkError::Busy),
        Claim::Done => return replayed_events(app, job, copy.recipient).await,
    }
    let about = |now| EventContext {
        job,
        recipient: copy.recipient,
        email,
        message_id: &message_id,
        mail,
        personalization: copy.personalization,
        now,
    };
    let rendered = crate::credits::charge_credit(app, (job, mail), rendered).await?;
    let processed = (job.attempt == 0).then(|| about(app.clock.now_ms()).processed());
    let end = match rendered {
        Err(reason) => about(app.clock.now_ms()).dropped(&reason),
        Ok(rendered) => hand_over(app, order, copy, (&message_id, rendered, signer), about).await,
    };
    let processed = processed.filter(|_| end.state != CopyState::Dropped);
    finish(app, job, copy.recipient, processed, end).await
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

fn render(
    app: &App,
    order: JobContext<'_>,
    copy: RecipientCopy<'_>,
    template: Option<&Compiled>,
) -> Result<Rendered, String> {
    let job = order.job;
    let mailbox = app.identity.leave_mailbox();
    let links = app.tracking.as_ref().map(|base| Links {
        base: base.as_str(),
        keys: &app.keys,
        account: &job.account,
        message: &job.message,
        now: job.accepted.seconds(),
        mailbox: mailbox.as_deref(),
    });
    let input = Input {
        mail: order.mail,
        copy,
        template,
        settings: order.effective,
        links,
    };
    posthaste_render::render(&input).map_err(|e| e.to_string())
}

/// Why a copy cannot be built.
enum Unbuilt {
    /// An error of the mail itself, which no retry resolves.
    Mail(String),
    /// The service supplies the stamped values: a retry may succeed after an operator intervenes.
    Configuration(String),
}

/// The finished mail, signed, if it is not too large.
fn finished(
    mail: &Mail,
    signer: Option<&Signer>,
    built: Result<Vec<u8>, BuildError>,
) -> Result<Vec<u8>, Unbuilt> {
    match built {
        // The effect of templates, footers, substitutions and links on the size was not known
        // before.
        Ok(bytes) if bytes.len() >= largest(mail) => Err(Unbuilt::Mail(TOO_LARGE.to_owned())),
        Ok(bytes) => Ok(crate::dkim::signed(signer, bytes)),
        Err(error @ BuildError::Stamp(_)) => Err(Unbuilt::Configuration(error.to_string())),
        Err(
            error @ (BuildError::HeaderName(_) | BuildError::MediaType(_) | BuildError::Base64(_)),
        ) => Err(Unbuilt::Mail(error.to_string())),
    }
}

async fn hand_over<'a>(
    app: &App,
    order: JobContext<'_>,
    copy: RecipientCopy<'_>,
    (message_id, rendered, signer): (&str, Rendered, Option<Arc<Signer>>),
    about: impl Fn(posthaste_model::Millis) -> EventContext<'a>,
) -> RecordResult {
    let JobContext { job, mail, .. } = order;
    let from = mail.from_of(copy.personalization);
    let boundary = format!("{}.{}", job.message, copy.recipient);
    let extra: Vec<(&str, String)> = rendered
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let outgoing = Outgoing {
        from,
        to: &copy.personalization.to,
        cc: &copy.personalization.cc,
        reply_to: &rendered.reply_to,
        subject: &rendered.subject,
        contents: &rendered.parts,
        attachments: &mail.attachments,
        headers: &mail.merged_headers(copy.personalization),
        extra: &extra,
    };
    let stamp = Stamp {
        message_id,
        date: job.due.unwrap_or_else(|| job.accepted.seconds()),
        boundary: &boundary,
    };
    let building = || {
        let built = match &mail.submitted {
            Some(whole) => crate::submitted::build(whole, mail, copy, &rendered, &stamp),
            None => posthaste_mime::build(&outgoing, &stamp),
        };
        finished(mail, signer.as_deref(), built)
    };
    let bytes = match posthaste_offload::run(texts_size(&rendered) + carried_size(mail), building)
        .await
    {
        Ok(bytes) => bytes,
        Err(Unbuilt::Mail(reason)) => return about(app.clock.now_ms()).dropped(&reason),
        Err(Unbuilt::Configuration(error)) => {
            tracing::error!(message.id = %job.message, "message {} cannot be built: {error}", job.message);
            return about(app.clock.now_ms()).unbuilt();
        }
    };
    if crate::spam::is_spam(app, job, order.settings, &bytes).await {
        return about(app.clock.now_ms()).dropped(crate::spam::SPAM_CONTENT);
    }
    let envelope = envelope(app, order, copy, &rendered);
    let begun = app.clock.now_ms();
    let attempt = app.mailer.hand_over(&envelope, &bytes).await;
    let now = app.clock.now_ms();
    tracing::debug!(
        message.id = %job.message, attempt.no = job.attempt, attempt.duration_ms = now.0 - begun.0,
        "message {} was offered to {}", job.message, Masked(&copy.mailbox.email.wire())
    );
    about(now).end(attempt)
}

/// The size limit of a copy in octets. A mail submitted whole was measured on arrival: headers
/// added since do not count.
fn largest(mail: &Mail) -> usize {
    const HEADERS: usize = 64 << 10;
    match mail.submitted {
        Some(_) => LARGEST_MAIL + HEADERS,
        None => LARGEST_MAIL,
    }
}

/// The envelope of a copy.
fn envelope(
    app: &App,
    order: JobContext<'_>,
    copy: RecipientCopy<'_>,
    rendered: &Rendered,
) -> Envelope {
    let JobContext { job, mail, .. } = order;
    let from = mail.from_of(copy.personalization);
    let which = (&job.account, &job.message, copy.recipient);
    let foreign = |mailbox: &Mailbox| mailbox.email.needs_smtputf8();
    Envelope {
        from: app.envelope_sender(which, &from.email.wire()),
        to: copy.mailbox.email.clone(),
        foreign_sender: foreign(from) || rendered.reply_to.iter().any(foreign),
        pool: mail.ip_pool_name.clone(),
        tags: Tags {
            account: job.account.clone(),
            message: job.message.clone(),
            recipient: copy.recipient,
        },
    }
}

/// Queues the retry, then records this attempt: in the opposite order a crash in between would lose
/// the copy; in this order the claim absorbs the second job.
async fn finish(
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
            crate::unrecordable::alarm(&what, &error);
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
