//! Permits leased in blocks from a counter row, so that most requests write nothing.
//!
//! An instance takes a block, serves requests out of it, and takes another. Every permit is granted
//! once, so no number of instances exceeds the limit. Permits that an instance took and does not
//! use are lost to the others until the period ends: therefore a block is a small share of what
//! this instance has used up itself, and of what is left in total.

use std::sync::Arc;

use posthaste_cache::BoundedMap;
use posthaste_model::AccountId;
use posthaste_store::{RateWindow, Store};

use crate::RateDecision;
use crate::limit::LimitPeriod;

/// An account at an endpoint (method and path template).
pub(crate) type Who = (AccountId, Arc<str>);

/// The blocks of this instance.
#[derive(Debug)]
pub(crate) struct Leases(BoundedMap<Who, Arc<tokio::sync::Mutex<Block>>>);

/// What is left of the block last taken.
#[derive(Debug, Default)]
struct Block {
    /// Number of the period it belongs to.
    period: i64,
    stock: u32,
    /// Taken by all instances in this period, as far as this instance knows.
    taken: i64,
    /// Used up by this instance in this period.
    used: u32,
}

impl Default for Leases {
    fn default() -> Self {
        Self(BoundedMap::new(Self::MOST))
    }
}

impl Leases {
    /// How many blocks are held. What is left of a block that made room goes unused.
    const MOST: usize = 10_000;

    /// Takes one permit, leasing a block when there is none left. Concurrent callers without a
    /// permit wait for one lease.
    pub(crate) async fn take(
        &self,
        store: &Store,
        who: Who,
        limit: u32,
        period: LimitPeriod,
    ) -> RateDecision {
        let slot = self.0.update(who.clone(), |slot| Arc::clone(slot));
        let mut block = slot.lock().await;
        if block.period != period.number {
            *block = Block {
                period: period.number,
                ..Block::default()
            };
        }
        let left = i64::from(limit) - block.taken;
        if block.stock == 0 && left > 0 {
            let left = u32::try_from(left).unwrap_or(limit);
            let size = block_size(limit, left, block.used);
            let window = RateWindow {
                account: &who.0,
                endpoint: &who.1,
                number: period.number,
                end: period.end,
            };
            block.lease(store, window, limit, size).await;
        }
        let allowed = block.stock > 0;
        block.used = block.used.saturating_add(u32::from(allowed));
        block.stock = block.stock.saturating_sub(1);
        let left = (i64::from(limit) - block.taken).max(0);
        let remaining = u32::try_from(left).unwrap_or(0).saturating_add(block.stock);
        permit(allowed, limit, remaining, period)
    }
}

impl Block {
    async fn lease(&mut self, store: &Store, window: RateWindow<'_>, limit: u32, size: u32) {
        match store.lease(window, size).await {
            Ok(taken) => {
                // What was free before this block was taken.
                let free = i64::from(limit) - (taken - i64::from(size));
                self.stock = u32::try_from(free.clamp(0, size.into())).unwrap_or(0);
                self.taken = taken;
            }
            Err(error) => {
                // Mail is sent even when it cannot be counted.
                tracing::warn!(%error, "rate limit of {} could not be counted: {error}", window.account);
                self.stock = size;
            }
        }
    }
}

fn permit(allowed: bool, limit: u32, remaining: u32, period: LimitPeriod) -> RateDecision {
    RateDecision {
        allowed,
        limit,
        remaining: if allowed { remaining } else { 0 },
        reset: period.end,
    }
}

/// How many permits to take now. At most 1/24 of what this instance has used goes unused when it
/// stops, or the smallest block: with eight instances less than a twentieth of the limit.
fn block_size(limit: u32, left: u32, used: u32) -> u32 {
    // Large limits belong to many instances, so the smallest block does not grow with them.
    let smallest = (limit / 150).clamp(1, 256);
    let largest = (left / 32).max(1);
    (used / 24).max(smallest).min(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_use_and_shrink_as_the_limit_nears() {
        for (limit, left, used, want) in [
            (1000, 1000, 0, 6),
            (1000, 850, 150, 6),
            (1000, 700, 300, 12),
            (1000, 500, 500, 15),
            (1000, 100, 300, 3),
            (1000, 31, 31, 1),
            (1000, 1, 999, 1),
            (600_000, 600_000, 0, 256),
            (600_000, 300_000, 240_000, 9_375),
            (600_000, 500_000, 48_000, 2_000),
            (3, 3, 0, 1),
        ] {
            let got = block_size(limit, left, used);
            assert_eq!(got, want, "limit {limit} left {left} used {used}");
        }
    }

    #[test]
    fn one_busy_instance_writes_seldom() {
        for (limit, most) in [(600, 180), (1_000, 200), (10_000, 270), (600_000, 470)] {
            let (mut left, mut writes) = (limit, 0);
            while left > 0 {
                left -= block_size(limit, left, limit - left).min(left);
                writes += 1;
            }
            assert!(writes <= most, "{writes} writes for {limit} permits");
        }
    }
}
