//! The local host's interface to the mailbox: deliver from the relay, serve over HTTP.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use bytes::Bytes;
use posthaste_model::{Clock, Timestamp};
use tokio::sync::watch;

use crate::entry::NewRow;
use crate::offload::{Observer, Offload};
use crate::parse;
use crate::query::Term;
use crate::rows::{ListRow, ListSlice, Totals};
use crate::sql::{self, Clause};
use crate::store::{Store, StoredMail};
use crate::{Error, Sources, StoredEnvelope, routes};

/// The default number of mails stored.
pub const DEFAULT_LIMIT: usize = 10_000;

/// The default size of the mailbox in bytes: ten thousand mails of ten megabytes must not fill a
/// disk.
pub const LARGEST_STORE: u64 = 2 << 30;

/// Mails larger than this are parsed and written on a thread of their own.
const LARGE: usize = 32 * 1024;

/// The limits beyond which the oldest mails are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxLimits {
    /// Mails stored; at least one.
    pub mails: usize,
    /// Bytes of the database: sources, rows and overhead. A database that exceeds its log is larger
    /// by at most the last mail for a moment.
    pub bytes: u64,
}

/// The store of received mails. Clones share it.
#[derive(Clone)]
pub struct Mailbox {
    store: Arc<Mutex<Store>>,
    clock: Clock,
    opened: Timestamp,
    file: Option<PathBuf>,
    hosts: Arc<[String]>,
    state: watch::Sender<ChangeCount>,
    offload: Offload,
}

/// The signal to open pages: counts up with every change until the mailbox closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeCount {
    Changed(u64),
    Closed,
}

impl Mailbox {
    /// Opens the mailbox stored in `dir`, or an empty one in memory. Beyond `limit` mails, or more
    /// than 2 GiB of them, the oldest are dropped.
    ///
    /// # Errors
    /// When the folder cannot be written, the file was written by another version, or another
    /// process has it open.
    pub fn open(dir: Option<PathBuf>, limit: usize, clock: Clock) -> Result<Self, Error> {
        let limits = MailboxLimits {
            mails: limit,
            bytes: LARGEST_STORE,
        };
        Self::open_with(dir, limits, clock)
    }

    /// As [`Mailbox::open`], with another limit of bytes.
    ///
    /// # Errors
    /// As [`Mailbox::open`].
    pub fn open_with(
        dir: Option<PathBuf>,
        limits: MailboxLimits,
        clock: Clock,
    ) -> Result<Self, Error> {
        let file = dir.map(|dir| dir.join("mailbox.sqlite"));
        Ok(Self {
            store: Arc::new(Mutex::new(Store::open(file.as_deref(), limits)?)),
            opened: clock.now(),
            clock,
            file,
            hosts: Arc::new([]),
            state: watch::Sender::new(ChangeCount::Changed(0)),
            offload: Offload::default(),
        })
    }

    /// Calls the observer before each piece of work that runs outside the serving threads, on the
    /// thread that runs it: for tests and measurements.
    #[must_use]
    pub fn observed_by(self, observer: Observer) -> Self {
        Self {
            offload: Offload::observed_by(observer),
            ..self
        }
    }

    /// Also answers requests that come under these host names, without a port.
    ///
    /// Addresses, `localhost` and names without a dot are always answered; any other name may
    /// belong to an attacker who points it at this machine (DNS rebinding).
    #[must_use]
    pub fn answering_to(self, hosts: impl IntoIterator<Item = String>) -> Self {
        let hosts = hosts.into_iter().map(|host| host.to_ascii_lowercase());
        Self {
            hosts: hosts.collect(),
            ..self
        }
    }

    /// Stores a mail. Once this returns, killing the process does not lose it.
    ///
    /// No mail is refused for its content.
    ///
    /// # Errors
    /// When the store cannot be written (a full disk), or is smaller than the mail.
    pub async fn deliver(&self, envelope: StoredEnvelope, raw: Bytes) -> Result<String, Error> {
        let received = self.clock.now_ms();
        let read = move |envelope: &StoredEnvelope, raw: &[u8]| {
            NewRow::new(parse::digest(envelope, raw), envelope, received, raw)
        };
        let id = if raw.len() > LARGE {
            let own = self.clone();
            let keep = move || {
                let entry = read(&envelope, &raw)?;
                own.with(|store| store.insert(&entry, &raw))
            };
            self.offload.run("record", keep).await??
        } else {
            let entry = read(&envelope, &raw)?;
            self.keep_small(entry, raw).await?
        };
        self.changed();
        Ok(id)
    }

    async fn keep_small(&self, entry: NewRow, raw: Bytes) -> Result<String, Error> {
        if let Some(id) = self.keep_at_once(&entry, &raw)? {
            return Ok(id);
        }
        self.ask("record", move |store| store.insert(&entry, &raw))
            .await
    }

    /// Writes on this thread when that is quick: the store is free, and nothing need be dropped.
    fn keep_at_once(&self, entry: &NewRow, raw: &[u8]) -> Result<Option<String>, Error> {
        let mut store = match self.store.try_lock() {
            Ok(store) => store,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        if store.has_room(entry, raw)? {
            store.insert(entry, raw).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The page and the REST calls. Serve it with the peer's Host header untouched.
    pub fn router(self, sources: Sources) -> axum::Router {
        routes::router(self, sources)
    }

    /// Ends the streams of open pages, so that a server that waits for its connections can stop.
    pub fn close(&self) {
        self.state.send_replace(ChangeCount::Closed);
    }

    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(crate) fn watch(&self) -> watch::Receiver<ChangeCount> {
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
    ) -> Result<ListSlice, Error> {
        self.ask("list", move |store| store.list(&terms, start, limit))
            .await
    }

    pub(crate) async fn head(&self, id: String) -> Result<Option<ListRow>, Error> {
        self.ask("head", move |store| store.head(&id)).await
    }

    pub(crate) async fn get(&self, id: String) -> Result<Option<StoredMail>, Error> {
        self.ask("get", move |store| store.get(&id)).await
    }

    pub(crate) async fn mark(&self, which: Clause, read: bool) -> Result<(), Error> {
        self.change("mark", move |store| store.mark(&which, read))
            .await
    }

    pub(crate) async fn mark_read(&self, id: &str) -> Result<(), Error> {
        self.mark(sql::named(&[id.to_owned()]), true).await
    }

    pub(crate) async fn delete(&self, which: Clause) -> Result<(), Error> {
        self.change("delete", move |store| store.delete(&which))
            .await
    }

    pub(crate) async fn counts(&self) -> Result<Counts, Error> {
        self.ask("count", |store| {
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
        name: &'static str,
        change: impl FnOnce(&mut Store) -> Result<bool, Error> + Send + 'static,
    ) -> Result<(), Error> {
        if self.ask(name, change).await? {
            self.changed();
        }
        Ok(())
    }

    async fn ask<T: Send + 'static>(
        &self,
        name: &'static str,
        question: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let own = self.clone();
        self.offload.run(name, move || own.with(question)).await?
    }

    /// Runs work whose time grows with the size of a mail.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.offload.run(name, work).await
    }

    /// A transaction that a panic interrupted was rolled back, so a poisoned lock is safe to use.
    fn with<T>(&self, question: impl FnOnce(&mut Store) -> Result<T, Error>) -> Result<T, Error> {
        question(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn changed(&self) {
        self.state.send_if_modified(|state| match state {
            ChangeCount::Changed(count) => {
                *count += 1;
                true
            }
            ChangeCount::Closed => false,
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use posthaste_model::Millis;

    use super::*;

    /// A search or a large write holds the store; the serving thread must not wait for it.
    #[test]
    fn a_small_mail_waits_for_the_store_apart() {
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.unwrap().block_on(async {
                let mailbox = Mailbox::open(None, 10, Clock::new(|| Millis(0))).unwrap();
                let raw = Bytes::from_static(b"Subject: x\r\n\r\n");
                let kept = mailbox.deliver(StoredEnvelope::default(), raw);
                let mut kept = std::pin::pin!(kept);
                let held = mailbox.store.lock().unwrap();
                assert!(kept.as_mut().now_or_never().is_none());
                drop(held);
                kept.await.unwrap();
            });
            done.send(()).unwrap();
        });
        let ended = wait.recv_timeout(Duration::from_secs(60));
        ended.unwrap();
    }
}
