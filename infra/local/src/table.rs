//! The embedded DynamoDB, reached through the ordinary SDK on a loopback port.

use std::path::Path;

use dynoxide::Database;
use posthaste_store::{Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running table.
pub(crate) struct Table {
    pub(crate) store: Store,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

/// Why the table did not start.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the table's file cannot be opened: {0}")]
    Open(String),
    #[error("no loopback port for the table: {0}")]
    Port(std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Table {
    /// Starts the table on a file, or in memory.
    pub(crate) async fn start(file: Option<&Path>) -> Result<Self, TableError> {
        let database = match file {
            None => Database::memory(),
            Some(file) => Database::new(&file.to_string_lossy()),
        };
        let database = database.map_err(|e| TableError::Open(e.to_string()))?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(TableError::Port)?;
        let address = listener.local_addr().map_err(TableError::Port)?;
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(async move {
            let wait = async {
                // An error means the host is gone, which is as good a reason to stop.
                let _ = stopped.await;
            };
            if let Err(error) =
                dynoxide::server::serve_with_shutdown(listener, database, wait).await
            {
                tracing::error!(error = %error, "the embedded table stopped: {error}");
            }
        });
        let store = Store::embedded(&format!("http://{address}"), "posthaste");
        store.create_table().await?;
        Ok(Self {
            store,
            stop,
            server,
        })
    }

    /// Lets running calls finish and closes the file.
    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        // The SDK keeps connections open that the server would wait for.
        drop(self.store);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(2), self.server).await;
    }
}
