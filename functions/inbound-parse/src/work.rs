//! Processes a queue message: posts the mail and handles the result.

use posthaste_blob::BlobError;
use posthaste_model::Timestamp;
use posthaste_queue::{
    BatchResult, Disposition, Inbound, Judged, SnsContent, SqsEvent, SqsMessage, each,
};
use posthaste_runtime::WorkError;
use posthaste_store::{ArrivalStage, Arriving, Due, DueTarget, LostMail};
use posthaste_webhook::{Attempted, Next, PostOutcome, RetryFate, Schedule};

use crate::{App, accept, notice, post};

/// The duration of a claim in seconds: longer than the longest POST can take.
const LEASE: i64 = 300;

/// Handles a batch of the inbound queue.
pub async fn handle(app: &App, event: &SqsEvent) -> BatchResult {
    each(event, app.concurrency, |record| work(app, record)).await
}

async fn work(app: &App, record: &SqsMessage) -> Disposition {
    let text = record.body.as_deref().unwrap_or_default();
    let done = match Inbound::from_text(text) {
        Ok(job) => one(app, job).await,
        Err(no_job) => match SnsContent::read(text) {
            SnsContent::Announcement(kind) => {
                tracing::info!("an announcement of AWS on the inbound queue: {kind}");
                return Disposition::Done;
            }
            SnsContent::Message(text) => match serde_json::from_str(&text) {
                Ok(receipt) => notice::take(app, &receipt).await,
                Err(_) => {
                    // It goes to the dead letters, where a release that can read it picks it up.
                    tracing::error!(error = %no_job, "an inbound message cannot be read: {no_job}");
                    return Disposition::Fail;
                }
            },
        },
    };
    match done {
        Ok(()) => Disposition::Done,
        Err(WorkError::Busy) => Disposition::Retry,
        Err(error) => {
            tracing::error!(error = %error, "a received mail could not be processed: {error}");
            error.disposition()
        }
    }
}

/// The result of an attempt: the receiver's answer, or a failure before the POST.
enum PostResult {
    Posted(PostOutcome),
    Hopeless(&'static str),
}

async fn one(app: &App, job: Inbound) -> Result<(), WorkError> {
    let which = (&job.account, job.id.as_str(), job.attempt);
    let now = app.clock.now();
    let expires = now.plus(app.retention);
    let begun = app
        .store
        .begin_arrival(which, (now, LEASE), expires, app.single_process.as_deref())
        .await?;
    match begun {
        // Once claimed, the mail does not wait for its statistics.
        Arriving::Go { first: true } => {
            let count = || app.store.count_received(&job.account, now);
            if let Err(error) = app.store.through_throttles(count).await {
                tracing::warn!(account.id = %job.account, error = %error, "a received mail is not counted: {error}");
            }
        }
        Arriving::Go { first: false } => {}
        Arriving::Busy => return Err(WorkError::Busy),
        Arriving::Over(ArrivalStage::Done) => {
            // Submitted again after it was posted: the second copy is not needed.
            return accept::release(app, &job).await;
        }
        Arriving::Over(_) => return Ok(()),
    }
    let (end, judged) = match attempt(app, &job).await {
        Ok(attempted) => attempted,
        Err(error) => {
            // Nothing was posted: the retry need not wait for the lease to expire. If this fails
            // too, it does.
            let _ = settle(app, &job, ArrivalStage::Waiting).await;
            return Err(error);
        }
    };
    finish(app, job, end, judged).await
}

async fn attempt(app: &App, job: &Inbound) -> Result<(PostResult, Option<Judged>), WorkError> {
    let setting = app.store.parse_setting(&job.account, &job.hostname).await?;
    let Some(setting) = setting else {
        return Ok((
            PostResult::Hopeless("the hostname is no longer parsed"),
            None,
        ));
    };
    let security = post::security(app, &setting).await?;
    let raw = match app.blob.get(&job.blob).await {
        Ok(raw) => raw,
        Err(BlobError::Missing(_)) => {
            return Ok((PostResult::Hopeless("the raw mail is gone"), None));
        }
        Err(error) => return Err(error.into()),
    };
    let judged = crate::checks::check(app, job, setting.spam_check, &raw).await;
    let outcome = match security {
        Ok(security) => post::post(app, (&setting, security.as_ref()), job, &judged, raw).await,
        // To the receiver a post without its signature would be a stranger's.
        Err(reason) => PostOutcome::Unsecured(reason),
    };
    Ok((PostResult::Posted(outcome), Some(judged)))
}

async fn finish(
    app: &App,
    job: Inbound,
    end: PostResult,
    judged: Option<Judged>,
) -> Result<(), WorkError> {
    let now = app.clock.now();
    let (reason, next) = match &end {
        PostResult::Hopeless(why) => ((*why).to_owned(), Next::GiveUp),
        PostResult::Posted(outcome) => match Schedule::Inbound.fate(outcome) {
            RetryFate::Done => {
                let which = (&job.account, job.id.as_str(), job.attempt + 1);
                let expires = now.plus(app.retention);
                let end = || app.store.end_arrival(which, ArrivalStage::Done, expires);
                // Otherwise it is posted again.
                app.store.through_throttles(end).await?;
                return accept::release(app, &job).await;
            }
            RetryFate::End => (outcome.to_string(), Next::GiveUp),
            RetryFate::Retry => {
                let attempted = Attempted {
                    started: job.received,
                    now,
                    attempt: job.attempt + 1,
                    retry_after: outcome.retry_after(),
                    roll: app.entropy.below(u64::MAX),
                };
                (outcome.to_string(), Schedule::Inbound.next(attempted))
            }
        },
    };
    tracing::info!(
        account.id = %job.account, attempt.no = job.attempt,
        "the receiver for {} did not accept a mail: {reason}", job.hostname
    );
    let later = Inbound {
        attempt: job.attempt + 1,
        judged: judged.or_else(|| job.judged.clone()),
        ..job
    };
    match next {
        Next::At(at) => again(app, &later, at).await,
        Next::GiveUp => put_dead_letter(app, &later, reason).await,
    }
}

/// Schedules the retry, then releases this job: in the opposite order a crash in between would lose
/// the mail; in this order the claim absorbs the second job.
async fn again(app: &App, later: &Inbound, at: Timestamp) -> Result<(), WorkError> {
    let due = Due {
        target: DueTarget::Inbound,
        account: later.account.clone(),
        at,
        id: format!("{}#{:03}", later.id, later.attempt),
        body: later.to_text()?,
    };
    let near = app.store.defer(vec![due], &app.clock).await?;
    app.inbound.send_all(near).await?;
    settle(app, later, ArrivalStage::Waiting).await
}

/// Stores the mail for a replay. The raw mail is not moved.
async fn put_dead_letter(app: &App, later: &Inbound, reason: String) -> Result<(), WorkError> {
    let now = app.clock.now();
    let lost = LostMail {
        account: later.account.clone(),
        id: later.id.clone(),
        hostname: later.hostname.clone(),
        received: later.received,
        died_at: now,
        attempts: later.attempt,
        reason,
        job: later.to_text()?,
    };
    app.store.lose_mail(&lost, now.plus(app.retention)).await?;
    settle(app, later, ArrivalStage::Dead).await
}

async fn settle(app: &App, job: &Inbound, stage: ArrivalStage) -> Result<(), WorkError> {
    let which = (&job.account, job.id.as_str(), job.attempt);
    let expires = app.clock.now().plus(app.retention);
    let end = || app.store.end_arrival(which, stage, expires);
    Ok(app.store.through_throttles(end).await?)
}
