//! What the page and the REST calls read and change.

use tokio::sync::OwnedSemaphorePermit;

use super::{LARGE, Mailbox, MailboxNews};
use crate::Error;
use crate::database::{self, Clause};
use crate::query::Term;
use crate::rows::{ListRow, ListSlice, Shown, Totals};
use crate::store::{RequestSlice, Store, StoredMail};

/// Bytes that a search compares before it lets others at the store.
pub(super) const SEARCH_STEP: u64 = 16 << 20;

/// Which mails to change.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    Ids(Vec<String>),
    /// Those that match every term: all of them if there is none.
    Matching(Vec<Term>),
}

/// Mails whose change is announced one by one.
const MOST_NAMED: usize = 100;

impl Selection {
    /// A change of each mail, or `otherwise` where they are not few that are named.
    fn news(
        &self,
        change: impl Fn(String) -> MailboxNews,
        otherwise: MailboxNews,
    ) -> Vec<MailboxNews> {
        match self {
            Self::Ids(ids) if ids.len() <= MOST_NAMED => ids.iter().cloned().map(change).collect(),
            Self::Ids(_) | Self::Matching(_) => vec![otherwise],
        }
    }

    /// The deletion of all of them.
    fn deletion(&self) -> Vec<MailboxNews> {
        let is_all = matches!(self, Self::Matching(terms) if terms.is_empty());
        let otherwise = if is_all {
            MailboxNews::Emptied
        } else {
            MailboxNews::Pruned
        };
        self.news(MailboxNews::Deleted, otherwise)
    }
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

/// Numbers for `GET /api/v1/info`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub totals: Totals,
    pub footprint: i64,
    pub taken: usize,
    pub taken_bytes: u64,
    pub gone: usize,
}

impl Mailbox {
    /// Recorded mails: what Mailpit's calls list.
    pub(crate) async fn list(
        &self,
        terms: Vec<Term>,
        start: usize,
        limit: Option<usize>,
    ) -> Result<ListSlice, Error> {
        self.list_shown(terms, Shown::Recorded, start, limit).await
    }

    /// Rows of the list, newest first.
    pub(crate) async fn list_shown(
        &self,
        terms: Vec<Term>,
        shown: Shown,
        start: usize,
        limit: Option<usize>,
    ) -> Result<ListSlice, Error> {
        let own = self.clone();
        let list = move || {
            if terms.is_empty() {
                return own.with(|store| store.list(start, limit, shown));
            }
            let found = own.search(&terms, shown)?;
            let matching = Totals {
                total: found.len(),
                unread: found.iter().filter(|(_, unread)| *unread).count(),
            };
            let page = found.iter().skip(start).take(limit.unwrap_or(usize::MAX));
            let page: Vec<i64> = page.map(|(seq, _)| *seq).collect();
            own.with(|store| store.found(&page, matching, shown))
        };
        self.offload.run("list", list).await?
    }

    /// Requests, the latest first: those with a copy that matches.
    pub(crate) async fn requests(
        &self,
        terms: Vec<Term>,
        start: usize,
        limit: usize,
    ) -> Result<RequestSlice, Error> {
        let own = self.clone();
        let list = move || {
            if terms.is_empty() {
                return own.with(|store| store.requests(None, start, limit));
            }
            let found = own.search(&terms, Shown::All)?;
            let found: Vec<i64> = found.iter().map(|(seq, _)| *seq).collect();
            own.with(|store| store.requests(Some(&found), start, limit))
        };
        self.offload.run("list", list).await?
    }

    /// The positions of the rows that match, newest first, and whether each is unread. Other
    /// questions come between its steps.
    fn search(&self, terms: &[Term], shown: Shown) -> Result<Vec<(i64, bool)>, Error> {
        let (mut all, mut before) = (Vec::new(), i64::MAX);
        loop {
            let step = self.with(|store| store.search(terms, shown, before, SEARCH_STEP))?;
            all.extend(step.found);
            match step.next {
                Some(next) => before = next,
                None => return Ok(all),
            }
        }
    }

    /// The tags of all mails, in the order of the alphabet, each with how many have it.
    pub(crate) async fn tags(&self) -> Result<Vec<(String, usize)>, Error> {
        self.ask("tags", |store| store.tags()).await
    }

    /// An id that no mail has.
    pub(crate) async fn fresh_id(&self) -> Result<String, Error> {
        self.ask("id", |store| store.fresh_id()).await
    }

    /// Which rows a change is about. Also copies without a mail: what is deleted is gone from the
    /// page.
    fn clause(&self, which: &Selection) -> Result<Clause, Error> {
        Ok(match which {
            Selection::Ids(ids) => database::named(ids),
            Selection::Matching(terms) if terms.is_empty() => database::matching(terms),
            Selection::Matching(terms) => {
                let found = self.search(terms, Shown::All)?;
                database::at(&found.iter().map(|(seq, _)| *seq).collect::<Vec<_>>())
            }
        })
    }

    pub(crate) async fn head(&self, id: String) -> Result<Option<ListRow>, Error> {
        self.ask("head", move |store| store.head(&id)).await
    }

    /// A mail of the list with its bytes; `None` when it has been deleted since. A copy without a mail has
    /// none. A large one waits until fewer others are in memory.
    pub(crate) async fn load(&self, row: ListRow) -> Result<Option<LoadedMail>, Error> {
        let ListRow {
            summary,
            envelope,
            is_recorded,
            ..
        } = row;
        let slot = if summary.size > LARGE {
            self.offload.slot().await
        } else {
            None
        };
        let id = summary.id.clone();
        let found = if is_recorded {
            self.ask("get", move |store| store.bytes(&id)).await?
        } else {
            Some(Vec::new())
        };
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
        let news = which.news(|id| MailboxNews::Read(id, read), MailboxNews::Pruned);
        self.change("mark", which, news, move |store, which| {
            store.mark(which, read)
        })
        .await
    }

    pub(crate) async fn mark_read(&self, id: &str) -> Result<(), Error> {
        self.mark(Selection::Ids(vec![id.to_owned()]), true).await
    }

    pub(crate) async fn delete(&self, which: Selection) -> Result<(), Error> {
        let news = which.deletion();
        self.change("delete", which, news, Store::delete).await
    }

    /// Deletes mails so that they can be had back until the next deletion; returns how many.
    pub(crate) async fn discard(&self, which: Selection) -> Result<usize, Error> {
        let (own, now) = (self.clone(), self.clock.now_ms());
        let news = which.deletion();
        let discard = move || {
            let which = own.clause(&which)?;
            own.with(|store| store.discard(&which, now))
        };
        let deleted = self.offload.run("delete", discard).await??;
        if deleted > 0 {
            news.into_iter().for_each(|one| self.announce(one));
            self.changed();
        }
        Ok(deleted)
    }

    /// Brings back what was deleted last.
    pub(crate) async fn restore(&self) -> Result<(), Error> {
        if self.ask("restore", Store::restore).await? > 0 {
            self.announce(MailboxNews::Pruned);
            self.changed();
        }
        Ok(())
    }

    /// How many mails of the last deletion can be had back.
    pub(crate) async fn trash(&self) -> Result<usize, Error> {
        self.ask("trash", |store| Ok(store.trash())).await
    }

    /// How many rows precede this one in the list of all.
    pub(crate) async fn place(&self, id: String) -> Result<Option<usize>, Error> {
        self.ask("place", move |store| store.place(&id, Shown::All))
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
        which: Selection,
        news: Vec<MailboxNews>,
        change: impl FnOnce(&mut Store, &Clause) -> Result<bool, Error> + Send + 'static,
    ) -> Result<(), Error> {
        let own = self.clone();
        let change = move || {
            let which = own.clause(&which)?;
            own.with(|store| change(store, &which))
        };
        if self.offload.run(name, change).await?? {
            news.into_iter().for_each(|one| self.announce(one));
            self.changed();
        }
        Ok(())
    }

    pub(crate) async fn ask<T: Send + 'static>(
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
    pub(super) fn with<T>(
        &self,
        question: impl FnOnce(&mut Store) -> Result<T, Error>,
    ) -> Result<T, Error> {
        question(&mut self.store.blocking_lock())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use bytes::Bytes;
    use futures_util::FutureExt as _;
    use posthaste_model::{Clock, Millis};

    use super::*;
    use crate::StoredEnvelope;

    /// A search or a large write holds the store; the serving thread must not wait for it.
    #[test]
    fn a_small_mail_waits_for_the_store_apart() {
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.unwrap().block_on(async {
                let mailbox = Mailbox::open(None, 10, Clock::new(|| Millis(0))).unwrap();
                let raw = Bytes::from_static(b"Subject: x\r\n\r\n");
                let delivery = mailbox.deliver(StoredEnvelope::default(), raw);
                let mut delivery = std::pin::pin!(delivery);
                let held = mailbox.store.try_lock().unwrap();
                assert!(delivery.as_mut().now_or_never().is_none());
                drop(held);
                delivery.await.unwrap();
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
            let delivery = mailbox.deliver(StoredEnvelope::default(), raw.into());
            delivery.await.unwrap();
        }
        let terms = crate::query::parse("red").unwrap();
        let store = mailbox.store.lock().await;
        let whole = store
            .search(&terms, Shown::All, i64::MAX, u64::MAX)
            .unwrap()
            .found;
        let (mut steps, mut found, mut before) = (0, Vec::new(), i64::MAX);
        while let step = store.search(&terms, Shown::All, before, 3_000).unwrap()
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
        let one = store.search(&terms, Shown::All, i64::MAX, 1).unwrap();
        assert_eq!(one.found.len(), 1);
    }
}
