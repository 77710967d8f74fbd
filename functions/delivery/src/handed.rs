//! Which copies this process handed to SES: a row for each batch, by which the sweep finds, a day later,
//! those of which nothing was heard.

use std::sync::{Mutex, PoisonError};

use posthaste_mailer::Attempt;
use posthaste_model::Millis;
use posthaste_queue::Job;
use posthaste_store::{HandedCopy, Store};

/// The copies that were handed over since they were last stored.
#[derive(Debug, Default)]
pub struct HandedLog(Mutex<Vec<HandedCopy>>);

impl HandedLog {
    /// Notes a copy if the relay reports its outcome later.
    pub(crate) fn note(&self, job: &Job, recipient: u32, attempt: &Attempt) {
        let Attempt::Handed { response } = attempt else {
            return;
        };
        // `250 Ok ID`.
        let id = response.rsplit(' ').next().unwrap_or_default();
        self.lock().push(HandedCopy {
            account: job.account.clone(),
            message: job.message.clone(),
            recipient,
            service_id: id.to_owned(),
        });
    }

    /// Stores the copies. A failure costs only the watch over them: no mail is sent again for it.
    pub(crate) async fn store(&self, store: &Store, now: Millis) {
        let handed = std::mem::take(&mut *self.lock());
        if let Err(error) = store.note_handed(&handed, now).await {
            tracing::warn!(%error, "{} copies that SES has are not watched: {error}", handed.len());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<HandedCopy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
