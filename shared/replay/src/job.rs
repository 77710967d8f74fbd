//! The job that posts the events of a span of time again.

use posthaste_model::{AccountId, ReplayId, Timestamp};
use posthaste_runtime::WorkError;
use posthaste_store::{Due, DueTarget, EventReplay, ReplaySpan, ReplayStart, Seek};

use crate::{Replayer, events_of};

/// The longest span of one job, in seconds: seven days.
pub const LONGEST_SPAN: i64 = 7 * 86_400;

/// Mails are looked at that were accepted up to so many seconds before the span: seven days.
///
/// Mail waits 72 hours for its time and is tried for 72 more; an open or a click may be later than that, and is then left
/// out.
pub const LOOK_BACK: i64 = 7 * 86_400;

/// Seconds by which the clocks of two machines differ, at most.
const SLACK: i64 = 60;

/// Mails that one step looks at.
const PAGE: usize = 100;

/// Steps that the request takes itself, which starts the job.
const AT_ONCE: usize = 5;

/// Seconds after which a job goes on whose process ended.
const AGAIN: i64 = 60;

/// Seconds after which a job is given up that still has steps to take, because they keep failing.
const LIFE: i64 = 86_400;

/// Attempts to take a job up that another process changes.
const ATTEMPTS: usize = 5;

/// How the start of a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanStart {
    /// The job: a new one, or the one of the same span that is under way.
    Job(EventReplay),
    /// A job of another span is under way; nothing was started.
    Other(EventReplay),
}

/// The row by which the sweep continues a job.
fn due_row(replay: &EventReplay) -> Due {
    Due {
        target: DueTarget::Replay,
        account: replay.account.clone(),
        at: replay.due_at,
        id: replay.id.to_string(),
        body: replay.id.to_string(),
    }
}

impl Replayer<'_> {
    /// Starts the job of a span, and takes its first steps; a small span has none after these.
    ///
    /// # Errors
    /// When the job cannot be stored. A step that fails is no error: the sweep repeats it.
    pub async fn start(
        self,
        account: &AccountId,
        id: ReplayId,
        span: ReplaySpan,
    ) -> Result<SpanStart, WorkError> {
        let now = self.clock.now();
        let mut replay = EventReplay::new(account, id, span, now);
        replay.due_at = now.plus(AGAIN);
        // First: a job is without a due row at no time. One that leads to no job is dropped.
        self.store.put_due(&[due_row(&replay)], self.clock).await?;
        match self.store.start_event_replay(&replay).await? {
            ReplayStart::Same(under_way) => Ok(SpanStart::Job(under_way)),
            ReplayStart::Other(under_way) => Ok(SpanStart::Other(under_way)),
            ReplayStart::Started(rev) => {
                if let Err(error) = self.run(&mut replay, rev, AT_ONCE).await {
                    let id = &replay.id;
                    tracing::warn!(account.id = %account, error = %error, "the replay {id} goes on later: {error}");
                }
                Ok(SpanStart::Job(replay))
            }
        }
    }

    /// Takes a job up when its due row is due, and stores the row by which it goes on if this process
    /// dies. `false` when there is nothing to do by this due row: the job has ended, or another row has taken its
    /// place.
    ///
    /// # Errors
    /// When the table fails, or the job keeps changing; the due row stays then.
    pub async fn resume(
        self,
        account: &AccountId,
        id: &ReplayId,
        due: Timestamp,
    ) -> Result<bool, WorkError> {
        for _ in 0..ATTEMPTS {
            let Some(row) = self.store.event_replay(account).await? else {
                return Ok(false);
            };
            let (mut replay, now) = (row.value, self.clock.now());
            if replay.id != *id || replay.finished_at.is_some() || replay.due_at != due {
                return Ok(false);
            }
            replay.updated_at = now;
            let is_given_up = now.since(replay.created_at) >= LIFE;
            if is_given_up {
                tracing::error!(account.id = %account, "the replay {id} is given up: its steps keep failing");
                (replay.finished_at, replay.is_partial) = (Some(now), true);
            } else {
                replay.due_at = now.plus(AGAIN);
                self.store.put_due(&[due_row(&replay)], self.clock).await?;
            }
            let saved = self.store.save_event_replay(&replay, row.rev).await?;
            if saved.is_some() {
                return Ok(!is_given_up);
            }
        }
        Err(WorkError::Busy)
    }

    /// Continues a job that was taken up by at most `steps` steps. `true` when it can go on at once.
    ///
    /// # Errors
    /// When the table or the queue fails; the step is repeated then, and may queue events twice.
    pub async fn advance(
        self,
        account: &AccountId,
        id: &ReplayId,
        steps: usize,
    ) -> Result<bool, WorkError> {
        let Some(row) = self.store.event_replay(account).await? else {
            return Ok(false);
        };
        let mut replay = row.value;
        if replay.id != *id || replay.finished_at.is_some() {
            return Ok(false);
        }
        self.run(&mut replay, row.rev, steps).await
    }

    /// Takes steps and stores each; `true` when more are left for this process.
    async fn run(
        &self,
        replay: &mut EventReplay,
        mut rev: u64,
        steps: usize,
    ) -> Result<bool, WorkError> {
        for _ in 0..steps {
            let mut next = replay.clone();
            self.step(&mut next).await?;
            next.updated_at = self.clock.now();
            let saved = self.store.save_event_replay(&next, rev).await?;
            let Some(saved) = saved else {
                // Another process continues it.
                return Ok(false);
            };
            (*replay, rev) = (next, saved);
            if replay.finished_at.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at some mails, and queues their events of the span.
    async fn step(&self, replay: &mut EventReplay) -> Result<(), WorkError> {
        let (account, span) = (&replay.account, &replay.span);
        let until = Some(span.last.plus(SLACK));
        let earliest = span.first.plus(-LOOK_BACK);
        let found = self
            .store
            .seek(account, until, replay.after.clone(), PAGE)
            .await?;
        let is_over = found
            .rows
            .last()
            .is_some_and(|last| last.accepted_at < earliest);
        let holds = |mail: &&Seek| mail.accepted_at >= earliest && mail.last_event_at >= span.first;
        let mails = found.rows.iter().filter(holds);
        let which: Vec<_> = mails.map(|mail| (&mail.message, mail.recipient)).collect();
        let copies = self.store.copies(account, &which).await?;
        let all = copies
            .iter()
            .flat_map(|(message, _, row)| events_of(account, message, row));
        let mut events: Vec<_> = all
            .filter(|event| span.first <= event.at && event.at <= span.last)
            .collect();
        events.sort_by_key(|event| event.at);
        if !events.is_empty() {
            let webhooks = self.webhooks(account, span.webhook.as_ref()).await?;
            let queued = self.queue(account, &webhooks, &events).await?;
            replay.events += queued.events;
            replay.messages += queued.messages;
        }
        match found.next.filter(|_| !is_over) {
            Some(next) => replay.after = Some(next),
            None => replay.finished_at = Some(self.clock.now()),
        }
        Ok(())
    }
}
