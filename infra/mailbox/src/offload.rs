//! Work that takes as long as its input is large, away from the threads that serve.

use std::sync::Arc;

use crate::Error;

/// Is called on the thread that does a piece of work, before it begins, with the name of the work.
pub type Observer = Arc<dyn Fn(&'static str) + Send + Sync>;

/// Hands work to the runtime's pool for what blocks.
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

    /// Does the work on the pool. A panic of it is an error here.
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
