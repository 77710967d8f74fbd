//! Runs work whose time grows with its input outside the serving threads.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Error;

/// Called on the thread that runs a piece of work, before it begins, with the name of the work.
pub type Observer = Arc<dyn Fn(&'static str) + Send + Sync>;

/// Hands work to the runtime's blocking pool.
#[derive(Clone)]
pub(crate) struct Offload {
    observer: Option<Observer>,
    /// One for each core: the large mails that are in memory at a time.
    slots: Arc<Semaphore>,
}

impl Offload {
    pub(crate) fn new(observer: Option<Observer>) -> Self {
        Self {
            observer,
            slots: Arc::new(Semaphore::new(posthaste_offload::concurrency())),
        }
    }

    /// Waits until a large mail may be loaded. Its work is done when the slot is dropped.
    pub(crate) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        // Never closed.
        Arc::clone(&self.slots).acquire_owned().await.ok()
    }

    /// Runs the work on the pool. A panic in it is returned as an error.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let observer = self.observer.clone();
        let observed = move || {
            if let Some(observer) = observer {
                observer(name);
            }
            work()
        };
        let done = tokio::task::spawn_blocking(observed).await;
        done.map_err(|cause| Error::Store(cause.to_string()))
    }
}
