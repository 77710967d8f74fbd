//! Open connections, counted in total and by client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_model::ip_prefix;

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
}
