//! The steps of an erasure.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_blob::Blob;
use posthaste_kept::{KeptError, KeptMails};
use posthaste_model::{AccountId, Clock, EmailAddress, ErasureId, Timestamp};
use posthaste_runtime::WorkError;
use posthaste_store::{
    CopyState, CopyTrace, Due, DueTarget, Erasure, ErasurePhase, ErasureState, Store, StoredRow,
};

use crate::{OtherStore, undelivered};

/// Seconds after which no job of a mail can remain: scheduled 72 hours ahead, and retried for 72
/// more.
const OVER: i64 = 6 * 86_400;

/// Seconds after which a job goes on whose process died.
const AGAIN: i64 = 60;

/// Seconds between two looks at copies that are in progress.
const LOOKS: i64 = 6 * 3_600;

/// Attempts to take a job up that another process changes.
const ATTEMPTS: usize = 5;

/// Addresses of one step.
const ADDRESSES: usize = 25;

/// Copies in progress of one step.
const ROWS: usize = 100;

/// Addresses or copies erased at a time.
const AT_ONCE: usize = 8;

/// The row by which the sweep continues a job.
pub(crate) fn due_row(erasure: &Erasure) -> Due {
    Due {
        target: DueTarget::Erase,
        account: erasure.account.clone(),
        at: erasure.due_at,
        id: erasure.id.to_string(),
        body: erasure.id.to_string(),
    }
}

/// Continues jobs.
#[derive(Clone, Copy)]
pub struct Eraser<'a> {
    pub store: &'a Store,
    /// Stores the bodies of large mails and undelivered received mails.
    pub blob: &'a Blob,
    pub clock: &'a Clock,
    /// What the host stores beside the table and the bucket.
    pub elsewhere: Option<&'a OtherStore>,
}

fn not_forgotten(error: KeptError) -> WorkError {
    match error {
        KeptError::Store(error) => error.into(),
        KeptError::Blob(error) => error.into(),
        KeptError::Unreadable(error) => error.into(),
    }
}

impl Eraser<'_> {
    /// Takes a job up when its due row is due, and stores the row by which it goes on if this process
    /// dies. `false` when there is nothing to do by this due row: the job has ended, or another row has
    /// taken its place. `None` takes up any job that has not ended.
    pub async fn resume(
        &self,
        account: &AccountId,
        id: &ErasureId,
        due: Option<Timestamp>,
    ) -> Result<bool, WorkError> {
        for _ in 0..ATTEMPTS {
            let Some(row) = self.store.erasure(account, id).await? else {
                return Ok(false);
            };
            let (mut erasure, now) = (row.value, self.clock.now());
            let is_stale = due.is_some_and(|due| due != erasure.due_at);
            if erasure.state == ErasureState::Done || is_stale {
                return Ok(false);
            }
            erasure.state = ErasureState::Running;
            erasure.updated_at = now;
            erasure.due_at = now.plus(AGAIN);
            // First: a job is without a due row at no time.
            self.store.put_due(&[due_row(&erasure)], self.clock).await?;
            if self.store.save_erasure(&erasure, row.rev).await?.is_some() {
                return Ok(true);
            }
        }
        // Another process changed it each time; the due row stays.
        Err(WorkError::Busy)
    }

    /// Continues a job that was taken up by at most `steps` steps, each of which reads at most 1 MB of
    /// the table. `true` when it can go on at once.
    pub async fn advance(
        &self,
        account: &AccountId,
        id: &ErasureId,
        steps: usize,
    ) -> Result<bool, WorkError> {
        let Some(StoredRow {
            value: mut erasure,
            mut rev,
            ..
        }) = self.store.erasure(account, id).await?
        else {
            return Ok(false);
        };
        if erasure.state != ErasureState::Running {
            return Ok(false);
        }
        let addresses = self.store.erasure_addresses(&erasure).await?;
        for _ in 0..steps {
            self.step(&mut erasure, &addresses).await?;
            erasure.updated_at = self.clock.now();
            if erasure.state == ErasureState::Waiting {
                self.store.put_due(&[due_row(&erasure)], self.clock).await?;
            }
            match self.store.save_erasure(&erasure, rev).await? {
                Some(next) if erasure.state == ErasureState::Running => rev = next,
                // It has ended, it waits, or another process continues it.
                Some(_) | None => return Ok(false),
            }
        }
        Ok(true)
    }

    async fn step(
        &self,
        erasure: &mut Erasure,
        addresses: &BTreeSet<String>,
    ) -> Result<(), WorkError> {
        let is_last = matches!(
            erasure.phase,
            ErasurePhase::Addresses { last: true, .. } | ErasurePhase::InProgress { .. }
        );
        // Deleted by the last step, and needed by all before it.
        if !is_last && addresses.len() < erasure.addresses {
            let why = format!("erasure {} has no addresses any more", erasure.id);
            return Err(WorkError::Unreadable(why));
        }
        match erasure.phase.clone() {
            ErasurePhase::Addresses { next, last } => {
                self.addresses(erasure, addresses, next, last).await
            }
            ErasurePhase::Events { after } => {
                let after = undelivered::events(self.store, erasure, addresses, after).await?;
                erasure.phase = match after {
                    Some(_) => ErasurePhase::Events { after },
                    None => ErasurePhase::Received { after },
                };
                Ok(())
            }
            ErasurePhase::Received { after } => {
                let after =
                    undelivered::received(self.store, self.blob, erasure, addresses, after).await?;
                erasure.phase = match after {
                    Some(_) => ErasurePhase::Received { after },
                    None => ErasurePhase::Table { after: None },
                };
                Ok(())
            }
            ErasurePhase::Table { after } => {
                let page = self
                    .store
                    .copies_page(&erasure.account, addresses, after.as_ref());
                let page = page.await?;
                for listing in &page.listings {
                    erasure.erased += self.store.unlist_waiting(listing, addresses).await?;
                }
                let left = self.copies(erasure, page.found).await?;
                self.store.leave_in_progress(erasure, &left).await?;
                erasure.under_way += left.len();
                erasure.phase = match page.next {
                    Some(_) => ErasurePhase::Table { after: page.next },
                    None => ErasurePhase::InProgress { after: None },
                };
                Ok(())
            }
            ErasurePhase::InProgress { after } => self.in_progress(erasure, after).await,
        }
    }

    /// Marks, suppressions and search rows of some addresses.
    async fn addresses(
        &self,
        erasure: &mut Erasure,
        addresses: &BTreeSet<String>,
        next: usize,
        last: bool,
    ) -> Result<(), WorkError> {
        if next == 0 {
            // Whatever they hold: a query may name an address.
            erasure.erased += self.store.forget_downloads(&erasure.account).await?;
            erasure.erased += undelivered::posts(self.store, &erasure.account, addresses).await?;
        }
        let some = addresses.iter().skip(next).take(ADDRESSES);
        let job = &*erasure;
        let erased: Vec<_> = some
            .map(|address| self.address(job, address, last))
            .collect();
        let erased: Vec<usize> = futures_util::stream::iter(erased)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await?;
        erasure.erased += erased.iter().sum::<usize>();
        let next = next + ADDRESSES;
        if next < addresses.len() {
            erasure.phase = ErasurePhase::Addresses { next, last };
        } else if last {
            self.store.forget_erasure_addresses(erasure).await?;
            erasure.state = ErasureState::Done;
            erasure.finished_at = Some(self.clock.now());
        } else {
            erasure.phase = ErasurePhase::Events { after: None };
        }
        Ok(())
    }

    /// What is found by the address alone; returns how many rows were erased.
    async fn address(
        &self,
        erasure: &Erasure,
        address: &str,
        last: bool,
    ) -> Result<usize, WorkError> {
        let account = &erasure.account;
        let mut erased = 0;
        if !last {
            // First, so that dead letters stored from now on respect the mark.
            self.store
                .mark_erased(account, address, erasure.created_at)
                .await?;
            // Once: an entry of later is the person's or a receiver's new word.
            if erasure.suppressions {
                erased += self.store.unsuppress_everywhere(account, address).await?;
            }
        }
        if let (Some(other), Ok(email)) = (self.elsewhere, EmailAddress::parse_stored(address)) {
            let done = other.erase(account, email).await;
            erased += done.map_err(WorkError::Elsewhere)?;
        }
        // Found at once by the search, where it was on; the rest by looking at everything.
        let known = self.store.unindex(account, address).await?;
        erased += known.len();
        for (message, recipient) in known {
            let trace = self.store.trace(account, &message, recipient).await?;
            if let Some(trace) = trace {
                erased += self.copy(account, &trace).await?.unwrap_or(0);
            }
        }
        Ok(erased)
    }

    /// Erases copies; returns those that are in progress.
    async fn copies(
        &self,
        erasure: &mut Erasure,
        found: Vec<CopyTrace>,
    ) -> Result<Vec<CopyTrace>, WorkError> {
        let account = &erasure.account;
        let work = found.into_iter().map(|trace| async move {
            let erased = self.copy(account, &trace).await?;
            Ok::<_, WorkError>((trace, erased))
        });
        let work: Vec<_> = work.collect();
        let done: Vec<_> = futures_util::stream::iter(work)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await?;
        let mut left = Vec::new();
        for (trace, erased) in done {
            match erased {
                Some(erased) => erasure.erased += erased,
                None => left.push(trace),
            }
        }
        Ok(left)
    }

    /// Looks again at copies that were in progress; the erasure waits for those that still are.
    async fn in_progress(
        &self,
        erasure: &mut Erasure,
        after: Option<String>,
    ) -> Result<(), WorkError> {
        if after.is_none() {
            erasure.under_way = 0;
        }
        let rows = self.store.left_in_progress(erasure, after, ROWS).await?;
        let last = rows.last().map(|row| row.key.sk.clone());
        let mut ended = Vec::new();
        for row in &rows {
            let CopyTrace {
                message, recipient, ..
            } = &row.value;
            let trace = self
                .store
                .trace(&erasure.account, message, *recipient)
                .await?;
            let erased = match &trace {
                Some(trace) => self.copy(&erasure.account, trace).await?,
                None => Some(0),
            };
            match erased {
                Some(erased) => {
                    erasure.erased += erased;
                    ended.push(row.key.clone());
                }
                None => erasure.under_way += 1,
            }
        }
        self.store.delete_many(&ended).await?;
        if rows.len() == ROWS {
            erasure.phase = ErasurePhase::InProgress { after: last };
        } else if erasure.under_way > 0 {
            erasure.phase = ErasurePhase::InProgress { after: None };
            erasure.state = ErasureState::Waiting;
            erasure.due_at = self.clock.now().plus(LOOKS);
        } else {
            let next = 0;
            erasure.phase = ErasurePhase::Addresses { next, last: true };
        }
        Ok(())
    }

    /// Erases a copy and returns the number of rows; `None` when it is in progress.
    async fn copy(
        &self,
        account: &AccountId,
        trace: &CopyTrace,
    ) -> Result<Option<usize>, WorkError> {
        let over = self.clock.now().since(trace.accepted_at) >= OVER;
        if !over && matches!(trace.state, CopyState::Claimed | CopyState::Deferred) {
            return Ok(None);
        }
        let body = format!("mail/{account}/{}", trace.message);
        if over {
            self.blob.delete(&body).await?;
        } else if self.blob.has(&body).await? {
            // Jobs of its other recipients may still need it.
            return Ok(None);
        }
        let (message, recipient) = (&trace.message, trace.recipient);
        let mut erased = 0;
        if let Some(term) = trace.kept {
            let kept = KeptMails::new(self.store.clone(), self.blob.clone());
            let forgotten = kept.forget_shared((account, message, recipient), term);
            erased += forgotten.await.map_err(not_forgotten)?;
        }
        // Last: it is how a repeat finds the mail.
        erased += self.store.forget_copy(account, message, recipient).await?;
        Ok(Some(erased))
    }
}
