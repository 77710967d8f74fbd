//! Clients that are told that a port is at capacity.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The clients of one port that are being told; clones share the count.
///
/// Each of them holds a socket outside the port's own limits until it has read the answer, so only
/// a few are told at a time. The connections of further ones are closed without a word.
#[derive(Clone, Debug)]
pub struct Refusals(Arc<Semaphore>);

/// One client's turn to be told, over when dropped.
#[derive(Debug)]
pub struct RefusalTurn {
    _permit: OwnedSemaphorePermit,
}

impl Refusals {
    /// Clients that are told at a time.
    pub const AT_A_TIME: usize = 64;

    /// A turn for one more client; `None` while enough others are being told.
    pub fn turn(&self) -> Option<RefusalTurn> {
        let permit = Arc::clone(&self.0).try_acquire_owned().ok()?;
        Some(RefusalTurn { _permit: permit })
    }
}

impl Default for Refusals {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(Self::AT_A_TIME)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_clients_are_told_at_a_time() {
        let refusals = Refusals::default();
        let mut turns: Vec<_> = (0..Refusals::AT_A_TIME)
            .map(|_| refusals.turn().unwrap())
            .collect();
        assert!(refusals.clone().turn().is_none());
        turns.pop();
        assert!(refusals.turn().is_some());
    }
}
