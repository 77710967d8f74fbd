//! The mailbox as the local host holds it: deliver from the relay, serve over HTTP.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use posthaste_model::{Clock, Timestamp};
use tokio::sync::watch;

use crate::parse;
use crate::query::Term;
use crate::rows::{Row, Slice, Totals};
use crate::sql::{self, Clause};
use crate::store::{Kept, Store};
use crate::{Envelope, Error, Sources, routes};

/// Mails kept unless told otherwise.
pub const DEFAULT_LIMIT: usize = 10_000;

/// Mails larger than this are parsed and written on a thread of their own.
const LARGE: usize = 64 * 1024;

/// What the recording relay received. Clones share one store.
#[derive(Clone)]
pub struct Mailbox {
    store: Arc<Mutex<Store>>,
    clock: Clock,
    opened: Timestamp,
    file: Option<PathBuf>,
    hosts: Arc<[String]>,
    state: watch::Sender<State>,
}

/// What the open pages are told: counts up with every change until the mailbox closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Changed(u64),
    Closed,
}

impl Mailbox {
    /// Opens the mailbox kept in `dir`, or an empty one in memory. Of more than `limit` mails, or
    /// more than 2 GiB of them, the oldest are dropped.
    ///
    /// # Errors
    /// When the folder cannot be written, the file was written by another version, or another
    /// process has it open.
    pub fn open(dir: Option<PathBuf>, limit: usize, clock: Clock) -> Result<Self, Error> {
        let file = dir.map(|dir| dir.join("mailbox.sqlite"));
        Ok(Self {
            store: Arc::new(Mutex::new(Store::open(file.as_deref(), limit)?)),
            opened: clock.now(),
            clock,
            file,
            hosts: Arc::new([]),
            state: watch::Sender::new(State::Changed(0)),
        })
    }

    /// Also answers requests that come under these host names, without a port.
    ///
    /// Addresses, `localhost` and names without a dot are always answered; any other name may be
    /// a stranger's that he pointed at this machine (DNS rebinding).
    #[must_use]
    pub fn answering_to(self, hosts: impl IntoIterator<Item = String>) -> Self {
        let hosts = hosts.into_iter().map(|host| host.to_ascii_lowercase());
        Self {
            hosts: hosts.collect(),
            ..self
        }
    }

    /// Keeps a mail. When this returns, killing the process does not lose it.
    ///
    /// No mail is refused for what it holds.
    ///
    /// # Errors
    /// When the store cannot be written (a full disk).
    pub async fn deliver(&self, envelope: Envelope, raw: Bytes) -> Result<String, Error> {
        let large = raw.len() > LARGE;
        let own = self.clone();
        let keep = move || {
            let digest = parse::digest(&envelope, &raw);
            own.with(|store| store.insert(digest, &envelope, own.clock.now_ms(), &raw))
        };
        let id = if large {
            blocking(keep).await?
        } else {
            keep()?
        };
        self.changed();
        Ok(id)
    }

    /// The page and the REST calls. Serve it with the peer's Host header untouched.
    pub fn router(self, sources: Sources) -> axum::Router {
        routes::router(self, sources)
    }

    /// Ends the streams of open pages, so that a server that waits for its connections can stop.
    pub fn close(&self) {
        self.state.send_replace(State::Closed);
    }

    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Seconds since the mailbox was opened.
    pub(crate) fn uptime(&self) -> i64 {
        self.clock.now().since(self.opened)
    }

    pub(crate) async fn list(
        &self,
        terms: Vec<Term>,
        start: usize,
        limit: Option<usize>,
    ) -> Result<Slice, Error> {
        self.ask(move |store| store.list(&terms, start, limit))
            .await
    }

    pub(crate) async fn head(&self, id: String) -> Result<Option<Row>, Error> {
        self.ask(move |store| store.head(&id)).await
    }

    pub(crate) async fn get(&self, id: String) -> Result<Option<Kept>, Error> {
        self.ask(move |store| store.get(&id)).await
    }

    pub(crate) async fn mark(&self, which: Clause, read: bool) -> Result<(), Error> {
        self.change(move |store| store.mark(&which, read)).await
    }

    pub(crate) async fn mark_read(&self, id: &str) -> Result<(), Error> {
        self.mark(sql::named(&[id.to_owned()]), true).await
    }

    pub(crate) async fn delete(&self, which: Clause) -> Result<(), Error> {
        self.change(move |store| store.delete(&which)).await
    }

    pub(crate) async fn counts(&self) -> Result<Counts, Error> {
        self.ask(|store| {
            Ok(Counts {
                totals: store.totals(),
                footprint: store.footprint()?,
                taken: store.taken,
                taken_bytes: store.taken_bytes,
                gone: store.gone,
            })
        })
        .await
    }

    async fn change(
        &self,
        change: impl FnOnce(&mut Store) -> Result<bool, Error> + Send + 'static,
    ) -> Result<(), Error> {
        if self.ask(change).await? {
            self.changed();
        }
        Ok(())
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let own = self.clone();
        blocking(move || own.with(question)).await
    }

    /// A transaction that a panic interrupted was rolled back, so a poisoned lock is a good one.
    fn with<T>(&self, question: impl FnOnce(&mut Store) -> Result<T, Error>) -> Result<T, Error> {
        question(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn changed(&self) {
        self.state.send_if_modified(|state| match state {
            State::Changed(count) => {
                *count += 1;
                true
            }
            State::Closed => false,
        });
    }
}

/// Numbers for `GET /api/v1/info`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub totals: Totals,
    pub footprint: i64,
    pub taken: usize,
    pub taken_bytes: u64,
    pub gone: usize,
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(cause) => Err(Error::Store(cause.to_string())),
    }
}
