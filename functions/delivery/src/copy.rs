//! One recipient's copy: claim, render, compose, hand over.

use std::sync::Arc;

use posthaste_identity::Signer;
use posthaste_mime::{BuildError, Outgoing, Stamp};
use posthaste_model::{
    AccountId, DropReason, EmailAddress, Event, Mail, Masked, Millis, RecipientCopy,
};
use posthaste_queue::Job;
use posthaste_render::{Compiled, Rendered};
use posthaste_runtime::WorkError;
use posthaste_store::{Claim, CopyState, Described, KeepTerm, StoreError};

use crate::App;
use crate::context::JobContext;
use crate::cost::{carried_size, texts_size};
use crate::delayed::{DelayedCopy, WaitStart, may_wait};
use crate::outcome::{EventContext, RecordResult};
use crate::record::{Retention, finish, release_claim, replayed_events, retention};
use crate::relay::RelayPermit;
use crate::rendered::render_in_room;
use crate::test_mail::Reaction;
use crate::wait::RelayWait;
use crate::{again, kept};

/// Why a copy that exceeds the size limit of a mail is dropped.
const TOO_LARGE: &str = "the composed mail is not below 30 MiB";

/// What became of one step of a copy.
pub(crate) enum CopyResult {
    /// It was recorded, now or by an earlier run. These are its events.
    Recorded(Vec<Event>),
    /// The relay is not to be offered anything now. Its attempt is still to come.
    Waits(DelayedCopy),
}

/// What the row of a copy says beside its events.
#[derive(Clone, Copy)]
struct CopyRow<'a> {
    from: &'a EmailAddress,
    subject: &'a str,
    /// Seconds for which the table stores it.
    retention: i64,
    /// For how long its composed mail is kept, if it is.
    keep: Option<KeepTerm>,
}

/// Advances one copy by one step and returns the result. The copy is made with a template, without
/// one, or not at all: then it is dropped for that reason.
pub(crate) async fn deliver(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    made: Result<Option<&Compiled>, DropReason>,
) -> Result<CopyResult, WorkError> {
    let JobContext { job, mail, .. } = context;
    let admitted = match made {
        // The relay is not asked about what it is not offered.
        Ok(_) if app.is_test_mail(job, &copy.mailbox.email) => Ok(None),
        Ok(_) => app.relay.admit(&job.account).await.map(Some),
        Err(_) => Ok(None),
    };
    let must_wait = admitted
        .as_ref()
        .is_err_and(|wait| may_wait(job, wait, app.clock.now_ms()));
    // The row of a copy that begins to wait has its subject.
    let begins = matches!(admitted, Err(RelayWait::Outage { .. })) && job.waits_since.is_none();
    let mut room = None;
    let monitored = made.as_ref().ok().copied();
    let rendered = match made {
        Err(reason) => Err(reason),
        Ok(_) if must_wait && !begins => Ok(Rendered::default()),
        Ok(template) => render_in_room(app, context, copy, template, &mut room).await,
    };
    let message_id = app.message_id(&job.message, mail, copy);
    let about = EventContext {
        job,
        recipient: copy.recipient,
        email: copy.mailbox.email.as_str(),
        message_id: &message_id,
        mail,
        personalization: copy.personalization,
        now: app.clock.now_ms(),
    };
    let subject = match &rendered {
        Ok(rendered) => rendered.subject.as_str(),
        Err(_) => mail.subject_of(copy.personalization),
    };
    let subject = subject.to_owned();
    // Needed for the row, which a copy that goes on waiting does not write.
    let retention = if must_wait && !begins {
        Retention::of(app)
    } else {
        retention(app, job, copy).await?
    };
    let row = CopyRow {
        from: &mail.from_of(copy.personalization).email,
        subject: &subject,
        retention: retention.seconds,
        keep: rendered
            .as_ref()
            .ok()
            .and_then(|_| kept::term(app, context, copy, retention)),
    };
    match (admitted, &rendered) {
        (Err(wait), Ok(_)) if must_wait => Ok(waiting(&about, row, wait, false)),
        (admitted, _) => {
            let result = attempt(app, context, copy, (about, row), (rendered, admitted)).await?;
            if let (CopyResult::Recorded(events), Some(template)) = (&result, monitored) {
                crate::monitor::sample(app, context, copy, template, events).await?;
            }
            Ok(result)
        }
    }
}

/// The result for a copy that waits; `is_held` says whether this job holds its claim.
fn waiting(
    about: &EventContext<'_>,
    row: CopyRow<'_>,
    wait: RelayWait,
    is_held: bool,
) -> CopyResult {
    let start = about.start_of(&wait).map(|events| WaitStart {
        events,
        email: about.email.to_owned(),
        from: row.from.as_str().to_owned(),
        subject: row.subject.to_owned(),
        retention: row.retention,
        is_held,
    });
    CopyResult::Waits(DelayedCopy {
        recipient: about.recipient,
        wait,
        start,
    })
}

/// Claims the copy, and ends or offers it. A copy that the relay refuses to be offered ends as
/// expired.
async fn attempt(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    (about, row): (EventContext<'_>, CopyRow<'_>),
    (rendered, admitted): (
        Result<Rendered, DropReason>,
        Result<Option<RelayPermit<'_>>, RelayWait>,
    ),
) -> Result<CopyResult, WorkError> {
    let JobContext { job, mail, .. } = context;
    let which = (&job.account, &job.message, copy.recipient);
    // Before the claim: a table that fails here costs a repeat, not the copy.
    let signer = signer(app, &job.account, row.from).await?;
    let described = Described {
        email: about.email,
        from: row.from.as_str(),
        subject: row.subject,
        accepted_at: job.accepted.seconds(),
    };
    let reaction = match &rendered {
        Ok(rendered) => Reaction::to(app, context, copy, (&about, rendered)).await,
        Err(_) => Reaction::default(),
    };
    let who = app.claimant(row.retention);
    let claim = app
        .store
        .claim_to_keep(which, job.attempt, who, (&described, row.keep));
    match claim.await? {
        Claim::Won => {}
        Claim::Busy { .. } => return Err(WorkError::Busy),
        Claim::Done => {
            let events = replayed_events(app, job, copy.recipient).await?;
            return Ok(CopyResult::Recorded(reaction.visit(events)));
        }
    }
    let rendered = match rendered {
        Ok(_) if !is_paid(app, job, mail, copy.recipient).await? => Err(DropReason::OverQuota),
        rendered => rendered,
    };
    let at = |now| EventContext { now, ..about };
    let processed = at(app.clock.now_ms()).first_processed();
    let end = match (rendered, admitted) {
        (Err(reason), _) => Ok(at(app.clock.now_ms()).dropped(&reason)),
        (Ok(_), Err(wait)) => Ok(at(app.clock.now_ms()).expired(wait.response().to_owned())),
        (Ok(rendered), Ok(permit)) => {
            let made = (rendered, signer, permit, row.keep);
            hand_over(app, context, copy, made, at).await
        }
    };
    match end {
        Ok(mut end) => {
            if end.state == CopyState::Delivered {
                end.reports.clone_from(&reaction.reports);
            }
            let processed = processed.filter(|_| end.state != CopyState::Dropped);
            let events = finish(app, job, copy.recipient, processed, end).await?;
            Ok(CopyResult::Recorded(reaction.visit(events)))
        }
        Err(wait) => {
            let about = at(app.clock.now_ms());
            // Where the wait begins, the write that records that gives the claim back.
            let begins = about.start_of(&wait).is_some();
            return_credit(app, job, mail, (copy.recipient, begins)).await?;
            Ok(waiting(&about, row, wait, true))
        }
    }
}

/// Charges the credit of a copy that is claimed; mail that does not leave takes none. Where that fails, the claim is
/// given back.
async fn is_paid(app: &App, job: &Job, mail: &Mail, recipient: u32) -> Result<bool, WorkError> {
    if job.is_test {
        return Ok(true);
    }
    let charged = app.accounts.charge_credit(job, mail).await;
    if charged.is_err() {
        release_claim(app, job, recipient).await?;
    }
    Ok(charged?)
}

/// Returns the credit of a copy that waits, and gives its claim back, unless that is still needed; in any case where
/// the credit cannot be returned.
async fn return_credit(
    app: &App,
    job: &Job,
    mail: &Mail,
    (recipient, is_needed): (u32, bool),
) -> Result<(), WorkError> {
    let returned = app.accounts.return_credit(job, mail).await;
    if returned.is_err() || !is_needed {
        release_claim(app, job, recipient).await?;
    }
    Ok(returned?)
}

/// The signer for mail of this sender; `None` when the relay signs, or no domain of the account
/// covers the address.
async fn signer(
    app: &App,
    account: &AccountId,
    from: &EmailAddress,
) -> Result<Option<Arc<Signer>>, StoreError> {
    match &app.dkim {
        Some(dkim) => {
            let now = app.clock.now_ms();
            dkim.signer(&app.store, account, from, now).await
        }
        None => Ok(None),
    }
}

/// Why a copy cannot be built.
enum Unbuilt {
    /// An error of the mail itself, which no retry resolves.
    Mail(DropReason),
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
        Ok(bytes) if bytes.len() >= crate::submitted::largest(mail) => {
            Err(Unbuilt::Mail(DropReason::Unsendable(TOO_LARGE.to_owned())))
        }
        Ok(bytes) => Ok(crate::dkim::signed(signer, bytes)),
        Err(error @ BuildError::Stamp(_)) => Err(Unbuilt::Configuration(error.to_string())),
        Err(
            error @ (BuildError::HeaderName(_) | BuildError::MediaType(_) | BuildError::Base64(_)),
        ) => Err(Unbuilt::Mail(DropReason::Unsendable(error.to_string()))),
    }
}

/// The bytes of the copy, signed.
fn composed(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    (rendered, signer): (&Rendered, Option<&Signer>),
    about: &EventContext<'_>,
) -> Result<Vec<u8>, Unbuilt> {
    let JobContext { job, mail, .. } = context;
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
        message_id: about.message_id,
        date: job.due.unwrap_or_else(|| job.accepted.seconds()),
        boundary: &boundary,
    };
    let built = match &mail.submitted {
        Some(whole) => {
            let built = crate::submitted::build(whole, mail, copy, rendered, &stamp);
            built.map(|bytes| again::relinked_head(app, context, copy, bytes))
        }
        None => posthaste_mime::build(&outgoing, &stamp),
    };
    finished(mail, signer, built)
}

/// Builds the copy and offers it to the relay, unless that fails. A wait is the error: the relay did
/// not look at the mail.
async fn hand_over<'a>(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    (rendered, signer, permit, keep): (
        Rendered,
        Option<Arc<Signer>>,
        Option<RelayPermit<'_>>,
        Option<KeepTerm>,
    ),
    about: impl Fn(Millis) -> EventContext<'a>,
) -> Result<RecordResult, RelayWait> {
    let JobContext { job, mail, .. } = context;
    let stamped = about(app.clock.now_ms());
    let building = || composed(app, context, copy, (&rendered, signer.as_deref()), &stamped);
    let bytes = match posthaste_offload::run(texts_size(&rendered) + carried_size(mail), building)
        .await
    {
        Ok(bytes) => bytes,
        Err(Unbuilt::Mail(reason)) => return Ok(about(app.clock.now_ms()).dropped(&reason)),
        Err(Unbuilt::Configuration(error)) => {
            tracing::error!(message.id = %job.message, "message {} cannot be built: {error}", job.message);
            return Ok(about(app.clock.now_ms()).unbuilt());
        }
    };
    if is_spam(app, context, &bytes).await {
        return Ok(about(app.clock.now_ms()).dropped(&DropReason::SpamContent));
    }
    let bytes = match keep {
        Some(term) => kept::keep(app, context, copy, term, bytes).await,
        None => bytes,
    };
    let envelope = app.envelope(context, copy, &rendered);
    let begun = app.clock.now_ms();
    let attempt = app.offer(job, &envelope, &bytes).await;
    app.handed.note(job, copy.recipient, &attempt);
    let now = app.clock.now_ms();
    tracing::debug!(
        message.id = %job.message, attempt.no = job.attempt, attempt.duration_ms = now.0 - begun.0,
        "message {} was offered to {}", job.message, Masked(&copy.mailbox.email.wire())
    );
    match permit.and_then(|permit| permit.note(&attempt)) {
        Some(wait) if may_wait(job, &wait, now) => Err(wait),
        Some(_) | None => Ok(about(now).end(attempt)),
    }
}

/// Whether the filter blocks the mail. It is asked at the first attempt.
async fn is_spam(app: &App, context: JobContext<'_>, bytes: &[u8]) -> bool {
    let JobContext { job, settings, .. } = context;
    match app.spam.as_ref().filter(|_| job.attempt == 0) {
        Some(spam) => {
            let now = app.clock.now_ms();
            spam.blocks(&job.message, bytes, settings, now).await
        }
        None => false,
    }
}
