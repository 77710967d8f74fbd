//! What the clients of a port share: its connections, counted in total and by client, the turns to be refused, and
//! the memory for bodies.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_model::ip_prefix;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A [`MemoryBudget`] is counted in pieces of this many bytes.
const PIECE: usize = 64 * 1024;

/// How many connections may be open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub all: usize,
    /// Of one client: of one IPv4 address, or of one /64 with IPv6.
    pub per_client: usize,
}

/// The connections that are open; clones share the count.
#[derive(Clone, Debug)]
pub struct ConnectionLimiter {
    limits: ConnectionLimits,
    open: Arc<Mutex<OpenConnections>>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    all: usize,
    by_client: HashMap<IpAddr, usize>,
}

/// One connection's share, released when dropped.
#[derive(Debug)]
pub struct Permit {
    limiter: ConnectionLimiter,
    client: IpAddr,
}

impl ConnectionLimiter {
    pub fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            open: Arc::default(),
        }
    }

    /// A permit for one more connection of this client; `None` when the client or the total has
    /// reached its limit.
    pub fn acquire(&self, ip: IpAddr) -> Option<Permit> {
        let client = ip_prefix(ip);
        let mut open = self.lock();
        let own = open.by_client.get(&client).copied().unwrap_or_default();
        if own >= self.limits.per_client || open.all >= self.limits.all {
            return None;
        }
        Some(self.count(&mut open, client))
    }

    /// A permit regardless of the limits: for a connection that was counted elsewhere for a while
    /// and is open anyway.
    pub fn readmit(&self, ip: IpAddr) -> Permit {
        self.count(&mut self.lock(), ip_prefix(ip))
    }

    fn count(&self, open: &mut OpenConnections, client: IpAddr) -> Permit {
        open.all += 1;
        *open.by_client.entry(client).or_default() += 1;
        Permit {
            limiter: self.clone(),
            client,
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        // Counts change in one step, so a panic elsewhere leaves them correct.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.limiter.lock();
        open.all -= 1;
        if let Some(count) = open.by_client.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.by_client.remove(&self.client);
            }
        }
    }
}

/// The clients of one port that are being refused; clones share the count.
///
/// Each of them holds a socket outside the port's own limits until it has read the answer, so only
/// a few are answered at a time. The connections of further ones are closed without an answer.
#[derive(Clone, Debug)]
pub struct Refusals(Arc<Semaphore>);

/// One client's turn to be answered, over when dropped.
#[derive(Debug)]
pub struct RefusalTurn {
    _permit: OwnedSemaphorePermit,
}

impl Refusals {
    /// Clients that are answered at a time.
    pub const AT_A_TIME: usize = 64;

    /// A turn for one more client; `None` while enough others are being answered.
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

/// Memory shared by all messages or bodies in progress; clones share it.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<Semaphore>);

/// The part that one message holds, released when dropped.
#[derive(Debug, Default)]
pub struct Grant {
    held: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl MemoryBudget {
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
    fn connections_are_counted_by_client_and_in_all() {
        let limiter = ConnectionLimiter::new(ConnectionLimits {
            all: 3,
            per_client: 2,
        });
        let (ann, bob) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = limiter.acquire(ann).unwrap();
        let _second = limiter.acquire(ann).unwrap();
        assert!(limiter.acquire(ann).is_none(), "two of one client");
        let third = limiter.acquire(bob).unwrap();
        assert!(limiter.acquire(bob).is_none(), "three in all");
        let beyond = limiter.readmit(bob);
        drop(first);
        assert!(limiter.acquire(bob).is_none(), "still three in all");
        drop(beyond);
        assert!(limiter.acquire(bob).is_some());
        drop(third);
        assert_eq!(limiter.lock().by_client.len(), 1, "bob is forgotten");
    }

    #[test]
    fn only_so_many_clients_are_answered_at_a_time() {
        let refusals = Refusals::default();
        let mut turns: Vec<_> = (0..Refusals::AT_A_TIME)
            .map(|_| refusals.turn().unwrap())
            .collect();
        assert!(refusals.clone().turn().is_none());
        turns.pop();
        assert!(refusals.turn().is_some());
    }

    #[test]
    fn grants_grow_until_nothing_is_left_and_come_back() {
        let budget = MemoryBudget::new(4 * PIECE);
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
