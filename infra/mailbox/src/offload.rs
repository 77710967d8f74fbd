//! Runs work whose time grows with its input outside the serving threads.

use std::sync::Arc;

use crate::Error;

/// Called on the thread that runs a piece of work, before it begins, with the name of the work.
pub type Observer = Arc<dyn Fn(&'static str) + Send + Sync>;

/// Hands work to the runtime's blocking pool.
#[derive(Clone, Default)]
pub(crate) struct Offload {
    observer: Option<Observer>,
}

impl Offload {
    pub(crate) fn observed_by(observer: Observer) -> Self {
        Self {
            observer: Some(observer),
        }
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
