//! Copies that the table cannot store.
//!
//! Rows are bounded so that this does not happen; if it does, repeating the job would not help, and
//! an accepted mail must end in a state. So the copy is dropped, with a row of a small, fixed size
//! and an alarm. If the table rejects that row too, the mail is not the cause, and the job is
//! retried.

use posthaste_model::{Event, Mail, Masked, RecipientCopy};
use posthaste_queue::Job;
use posthaste_store::{Claimant, Described, StoreError};

use crate::App;
use crate::copy::{LEASE, WorkError, replayed_events};
use crate::outcome::EventContext;

/// The reason of the dropped event.
pub(crate) const UNRECORDABLE: &str = "Cannot Be Recorded";

/// The table's refusal, if it is permanent.
pub(crate) fn refusal(trouble: &WorkError) -> Option<&StoreError> {
    match trouble {
        WorkError::Store(error) if error.is_permanent() => Some(error),
        WorkError::Store(_) | WorkError::Queue(_) | WorkError::Job(_) | WorkError::Busy => None,
    }
}

/// Writes the metric that the alarm watches, and the log line.
pub(crate) fn alarm(what: &str, error: &StoreError) {
    tracing::info!(target: "metrics", unrecordable = 1_u64);
    tracing::error!(error = %error, "{what}: {error}");
}

/// Ends a copy as dropped, and returns its event.
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
