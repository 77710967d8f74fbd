//! Schedules the turns of the partitions.

use std::collections::VecDeque;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use posthaste_metrics::Metric;
use posthaste_model::{Millis, Timestamp};
use posthaste_runtime::Error;
use posthaste_store::{DueCursor, Minute, StoreError};
use serde::Serialize;
use serde_json::Value;

use crate::turn::{SweepTask, TurnResult, Work, take};
use crate::{AHEAD, App, Share};

/// The result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Due rows sent to their queues.
    pub sent: usize,
    /// Messages released because the pause on their batch was removed.
    pub released: usize,
    /// Messages that outlived their shelf life.
    pub expired: usize,
    /// Rows that this release cannot read; they stay.
    pub unreadable: usize,
    /// Turns and alerts that failed; their rows stay for the next sweep.
    pub failed: usize,
    /// Minutes found empty and removed.
    pub closed: usize,
    /// Jobs on the queue again that waited for the relay.
    pub resent: usize,
    /// Whether time ran out before everything was moved.
    pub unfinished: bool,
}

/// Handles one call of the rule.
///
/// # Errors
/// If a row could not be moved. All others were moved, and Lambda's own retry, or the next call,
/// moves the rest.
pub async fn handle(app: &App, event: Value) -> Result<Swept, Error> {
    let swept = sweep(app, Share::from_event(&event)?).await?;
    match swept.failed {
        0 => Ok(swept),
        failed => Err(format!("{failed} reads of due rows failed").into()),
    }
}

/// Moves the rows due within [`AHEAD`] seconds, and all older ones.
///
/// Partitions take turns, oldest minute first. An account that fills a page alone goes to the end
/// of the line with the rest of its rows, so that the others wait for one page of it, not for all.
///
/// # Errors
/// When the list of minutes cannot be read. Everything later is counted as failed.
pub async fn sweep(app: &App, share: Share) -> Result<Swept, StoreError> {
    let begin = app.clock.now_ms();
    let minutes = app.store.due_minutes(begin.seconds().plus(AHEAD)).await?;
    let budget = i64::try_from(app.budget.as_millis()).unwrap_or(i64::MAX);
    let end = begin.0.saturating_add(budget);

    let mut line = line(&minutes, share);
    let mut full = vec![false; minutes.len()];
    let mut swept = Swept::default();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < app.concurrency.max(1) && app.clock.now_ms().0 < end {
            let Some(turn) = line.pop_front() else { break };
            running.push(take(app, turn));
        }
        let Some((turn, ended)) = running.next().await else {
            break;
        };
        let stays = match ended {
            Ok(ended) => {
                let stays = ended.rows > 0;
                ended.note(&turn, &mut swept, &mut line);
                stays
            }
            Err(error) => {
                let start = turn.minute.start();
                tracing::error!(error = %error, "due rows of {start} could not be moved: {error}");
                swept.failed += 1;
                true
            }
        };
        if let Some(full) = full.get_mut(turn.index) {
            *full |= stays;
        }
    }
    // A job goes on in the next sweep, whatever is left of it.
    let is_due =
        |turn: &SweepTask<'_>| !matches!(turn.work, Work::Erase { .. } | Work::Replay { .. });
    swept.unfinished = line.iter().any(is_due);
    for turn in &line {
        if let Some(full) = full.get_mut(turn.index) {
            *full = true;
        }
    }
    tell_age(begin, &minutes, &full);
    let empty = minutes.iter().zip(full).filter(|(_, full)| !full);
    let empty: Vec<&Minute> = empty.map(|(minute, _)| minute).collect();
    close(app, share, begin.seconds(), &empty, &mut swept).await;
    // One part acts for all.
    if share.part == 0 {
        release_waiting(app, Millis(end), &mut swept).await;
        if let Err(error) = crate::news::watch(app).await {
            tracing::error!(error = %error, "copies without news could not be counted: {error}");
            swept.failed += 1;
        }
    }
    tell(&swept);
    Ok(swept)
}

fn line(minutes: &[Minute], share: Share) -> VecDeque<SweepTask<'_>> {
    let mut line = VecDeque::new();
    for (index, minute) in minutes.iter().enumerate() {
        for shard in (0..minute.shards).filter(|shard| share.holds(*shard)) {
            line.push_back(SweepTask {
                index,
                minute,
                work: Work::Page {
                    shard,
                    place: DueCursor::default(),
                },
            });
        }
    }
    line
}

impl TurnResult {
    /// Counts the results of a turn and queues what remains: work that continues goes first, work
    /// that must wait goes to the end of the line.
    fn note<'a>(self, turn: &SweepTask<'a>, swept: &mut Swept, line: &mut VecDeque<SweepTask<'a>>) {
        swept.sent += self.sent;
        swept.released += self.released;
        swept.expired += self.expired;
        swept.unreadable += self.unreadable;
        swept.failed += self.failed;
        let again = |work| SweepTask { work, ..*turn };
        if let Some(next) = self.next {
            line.push_front(again(next));
        }
        line.extend(self.rest.into_iter().map(again));
    }
}

/// Puts mail on the queue again that waits for the relay, for a few seconds also where the due rows took all
/// of the time.
async fn release_waiting(app: &App, end: Millis, swept: &mut Swept) {
    const AT_LEAST: i64 = 8_000;
    let until = end.max(Millis(app.clock.now_ms().0.saturating_add(AT_LEAST)));
    match app.outage.release(&app.send, until).await {
        Ok(release) => {
            swept.resent += release.jobs;
            swept.failed += release.failed;
            // Mail that waits here is not received, so its worker does not report it.
            if release.waiting > 0 {
                posthaste_metrics::record(&[Metric::RelayTrouble.of(release.waiting)]);
            }
        }
        Err(error) => {
            tracing::error!(error = %error, "mail that waits for the relay could not be released: {error}");
            swept.failed += 1;
        }
    }
}

/// Removes minutes that were over when the sweep began and had no rows then.
async fn close(app: &App, share: Share, begin: Timestamp, empty: &[&Minute], swept: &mut Swept) {
    // One part acts for all, and checks the partitions of the others first.
    if share.part != 0 {
        return;
    }
    for minute in empty.iter().filter(|minute| minute.is_over(begin)) {
        match close_one(app, share, minute).await {
            Ok(closed) => swept.closed += usize::from(closed),
            Err(error) => {
                let start = minute.start();
                tracing::error!(error = %error, "minute {start} could not be closed: {error}");
                swept.failed += 1;
            }
        }
    }
}

async fn close_one(app: &App, share: Share, minute: &Minute) -> Result<bool, StoreError> {
    for shard in (0..minute.shards).filter(|shard| !share.holds(*shard)) {
        let page = app
            .store
            .due_page(minute, shard, &DueCursor::default(), 1)
            .await?;
        if !page.rows.is_empty() || page.unreadable > 0 {
            return Ok(false);
        }
    }
    app.store.close_minute(minute).await
}

/// The age of the oldest row that this sweep found, in milliseconds, by the end of its minute. A
/// sweep that keeps up finds none in a past minute.
fn tell_age(begin: Millis, minutes: &[Minute], full: &[bool]) {
    let held = minutes.iter().zip(full).filter(|(_, full)| **full);
    let oldest = held.map(|(minute, _)| minute.start().plus(60)).min();
    let late = oldest.map_or(0, |end| begin.seconds().since(end).max(0));
    posthaste_metrics::record(&[Metric::OldestDueMs.of(late * 1000)]);
}

fn tell(swept: &Swept) {
    if swept.unreadable > 0 {
        tracing::error!(
            "{} due rows are of a form this release cannot read; they stay where they are",
            swept.unreadable
        );
    }
    let moved = swept.sent + swept.released + swept.expired;
    if moved > 0 || swept.unfinished {
        tracing::info!(
            sweep.sent = swept.sent,
            sweep.released = swept.released,
            sweep.expired = swept.expired,
            sweep.unfinished = swept.unfinished,
            "swept {moved} due rows"
        );
    }
}
