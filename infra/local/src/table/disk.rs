//! Tracks when writes to the table's file are safe from a power failure.
//!
//! The table commits without waiting for the disk: a crash of the process loses nothing, a power
//! failure may lose the last moments. So work that acknowledges something (an answer to a request,
//! the deletion of a job) first runs in [`Disk::durable`], which waits for the disk if the work
//! wrote anything. Concurrent waits share one sync.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use posthaste_submission::Durable;
use tokio::sync::{mpsc, oneshot};

tokio::task_local! {
    /// Set once the work that runs in this scope has written to the table.
    static WROTE: Arc<AtomicBool>;
}

/// Records that the running work writes to the table. Outside of any scope nothing waits for it.
pub(super) fn note() {
    let _ = WROTE.try_with(|wrote| wrote.store(true, Ordering::Relaxed));
}

/// Syncs the table's file on request. A table in memory has nothing to wait for.
#[derive(Clone, Debug)]
pub(crate) struct Disk(Option<mpsc::UnboundedSender<oneshot::Sender<bool>>>);

impl Disk {
    /// For a table in memory, and for one that is not on a local disk.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// For the write-ahead log beside this file.
    pub(super) fn of(table: &Path) -> io::Result<Self> {
        let mut log = table.as_os_str().to_owned();
        log.push("-wal");
        let log = File::open(log)?;
        let (ask, mut asked) = mpsc::unbounded_channel::<oneshot::Sender<bool>>();
        std::thread::Builder::new()
            .name("table-sync".to_owned())
            .spawn(move || {
                let mut waiting = Vec::new();
                while let Some(first) = asked.blocking_recv() {
                    waiting.push(first);
                    while let Ok(next) = asked.try_recv() {
                        waiting.push(next);
                    }
                    let end = log.sync_data();
                    if let Err(error) = &end {
                        tracing::error!(error = %error, "the table's file cannot be synced: {error}");
                    }
                    for who in waiting.drain(..) {
                        // A dropped caller acknowledges nothing.
                        let _ = who.send(end.is_ok());
                    }
                }
            })?;
        Ok(Self(Some(ask)))
    }

    /// A disk that accepts no more writes.
    #[cfg(test)]
    pub(crate) fn broken() -> Self {
        Self(Some(mpsc::unbounded_channel().0))
    }

    /// Runs the work; what it wrote is on the disk when its result is `Some`.
    pub(crate) async fn durable<F: Future>(&self, work: F) -> Option<F::Output> {
        let wrote = Arc::new(AtomicBool::new(false));
        let end = WROTE.scope(wrote.clone(), work).await;
        let Some(ask) = self.0.as_ref().filter(|_| wrote.load(Ordering::Relaxed)) else {
            return Some(end);
        };
        let (done, synced) = oneshot::channel();
        ask.send(done).ok()?;
        synced.await.ok()?.then_some(end)
    }

    /// What the reply to a submitted mail waits for.
    pub(crate) fn for_submission(&self) -> Durable {
        let disk = self.clone();
        Arc::new(move |accepting| {
            let disk = disk.clone();
            Box::pin(async move { disk.durable(accepting).await })
        })
    }
}
