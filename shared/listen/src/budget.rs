//! The memory shared by all messages or bodies in progress.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counted in pieces of this many bytes.
const PIECE: usize = 64 * 1024;

/// The shared amount; clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Semaphore>);

/// The part that one message holds, released when dropped.
#[derive(Debug, Default)]
pub struct Grant {
    held: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Budget {
    /// A budget of this many bytes, in pieces of 64 KiB.
    pub fn new(bytes: usize) -> Self {
        let pieces = bytes.div_ceil(PIECE).clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(pieces)))
    }

    /// Extends the grant to this many bytes; `false` when there is not enough left.
    pub fn cover(&self, grant: &mut Grant, bytes: usize) -> bool {
        let wanted = bytes.div_ceil(PIECE);
        let Some(missing) = wanted.checked_sub(grant.held).filter(|n| *n > 0) else {
            return true;
        };
        let more = u32::try_from(missing).ok();
        let more = more.and_then(|n| Arc::clone(&self.0).try_acquire_many_owned(n).ok());
        let Some(more) = more else {
            return false;
        };
        match &mut grant.permit {
            Some(permit) => permit.merge(more),
            None => grant.permit = Some(more),
        }
        grant.held = wanted;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_grow_until_nothing_is_left_and_come_back() {
        let budget = Budget::new(4 * PIECE);
        let (mut one, mut two) = (Grant::default(), Grant::default());
        assert!(budget.cover(&mut one, 1));
        assert!(budget.cover(&mut one, PIECE), "already covered");
        assert!(budget.cover(&mut one, 3 * PIECE));
        assert!(budget.cover(&mut two, PIECE));
        assert!(!budget.cover(&mut two, PIECE + 1));
        drop(one);
        assert!(budget.cover(&mut two, 4 * PIECE));
        assert!(!budget.cover(&mut Grant::default(), 1));
    }
}
