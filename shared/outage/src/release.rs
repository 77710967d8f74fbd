//! Puts mail on the queue again: one job as a probe, then more and more.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use posthaste_model::{Millis, Timestamp};
use posthaste_queue::Queue;
use posthaste_runtime::WorkError;
use posthaste_store::{OutageScope, OutageWait, StoredRow};

use crate::{FOLDER, FoundPack, OutageStore, UNREAD, folder, wait_ends};

/// Blobs that are listed of an outage, which costs a call, and while its mail is released.
const LISTED: usize = 1_000;
const LISTED_TO_SEND: usize = 10_000;

/// Blobs that are read at once.
const AT_ONCE: usize = 16;

/// The shortest and the longest time between two probes, in seconds: as long as the outage had lasted at the
/// first of them, between these.
const PROBES: std::ops::RangeInclusive<i64> = 60..=600;

/// Seconds after which a probe has not come back, and those for the releases after it. The longest wait for
/// a relay that hangs is below the first in all but the rarest cases; then too many jobs are released once.
const PROBED: i64 = 120;
const RELEASED: i64 = 60;

/// Seconds by which a timer of a minute may be early.
const SLACK: i64 = 10;

/// How many times more jobs each release has than the one before.
const GROWTH: u32 = 100;

/// Seconds after the last storing when an outage without mail is forgotten: no process takes as long to
/// store what it noted.
const SETTLED: i64 = 900;

/// Seconds between two searches of a process for mail without a row.
const SEARCHES: i64 = 3_600;

/// What one call released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutageRelease {
    /// Jobs that are on the queue again.
    pub jobs: usize,
    /// Blobs that go on waiting, since the relay still takes no mail.
    pub waiting: usize,
    /// Outages of which some mail could not be released. It stays for the next call.
    pub failed: usize,
}

/// A release that is under way.
struct Releasing<'a> {
    send: &'a Queue,
    until: Millis,
    done: OutageRelease,
}

impl OutageStore {
    /// Puts on the send queue what is due of the mail that waits; takes up nothing new after `until`. That for the
    /// relay comes first; of the accounts another one is first each time, so that where time is short each has
    /// its turn.
    ///
    /// # Errors
    /// When the outages cannot be read. What fails of one of them is logged and counted.
    pub async fn release(&self, send: &Queue, until: Millis) -> Result<OutageRelease, WorkError> {
        let mut all = OutageRelease::default();
        let mut outages = self.store.outages().await?;
        if let Err(error) = self.search(&outages).await {
            tracing::error!(error = %error, "mail that waits without a row cannot be looked for: {error}");
            all.failed += 1;
        }
        outages.sort_by(|(one, _), (other, _)| one.cmp(other));
        let of_relay = outages.partition_point(|(scope, _)| *scope == OutageScope::Relay);
        let (_, of_accounts) = outages.split_at_mut(of_relay);
        let any = self.entropy.below(of_accounts.len().max(1) as u64);
        of_accounts.rotate_left(usize::try_from(any).unwrap_or(0));
        for (scope, row) in outages {
            if self.clock.now_ms() >= until {
                break;
            }
            let mut one = Releasing {
                send,
                until,
                done: OutageRelease::default(),
            };
            if let Err(error) = self.release_of(&scope, &row, &mut one).await {
                let scope = scope.as_str();
                tracing::error!(error = %error, "mail that waits for an outage ({scope}) could not be released: {error}");
                one.done.failed += 1;
            }
            all.jobs += one.done.jobs;
            all.waiting += one.done.waiting;
            all.failed += one.done.failed.min(1);
        }
        Ok(all)
    }

    /// Makes rows for mail in the bucket that has none: the table was restored to a time before it waited. The
    /// next release finds it.
    async fn search(
        &self,
        known: &[(OutageScope, StoredRow<OutageWait>)],
    ) -> Result<(), WorkError> {
        let now = self.clock.now();
        let last = *self.searched_at();
        if last.is_some_and(|at| now.since(at) < SEARCHES) {
            return Ok(());
        }
        let names = self.blob.folders(FOLDER).await?;
        for name in names.into_iter().filter(|name| name != UNREAD) {
            match OutageScope::parse(&name) {
                Ok(scope) if known.iter().any(|(one, _)| *one == scope) => {}
                Ok(scope) => {
                    tracing::warn!(
                        "mail that waits for an outage ({name}) has no row: it gets one"
                    );
                    self.store.note_stored(&scope, now).await?;
                }
                Err(error) => {
                    tracing::error!(error = %error, "mail that waits in {FOLDER}/{name} is of no outage: {error}");
                }
            }
        }
        *self.searched_at() = Some(now);
        Ok(())
    }

    fn searched_at(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.searched_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn release_of(
        &self,
        scope: &OutageScope,
        row: &StoredRow<OutageWait>,
        release: &mut Releasing<'_>,
    ) -> Result<(), WorkError> {
        let (wait, now) = (&row.value, self.clock.now());
        let due = jobs_due(wait, now);
        let most = match due {
            None | Some(1) => LISTED,
            Some(_) => LISTED_TO_SEND,
        };
        let names = self.blob.list(&folder(scope), most).await?;
        if names.is_empty() {
            if now.since(wait.stored_at) > SETTLED {
                self.store.end_outage(row).await?;
            } else if is_over(wait, now) {
                self.store.note_outage_over(row).await?;
            }
            return Ok(());
        }
        let has_ended = |name: &String| wait_ends(name).is_some_and(|at| at <= now);
        let (over, names): (Vec<_>, Vec<_>) = names.into_iter().partition(has_ended);
        self.send_packs(&over, usize::MAX, release).await;
        if goes_on(wait) {
            release.done.waiting = names.len();
        }
        let Some(jobs) = due else {
            return Ok(());
        };
        // A release that sends nothing shows nothing of the relay: it is not noted, lest the next one be larger.
        if names.is_empty() || self.clock.now_ms() >= release.until {
            return Ok(());
        }
        let before = wait.released_at;
        if jobs == 1 {
            if self.probe(scope, &names, release).await? {
                // By the time before it was sent: if it comes back, that is not earlier.
                self.store.note_release(scope, before, 1, now).await?;
            }
        } else {
            let most = usize::try_from(jobs).unwrap_or(usize::MAX);
            if !self.store.note_release(scope, before, jobs, now).await? {
                // Another sweep releases them.
                return Ok(());
            }
            if self.send_packs(&names, most, release).await == 0 {
                let none = wait.released;
                self.store.note_release(scope, Some(now), none, now).await?;
            }
        }
        tracing::info!(
            "{} jobs that waited for an outage ({}) are on the queue again",
            release.done.jobs,
            scope.as_str()
        );
        Ok(())
    }

    /// Sends the jobs of these blobs until they are `most` or a few more. How many they were. A blob that
    /// cannot be read or sent stays, and holds up no other.
    async fn send_packs(
        &self,
        names: &[String],
        most: usize,
        release: &mut Releasing<'_>,
    ) -> usize {
        let (send, until) = (release.send, release.until);
        let (mut sent, mut failed) = (0, Vec::new());
        for several in names.chunks(AT_ONCE) {
            if sent >= most || self.clock.now_ms() >= until {
                break;
            }
            let sending = several.iter().map(|name| self.send_pack(name, send));
            for one in join_all(sending).await {
                match one {
                    Ok(count) => sent += count,
                    Err(error) => failed.push(error),
                }
            }
        }
        if let Some(error) = failed.first() {
            // One line for all: where the queue fails, it does so for each of thousands.
            let count = failed.len();
            tracing::error!(error = %error, "{count} blobs of mail that waits could not be released, the first of them: {error}");
        }
        release.done.failed += failed.len();
        release.done.jobs += sent;
        sent
    }

    async fn send_pack(&self, name: &str, send: &Queue) -> Result<usize, WorkError> {
        let pack = match self.pack(name).await? {
            FoundPack::Jobs(pack) => pack,
            FoundPack::Gone => return Ok(0),
            FoundPack::Unread(why, bytes) => return Err(self.set_aside(name, &why, bytes).await?),
        };
        let count = pack.jobs.len();
        let jobs = pack.jobs.into_iter().map(|job| (job, Duration::ZERO));
        send.send_all(jobs.collect()).await?;
        self.blob.delete(name).await?;
        Ok(count)
    }

    /// Sends one job of any of these blobs: a mail at which the relay breaks off is not always the one that
    /// probes. Whether there was one.
    async fn probe(
        &self,
        scope: &OutageScope,
        names: &[String],
        release: &mut Releasing<'_>,
    ) -> Result<bool, WorkError> {
        let any = self.entropy.below(names.len() as u64);
        let any = usize::try_from(any).unwrap_or(0);
        let several = names.len().min(AT_ONCE);
        for name in names.iter().cycle().skip(any).take(several) {
            let found = match self.pack(name).await {
                Ok(FoundPack::Jobs(pack)) => Ok(pack),
                Ok(FoundPack::Gone) => continue,
                Ok(FoundPack::Unread(why, bytes)) => Err(self
                    .set_aside(name, &why, bytes)
                    .await
                    .unwrap_or_else(|e| e)),
                Err(error) => Err(error),
            };
            let mut pack = match found {
                Ok(pack) => pack,
                Err(error) => {
                    tracing::error!(error = %error, "mail that waits in {name} cannot be read: {error}");
                    release.done.failed += 1;
                    continue;
                }
            };
            let Some(job) = pack.jobs.pop() else {
                self.blob.delete(name).await?;
                continue;
            };
            // First, so that nothing is stored twice each time that the queue fails.
            release.send.send(job, Duration::ZERO).await?;
            release.done.jobs += 1;
            if let Some(ends) = wait_ends(name).filter(|_| !pack.jobs.is_empty()) {
                self.put_pack(scope, ends, pack.jobs).await?;
            }
            self.blob.delete(name).await?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Whether all mail of an outage has left, and what was released last did not come back.
fn is_over(wait: &OutageWait, now: Timestamp) -> bool {
    let is_old = |at: Timestamp| now.since(at) >= PROBED;
    wait.began.is_some() && !goes_on(wait) && wait.released_at.is_some_and(is_old)
}

/// Whether what was released last came back, or nothing was yet.
fn goes_on(wait: &OutageWait) -> bool {
    wait.released_at.is_none_or(|at| wait.stored_at >= at)
}

/// How many jobs are to be released now; `None` where the release before may still come back.
fn jobs_due(wait: &OutageWait, now: Timestamp) -> Option<u32> {
    let Some(at) = wait.released_at else {
        return Some(1);
    };
    let (pause, jobs) = if goes_on(wait) {
        let lasted = at.since(wait.began.unwrap_or(wait.stored_at));
        (lasted.clamp(*PROBES.start(), *PROBES.end()), 1)
    } else if wait.released <= 1 {
        (PROBED, GROWTH)
    } else {
        (RELEASED, wait.released.saturating_mul(GROWTH))
    };
    (now.since(at) + SLACK >= pause).then_some(jobs)
}
