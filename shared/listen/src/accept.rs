//! What to do when a connection cannot be accepted, which happens when file descriptors or memory
//! run out.

use std::io;
use std::time::Duration;

use tokio::time::Instant;

/// The first pause after a failure; it doubles from one failure to the next.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The shortest time between two log lines about the same failure.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Prevents frequent events from filling the log.
#[derive(Debug, Default)]
pub struct LinePace {
    last_line: Option<Instant>,
    unlogged: u64,
}

impl LinePace {
    /// Counts an occurrence. When a log line is due, returns how many occurred since the last one.
    pub fn note(&mut self) -> Option<u64> {
        self.unlogged += 1;
        let now = Instant::now();
        let recent = |last| now - last < BETWEEN_LINES;
        if self.last_line.is_some_and(recent) {
            return None;
        }
        self.last_line = Some(now);
        Some(std::mem::take(&mut self.unlogged))
    }
}

/// The failures of one port since it last accepted a connection.
#[derive(Debug)]
pub struct AcceptFailures {
    /// Names the port in log lines.
    port: &'static str,
    in_a_row: u64,
    lines: LinePace,
}

impl AcceptFailures {
    /// None yet. `port` names the port in log lines, as in "API".
    pub fn new(port: &'static str) -> Self {
        Self {
            port,
            in_a_row: 0,
            lines: LinePace::default(),
        }
    }

    /// Counts a failure, logs it unless one was logged a moment ago, and returns how long to wait
    /// before the next try.
    pub fn failed(&mut self, error: &io::Error) -> Duration {
        // The connection itself failed before it was accepted; the next one is not affected.
        if matches!(
            error.kind(),
            io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionRefused
        ) {
            return Duration::ZERO;
        }
        let doubled = u32::try_from(self.in_a_row.min(16)).unwrap_or(16);
        self.in_a_row += 1;
        if self.lines.note().is_some() {
            let (port, count) = (self.port, self.in_a_row);
            tracing::error!(
                %error, accept.failures = count,
                "the {port} cannot accept connections and tries again: {error}"
            );
        }
        SHORTEST_PAUSE
            .saturating_mul(1 << doubled)
            .min(LONGEST_PAUSE)
    }

    /// Resets the failures after a connection was accepted.
    pub fn accepted(&mut self) {
        if self.in_a_row > 0 {
            let (port, count) = (self.port, self.in_a_row);
            tracing::info!("the {port} accepts connections again after {count} failures");
            self.in_a_row = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_and_lines_are_seconds_apart() {
        let mut failures = AcceptFailures::new("API");
        let error = io::Error::other("too many open files");
        let pauses: Vec<u128> = (0..7)
            .map(|_| failures.failed(&error).as_millis())
            .collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1000, 1000]);
        assert_eq!(failures.lines.unlogged, 6, "the first had a line");
        tokio::time::advance(BETWEEN_LINES).await;
        failures.failed(&error);
        assert_eq!(failures.lines.unlogged, 0);
        failures.accepted();
        assert_eq!(failures.failed(&error), SHORTEST_PAUSE);
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(failures.failed(&reset), Duration::ZERO);
    }

    #[test]
    fn many_failures_do_not_overflow_the_pause() {
        let mut failures = AcceptFailures::new("API");
        failures.in_a_row = u64::MAX - 1;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let _entered = runtime.enter();
        let error = io::Error::other("too many open files");
        assert_eq!(failures.failed(&error), LONGEST_PAUSE);
    }
}
