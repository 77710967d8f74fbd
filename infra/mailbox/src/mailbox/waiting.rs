//! Waiting for a mail: woken by each arrival, never by a timer.

use std::time::Duration;

use super::access::SEARCH_STEP;
use super::{ChangeCount, Mailbox};
use crate::Error;
use crate::query::{Term, Test};
use crate::rows::{ListRow, Shown};

/// Waits of one mailbox at a time: each looks at every mail that arrives.
pub(crate) const MOST_WAITS: usize = 256;

/// What a wait ended with.
#[derive(Debug)]
pub(crate) enum WaitResult {
    Found(Box<ListRow>),
    /// No mail matched in this time, or the mailbox closes.
    NoMail,
    /// There are as many waits as there may be.
    Busy,
    /// The mail that only newer ones are asked for is none of the mailbox.
    UnknownId,
}

impl Mailbox {
    /// The newest mail that matches every term and is newer than the mail of the id `after`, if one is named: one that
    /// is here already, or else the first to arrive within `timeout`.
    pub(crate) async fn wait(
        &self,
        terms: Vec<Term>,
        after: Option<String>,
        timeout: Duration,
    ) -> Result<WaitResult, Error> {
        // Before the first look, so that no mail comes between them unnoticed.
        let mut arrivals = self.arrivals.subscribe();
        let floor = match after {
            None => 0,
            Some(id) => match self.ask("head", move |store| store.arrival(&id)).await? {
                Some(position) => position,
                None => return Ok(WaitResult::UnknownId),
            },
        };
        let (found, mut seen) = self.look_back(terms.clone(), floor).await?;
        if let Some(found) = found {
            return Ok(WaitResult::Found(Box::new(found)));
        }
        let Ok(_permit) = self.waits.clone().try_acquire_owned() else {
            return Ok(WaitResult::Busy);
        };
        let arrives = async {
            loop {
                if *arrivals.borrow() == ChangeCount::Closed || arrivals.changed().await.is_err() {
                    return Ok(WaitResult::NoMail);
                }
                let (terms, since) = (terms.clone(), seen);
                let look = move |store: &mut crate::store::Store| {
                    Ok((store.newest_since(&terms, since)?, store.newest()))
                };
                let (found, newest) = self.ask("wait", look).await?;
                if let Some(found) = found {
                    return Ok(WaitResult::Found(Box::new(found)));
                }
                seen = newest.max(seen);
            }
        };
        tokio::time::timeout(timeout, arrives)
            .await
            .unwrap_or(Ok(WaitResult::NoMail))
    }

    /// The newest mail that matches and arrived after this place, and the place of the last mail that was looked at.
    /// As a search, it is made in steps that let others in between.
    async fn look_back(
        &self,
        mut terms: Vec<Term>,
        floor: i64,
    ) -> Result<(Option<ListRow>, i64), Error> {
        let own = self.clone();
        terms.push(Term {
            not: false,
            test: Test::ArrivedAfter(floor),
        });
        let look = move || {
            let newest = own.with(|store| Ok(store.newest()))?;
            let mut before = i64::MAX;
            loop {
                let step =
                    own.with(|store| store.search(&terms, Shown::Recorded, before, SEARCH_STEP))?;
                if let Some((position, _)) = step.found.first() {
                    let slice = own
                        .with(|store| store.found(&[*position], store.totals(), Shown::Recorded))?;
                    // It may have been deleted since; an older one may do.
                    if let Some(row) = slice.rows.into_iter().next() {
                        return Ok((Some(row), newest));
                    }
                    before = *position;
                    continue;
                }
                match step.next {
                    Some(next) => before = next,
                    None => return Ok((None, newest.max(floor))),
                }
            }
        };
        self.offload.run("list", look).await?
    }
}
