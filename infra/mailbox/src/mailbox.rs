//! The local host's interface to the mailbox: deliver from the relay, and what the page and the REST
//! calls read and change. Work whose time grows with its input runs outside the serving threads.

mod accepted;
mod access;
mod news;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use posthaste_model::{Clock, Timestamp};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, broadcast, watch};

pub use accepted::{AcceptedCopy, AcceptedMail};
pub(crate) use access::{LoadedMail, Selection};
pub(crate) use news::MailboxNews;
pub(crate) use waiting::{MOST_WAITS, WaitResult};

use crate::digest::{NewRow, digest};
use crate::store::{LARGEST_STORE, MailboxLimits, Store};
use crate::{Error, StoredEnvelope};

/// Mails larger than this are parsed and written on a thread of their own.
const LARGE: usize = 32 * 1024;

/// The store of received mails. Clones share it.
#[derive(Clone)]
pub struct Mailbox {
    /// First come, first served: a search, which locks it again for every step, lets others in
    /// between.
    store: Arc<Mutex<Store>>,
    clock: Clock,
    opened: Timestamp,
    file: Option<PathBuf>,
    hosts: Arc<[String]>,
    base: Arc<str>,
    state: watch::Sender<ChangeCount>,
    /// The same for mails that arrive, and for nothing else.
    arrivals: watch::Sender<ChangeCount>,
    /// What changes, each change once.
    news: broadcast::Sender<MailboxNews>,
    /// One for each wait.
    waits: Arc<Semaphore>,
    /// Mails and recipients that the relay refused.
    refusals: Arc<AtomicU64>,
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
            base: Arc::from(""),
            state: watch::Sender::new(ChangeCount::Changed(0)),
            arrivals: watch::Sender::new(ChangeCount::Changed(0)),
            news: news::channel(),
            waits: Arc::new(Semaphore::new(MOST_WAITS)),
            refusals: Arc::default(),
            offload: Offload::new(None),
        })
    }

    /// Calls the observer before each piece of work that runs outside the serving threads, on the
    /// thread that runs it: for tests and measurements.
    #[must_use]
    pub fn observed_by(self, observer: Observer) -> Self {
        Self {
            offload: Offload::new(Some(observer)),
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

    /// Answers under this path, which begins with a slash and does not end with one, as well as at the
    /// root: a proxy in front may remove the path or not. Links have it.
    #[must_use]
    pub fn under_path(self, path: &str) -> Self {
        Self {
            base: Arc::from(path),
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
        self.deliver_from(envelope, raw, String::new()).await
    }

    /// The same of a mail that came with the user name of a login.
    pub(crate) async fn deliver_from(
        &self,
        envelope: StoredEnvelope,
        raw: Bytes,
        username: String,
    ) -> Result<String, Error> {
        let received = self.clock.now_ms();
        let read = move |envelope: &StoredEnvelope, raw: &[u8]| {
            let mut row = NewRow::recorded(digest(envelope, raw), envelope, received, raw)?;
            row.summary.username = username;
            Ok::<_, Error>(row)
        };
        let id = if raw.len() > LARGE {
            let own = self.clone();
            let record = move || {
                let entry = read(&envelope, &raw)?;
                own.with(|store| store.insert(&entry, &raw))
            };
            self.offload.run("record", record).await??
        } else {
            let entry = read(&envelope, &raw)?;
            self.record_small(entry, raw).await?
        };
        self.announce_arrival(&id).await;
        self.changed();
        count_up(&self.arrivals);
        Ok(id)
    }

    async fn record_small(&self, entry: NewRow, raw: Bytes) -> Result<String, Error> {
        if let Some(id) = self.try_record_at_once(&entry, &raw)? {
            return Ok(id);
        }
        self.ask("record", move |store| store.insert(&entry, &raw))
            .await
    }

    /// Writes on this thread when that is quick: the store is free, and nothing need be dropped.
    fn try_record_at_once(&self, entry: &NewRow, raw: &[u8]) -> Result<Option<String>, Error> {
        let Ok(mut store) = self.store.try_lock() else {
            return Ok(None);
        };
        if store.has_room(entry, raw)? {
            store.insert(entry, raw).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Counts a mail or a recipient that the relay refused.
    pub fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    /// Tells open pages that what a source knows has changed.
    pub(crate) fn touch(&self) {
        self.changed();
    }

    /// Ends the streams of open pages and all waits, so that a server that waits for its connections can stop.
    pub fn close(&self) {
        self.arrivals.send_replace(ChangeCount::Closed);
        self.state.send_replace(ChangeCount::Closed);
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
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

    /// The time on the mailbox's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Seconds since the mailbox was opened.
    pub(crate) fn uptime(&self) -> i64 {
        self.clock.now().since(self.opened)
    }

    fn changed(&self) {
        count_up(&self.state);
    }
}

fn count_up(changes: &watch::Sender<ChangeCount>) {
    changes.send_if_modified(|state| match state {
        ChangeCount::Changed(count) => {
            *count += 1;
            true
        }
        ChangeCount::Closed => false,
    });
}

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
