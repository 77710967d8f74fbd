//! The embedded DynamoDB: one thread owns its file, the ordinary SDK connects to it.

mod calls;
mod disk;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use dynoxide::Database;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use posthaste_model::Clock;
use posthaste_store::{Embedded, Store, StoreError, TableResponse};
use tokio::sync::{mpsc, oneshot};

use crate::damage::{self, Damage};

pub(crate) use disk::Disk;

use self::calls::Extent;

const HOUR: Duration = Duration::from_secs(3600);

/// A running table.
pub(crate) struct Table {
    pub(crate) store: Store,
    pub(crate) disk: Disk,
    /// Receives reports of damage to the file.
    pub(crate) damage: Damage,
    /// The same of single rows, which only a start ends with.
    rows: Damage,
    /// Its name in messages.
    file: PathBuf,
    ended: oneshot::Receiver<()>,
}

/// Why the table did not start.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the table's file {0} cannot be opened: {1}")]
    Open(PathBuf, String),
    #[error("{0}")]
    Damaged(String),
    #[error(
        "a row of the file {0} cannot be read ({1}): it is damaged, or of a newer posthaste; start that \
         one, or put the file back from a backup"
    )]
    Row(PathBuf, String),
    #[error("no thread for the table: {0}")]
    Thread(std::io::Error),
    #[error("the log of {0} cannot be opened: {1}")]
    Log(PathBuf, std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One operation queued for the thread.
struct Call {
    operation: String,
    body: Vec<u8>,
    done: oneshot::Sender<TableResponse>,
}

/// Answers of a table that refuses some calls, by operation and body, as a busy DynamoDB does: for tests
/// of the whole service under them.
#[derive(Clone)]
pub struct TableFaults(Arc<Refuse>);

type Refuse = dyn Fn(&str, &[u8]) -> Option<TableResponse> + Send + Sync;

impl TableFaults {
    /// Wraps a function that answers for the table; `None` passes the call on.
    pub fn new(
        refuse: impl Fn(&str, &[u8]) -> Option<TableResponse> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(refuse))
    }
}

impl fmt::Debug for TableFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableFaults(…)")
    }
}

/// The channel to the thread.
#[derive(Debug)]
struct Calls {
    thread: mpsc::UnboundedSender<Call>,
    faults: Option<TableFaults>,
}

impl Embedded for Calls {
    fn call(&self, operation: &str, body: &[u8]) -> BoxFuture<'static, Option<TableResponse>> {
        let refused = self
            .faults
            .as_ref()
            .map(|faults| (faults.0)(operation, body));
        if let Some(refused) = refused.flatten() {
            return std::future::ready(Some(refused)).boxed();
        }
        if calls::writes(operation) {
            disk::note();
        }
        let (done, answer) = oneshot::channel();
        let call = Call {
            operation: operation.to_owned(),
            body: body.to_owned(),
            done,
        };
        // When the thread is gone, so is the other end of `answer`.
        let _ = self.thread.send(call);
        answer.map(Result::ok).boxed()
    }
}

/// Deletes expired rows (past their `exp`) every hour, as DynamoDB does in the background. Ends
/// when the sender is dropped. Pages of a sweep and calls take turns at the database.
fn forgetting(database: Database) -> std::io::Result<std::sync::mpsc::Sender<()>> {
    let (forget, stop) = std::sync::mpsc::channel::<()>();
    std::thread::Builder::new()
        .name("table-ttl".to_owned())
        .spawn(move || {
            while stop.recv_timeout(HOUR) == Err(RecvTimeoutError::Timeout) {
                match database.sweep_ttl() {
                    Ok(rows) => tracing::info!(rows, "forgot {rows} rows past their time"),
                    Err(error) => {
                        tracing::error!(error = %error, "rows past their time stay: {error}");
                    }
                }
            }
        })?;
    Ok(forget)
}

fn database(file: Option<&Path>) -> Result<Database, dynoxide::DynoxideError> {
    let Some(file) = file else {
        return Database::memory();
    };
    let database = Database::new(&file.to_string_lossy())?;
    // Sets SQLite's `synchronous` to NORMAL: commits do not wait for the disk, see `disk`.
    database.disable_bulk_loading()?;
    Ok(database)
}

/// What becomes of rows past their time, which no read returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowExpiry {
    /// They are deleted every hour, by the machine's clock.
    Deletes,
    /// They stay.
    Hides,
}

impl Table {
    /// Starts the table on a file, or in memory.
    pub(crate) async fn start(file: Option<&Path>) -> Result<Self, TableError> {
        Self::start_with(file, RowExpiry::Deletes, None).await
    }

    /// The same, where rows past their time may stay, and some calls are refused.
    pub(crate) async fn start_with(
        file: Option<&Path>,
        expiry: RowExpiry,
        faults: Option<TableFaults>,
    ) -> Result<Self, TableError> {
        let name = file.unwrap_or_else(|| Path::new(":memory:")).to_owned();
        let open = |error: dynoxide::DynoxideError| match calls::damage_of(&error) {
            Some(_) => TableError::Damaged(damage::sentence(&name, &error.to_string())),
            None => TableError::Open(name.clone(), error.to_string()),
        };
        let database = database(file).map_err(open)?;
        let (calls, mut asked) = mpsc::unbounded_channel::<Call>();
        let (end, ended) = oneshot::channel();
        let (damage, rows) = (Damage::default(), Damage::default());
        let (reports, path) = ((damage.clone(), rows.clone()), file.map(Path::to_owned));
        let forget = match expiry {
            RowExpiry::Deletes => Some(forgetting(database.clone()).map_err(TableError::Thread)?),
            RowExpiry::Hides => None,
        };
        std::thread::Builder::new()
            .name("table".to_owned())
            .spawn(move || {
                while let Some(call) = asked.blocking_recv() {
                    let found = |extent, cause: &str| {
                        let file = path.as_deref()?;
                        match extent {
                            Extent::File => reports.0.report(file, cause),
                            Extent::Row => reports.1.report(file, cause),
                        }
                        Some(damage::sentence(file, cause))
                    };
                    let answer = calls::call(&database, &call.operation, &call.body, found);
                    // The caller may have given up; the write is complete all the same.
                    let _ = call.done.send(answer);
                }
                drop((database, forget));
                let _ = end.send(());
            })
            .map_err(TableError::Thread)?;
        let thread = calls;
        // Partitions spread the writes of many machines; here one process writes, and each minute's sweep reads them all.
        let store =
            Store::embedded(Arc::new(Calls { thread, faults }), "posthaste").with_due_shards(1);
        let created = store.create_table().await;
        let disk = match file.filter(|_| created.is_ok()) {
            None => Disk::none(),
            Some(file) => Disk::of(file).map_err(|e| TableError::Log(file.to_owned(), e))?,
        };
        let table = Self {
            store,
            disk,
            damage,
            rows,
            file: name,
            ended,
        };
        match created {
            Ok(()) => Ok(table),
            Err(error) => Err(table.explain(Some(&error)).unwrap_or_else(|| error.into())),
        }
    }

    /// What a failed start is due to, when damage to the file is why.
    pub(crate) fn explain(&self, error: Option<&StoreError>) -> Option<TableError> {
        if let Some(sentence) = self.damage.found().or_else(|| self.rows.found()) {
            return Some(TableError::Damaged(sentence));
        }
        match error {
            Some(StoreError::Unreadable(why)) => {
                Some(TableError::Row(self.file.clone(), why.clone()))
            }
            Some(_) | None => None,
        }
    }

    /// With the clock that rows expire by, beside that of the sweep that deletes them.
    pub(crate) fn with_clock(self, clock: Clock) -> Self {
        let store = self.store.with_clock(clock);
        Self { store, ..self }
    }

    /// Lets running calls finish and closes the file.
    pub(crate) async fn stop(self) {
        drop(self.store);
        // The store may still be in use; the file tolerates staying open.
        let _ = tokio::time::timeout(Duration::from_secs(2), self.ended).await;
    }
}

#[cfg(test)]
mod tests;
