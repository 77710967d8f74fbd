//! The local host's interface to the mailbox: deliver from the relay, serve over HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use posthaste_model::{Clock, Timestamp};
use tokio::sync::{Mutex, OwnedSemaphorePermit, watch};

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

/// Bytes that a search compares before it lets others at the store.
const SEARCH_STEP: u64 = 16 << 20;

/// Which mails to change.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    Ids(Vec<String>),
    /// Those that match every term: all of them if there is none.
    Matching(Vec<Term>),
}

/// A mail with its bytes, and its place among the large ones that are in memory.
pub(crate) struct LoadedMail {
    pub mail: StoredMail,
    _slot: Option<OwnedSemaphorePermit>,
}

impl std::ops::Deref for LoadedMail {
    type Target = StoredMail;

    fn deref(&self) -> &StoredMail {
        &self.mail
    }
}

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
    /// First come, first served: a search, which locks it again for every step, lets others in
    /// between.
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
        let Ok(mut store) = self.store.try_lock() else {
            return Ok(None);
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
        let own = self.clone();
        let list = move || {
            if terms.is_empty() {
                return own.with(|store| store.list(start, limit));
            }
            let found = own.search(&terms)?;
            let matching = Totals {
                total: found.len(),
                unread: found.iter().filter(|(_, unread)| *unread).count(),
            };
            let page = found.iter().skip(start).take(limit.unwrap_or(usize::MAX));
            let page: Vec<i64> = page.map(|(seq, _)| *seq).collect();
            own.with(|store| store.found(&page, matching))
        };
        self.offload.run("list", list).await?
    }

    /// The positions of the mails that match, newest first, and whether each is unread. Other
    /// questions come between its steps.
    fn search(&self, terms: &[Term]) -> Result<Vec<(i64, bool)>, Error> {
        let (mut all, mut before) = (Vec::new(), i64::MAX);
        loop {
            let step = self.with(|store| store.search(terms, before, SEARCH_STEP))?;
            all.extend(step.found);
            match step.next {
                Some(next) => before = next,
                None => return Ok(all),
            }
        }
    }

    fn clause(&self, which: &Selection) -> Result<Clause, Error> {
        Ok(match which {
            Selection::Ids(ids) => sql::named(ids),
            Selection::Matching(terms) if terms.is_empty() => sql::matching(terms),
            Selection::Matching(terms) => {
                let found = self.search(terms)?;
                sql::at(&found.iter().map(|(seq, _)| *seq).collect::<Vec<_>>())
            }
        })
    }

    pub(crate) async fn head(&self, id: String) -> Result<Option<ListRow>, Error> {
        self.ask("head", move |store| store.head(&id)).await
    }

    /// A mail of the list with its bytes; `None` when it has been deleted since. A large one waits until fewer
    /// others are in memory.
    pub(crate) async fn load(&self, row: ListRow) -> Result<Option<LoadedMail>, Error> {
        let ListRow { summary, envelope } = row;
        let slot = match summary.size > LARGE {
            true => self.offload.slot().await,
            false => None,
        };
        let id = summary.id.clone();
        let found = self.ask("get", move |store| store.bytes(&id)).await?;
        Ok(found.map(|raw| LoadedMail {
            mail: StoredMail {
                summary,
                envelope,
                raw,
            },
            _slot: slot,
        }))
    }

    pub(crate) async fn mark(&self, which: Selection, read: bool) -> Result<(), Error> {
        self.change("mark", which, move |store, which| store.mark(which, read))
            .await
    }

    pub(crate) async fn mark_read(&self, id: &str) -> Result<(), Error> {
        self.mark(Selection::Ids(vec![id.to_owned()]), true).await
    }

    pub(crate) async fn delete(&self, which: Selection) -> Result<(), Error> {
        self.change("delete", which, Store::delete).await
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
        which: Selection,
        change: impl FnOnce(&mut Store, &Clause) -> Result<bool, Error> + Send + 'static,
    ) -> Result<(), Error> {
        let own = self.clone();
        let change = move || {
            let which = own.clause(&which)?;
            own.with(|store| change(store, &which))
        };
        if self.offload.run(name, change).await?? {
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

    /// Not on a serving thread. A transaction that a panic interrupted was rolled back.
    fn with<T>(&self, question: impl FnOnce(&mut Store) -> Result<T, Error>) -> Result<T, Error> {
        question(&mut self.store.blocking_lock())
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
                let held = mailbox.store.try_lock().unwrap();
                assert!(kept.as_mut().now_or_never().is_none());
                drop(held);
                kept.await.unwrap();
            });
            done.send(()).unwrap();
        });
        let ended = wait.recv_timeout(Duration::from_secs(60));
        ended.unwrap();
    }

    /// So that others are not held up by it, however many mails there are.
    #[tokio::test]
    async fn a_search_is_made_in_steps_that_find_what_one_would() {
        let mailbox = Mailbox::open(None, 1_000, Clock::new(|| Millis(0))).unwrap();
        for n in 0..20 {
            let subject = ["blue", "red"][n % 2];
            let raw = format!("Subject: {subject} {n}\r\n\r\n{}", "x".repeat(1_000));
            let kept = mailbox.deliver(StoredEnvelope::default(), raw.into());
            kept.await.unwrap();
        }
        let terms = crate::query::parse("red").unwrap();
        let store = mailbox.store.lock().await;
        let whole = store.search(&terms, i64::MAX, u64::MAX).unwrap().found;
        let (mut steps, mut found, mut before) = (0, Vec::new(), i64::MAX);
        while let step = store.search(&terms, before, 3_000).unwrap()
            && let Some(next) = step.next
        {
            assert!(next < before);
            (steps, before) = (steps + 1, next);
            found.extend(step.found);
        }
        assert_eq!(found, whole);
        assert_eq!(found.len(), 10);
        assert!((5..20).contains(&steps), "{steps}");
        // A mail larger than a step is one step.
        let one = store.search(&terms, i64::MAX, 1).unwrap();
        assert_eq!(one.found.len(), 1);
    }
}
