//! A clock that is turned by hand (`--clock`), so that what takes days happens at once.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use posthaste_model::{Clock, Millis, Timestamp};
use posthaste_queue::{QueueError, QuietWatch};
use posthaste_store::StoreError;

/// A clock that runs ahead of the machine's by what it was advanced, or stands still in between.
#[derive(Clone, Debug)]
pub struct TurnableClock {
    /// What it is ahead of; `None`: it stands still.
    runs_with: Option<Clock>,
    /// Milliseconds: by which it is ahead, or at which it stands.
    turned: Arc<AtomicI64>,
}

/// Where a clock begins, as `--clock` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStart {
    /// With the machine's clock, which it goes on with.
    Now,
    /// At this instant, where it stands still until it is advanced.
    At(Timestamp),
}

impl FromStr for ClockStart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "now" {
            return Ok(Self::Now);
        }
        let at = Timestamp::from_iso(text).filter(|at| at.0 >= 0);
        let form = "it is `now`, or an instant such as 2026-11-29T12:00:00Z";
        at.map(Self::At).ok_or_else(|| form.to_owned())
    }
}

impl TurnableClock {
    /// A clock that begins so; `machine` is the machine's own.
    pub fn new(start: ClockStart, machine: Clock) -> Self {
        let (runs_with, turned) = match start {
            ClockStart::Now => (Some(machine), 0),
            ClockStart::At(at) => (None, at.millis().0),
        };
        Self {
            runs_with,
            turned: Arc::new(AtomicI64::new(turned)),
        }
    }

    /// The clock, to read.
    pub fn clock(&self) -> Clock {
        let own = self.clone();
        Clock::new(move || own.now())
    }

    /// Whether it stands still.
    pub(crate) fn stands_still(&self) -> bool {
        self.runs_with.is_none()
    }

    fn now(&self) -> Millis {
        let base = self.runs_with.as_ref().map_or(0, |clock| clock.now_ms().0);
        Millis(base.saturating_add(self.turned.load(Ordering::SeqCst)))
    }

    /// Turns it to this instant, unless that is past.
    fn turn_to(&self, at: Millis) {
        let ahead = at.0.saturating_sub(self.now().0).max(0);
        self.turned.fetch_add(ahead, Ordering::SeqCst);
    }
}

/// Why the clock could not be advanced to the end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the clock stopped at {0}: {MOST_STEPS} steps did not lead further")]
    Endless(String),
}

/// Steps of one advance: jobs that come back every few seconds would make it take hours.
const MOST_STEPS: u32 = 50_000;

/// How far a clock was advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Advanced {
    pub(crate) now: Millis,
    /// Instants in between at which something was due.
    pub(crate) steps: u32,
}

/// The clock, with what is due by it.
#[derive(Clone)]
pub(crate) struct ClockHand {
    clock: TurnableClock,
    queues: QuietWatch,
    sweep: schedule_sweep::App,
    /// Held while the clock is turned.
    turning: Arc<tokio::sync::Mutex<()>>,
}

impl ClockHand {
    pub(crate) fn new(
        clock: TurnableClock,
        queues: QuietWatch,
        sweep: schedule_sweep::App,
    ) -> Self {
        Self {
            clock,
            queues,
            sweep,
            turning: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(crate) fn stands_still(&self) -> bool {
        self.clock.stands_still()
    }

    /// Advances the clock, from one instant at which something is due to the next: each time it waits until the
    /// workers have nothing left to do.
    pub(crate) async fn advance(&self, by: Millis) -> Result<Advanced, TurnError> {
        let _turn = self.turning.lock().await;
        let end = Millis(self.now().0.saturating_add(by.0));
        for steps in 0..MOST_STEPS {
            let visible = self.queues.quiet().await?;
            let now = self.now();
            if now >= end {
                return Ok(Advanced { now, steps });
            }
            let swept = self.next_sweep(now, end).await?;
            let due = [visible, swept].into_iter().flatten();
            let next = due.filter(|at| *at > now).min().unwrap_or(end).min(end);
            self.clock.turn_to(next);
            if swept.is_some_and(|at| at <= next) || next == end {
                sweep(&self.sweep).await?;
            }
        }
        Err(TurnError::Endless(self.now().seconds().iso()))
    }

    /// When the sweep of the minute timer next finds something, after `now` and up to `end`: each minute
    /// while mail waits for the relay.
    async fn next_sweep(&self, now: Millis, end: Millis) -> Result<Option<Millis>, StoreError> {
        let store = &self.sweep.store;
        let outages = store.through_throttles(|| store.outages()).await?;
        if !outages.is_empty() {
            return Ok(Some(Millis(now.0.saturating_add(60_000))));
        }
        let until = end.seconds().plus(schedule_sweep::AHEAD);
        let minutes = store.through_throttles(|| store.due_minutes(until)).await?;
        let found = minutes
            .iter()
            .map(|minute| minute.start().plus(-schedule_sweep::AHEAD).millis());
        Ok(found.filter(|at| *at > now).min())
    }
}

/// Sweeps at once what is due. It does not wait for another minute where the table is throttled.
pub(crate) async fn sweep(app: &schedule_sweep::App) -> Result<schedule_sweep::Swept, StoreError> {
    let all = schedule_sweep::Share::ALL;
    let sweep = || schedule_sweep::sweep(app, all);
    app.store.through_throttles(sweep).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_runs_ahead_or_stands_still() {
        let machine = Arc::new(AtomicI64::new(1_000));
        let own = machine.clone();
        let clock = Clock::new(move || Millis(own.load(Ordering::SeqCst)));
        let running = TurnableClock::new(ClockStart::Now, clock.clone());
        let standing = TurnableClock::new(ClockStart::At(Timestamp(5)), clock);
        let read = || (running.clock().now_ms().0, standing.clock().now_ms().0);
        assert_eq!(read(), (1_000, 5_000));
        machine.store(3_000, Ordering::SeqCst);
        assert_eq!(read(), (3_000, 5_000));
        running.turn_to(Millis(10_000));
        standing.turn_to(Millis(10_000));
        assert_eq!(read(), (10_000, 10_000));
        machine.store(4_000, Ordering::SeqCst);
        running.turn_to(Millis(0));
        assert_eq!(read(), (11_000, 10_000));
    }

    #[test]
    fn a_clock_begins_now_or_at_an_instant() {
        assert_eq!("now".parse(), Ok(ClockStart::Now));
        let noon = ClockStart::At(Timestamp(1_795_953_600));
        assert_eq!("2026-11-29T12:00:00Z".parse(), Ok(noon));
        for bad in ["", "yesterday", "12:00", "1960-01-01T00:00:00Z"] {
            assert!(bad.parse::<ClockStart>().is_err(), "{bad}");
        }
    }
}
