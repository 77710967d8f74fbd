//! Permits leased in blocks from a counter row, so that most requests write nothing.
//!
//! An instance takes a block, serves requests out of it, and takes another. Every permit is given
//! once, so no number of instances passes more than the limit. What an instance took and does not
//! use is lost to the others until the period ends: therefore blocks begin small, grow only as
//! fast as this instance uses them up, and are never more than a small share of what is left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use posthaste_model::{AccountId, Millis};
use posthaste_store::{Store, Window};

use crate::Permit;
use crate::limit::Period;

/// An account at an endpoint (method and path template).
pub(crate) type Who = (AccountId, Arc<str>);

/// The blocks of this instance.
#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<HashMap<Who, Arc<tokio::sync::Mutex<Block>>>>);

/// What is left of the block last taken.
#[derive(Debug, Default)]
struct Block {
    /// Number of the period it belongs to.
    period: i64,
    stock: u32,
    /// Taken by everybody in this period, as far as this instance knows.
    taken: i64,
    /// Size of the last block and when it was taken; kept over the end of a period.
    size: u32,
    at: Millis,
}

impl Leases {
    /// So many blocks are kept; past that the ones of past periods go.
    const MOST: usize = 10_000;

    /// Takes one permit, leasing a block when there is none left. Callers that meet at an empty
    /// stock wait for one lease.
    pub(crate) async fn take(
        &self,
        store: &Store,
        who: Who,
        limit: u32,
        period: Period,
        now: Millis,
    ) -> Permit {
        let Some(slot) = self.slot(&who, period) else {
            return permit(true, limit, 0, period);
        };
        let mut block = slot.lock().await;
        if block.period != period.number {
            block.period = period.number;
            block.stock = 0;
            block.taken = 0;
        }
        let left = i64::from(limit) - block.taken;
        if block.stock == 0 && left > 0 {
            let left = u32::try_from(left).unwrap_or(limit);
            let size = block_size(limit, left, block.size, now.0 - block.at.0);
            block.lease(store, &who, limit, period, size).await;
            block.at = now;
        }
        let allowed = block.stock > 0;
        block.stock = block.stock.saturating_sub(1);
        let left = (i64::from(limit) - block.taken).max(0);
        let remaining = u32::try_from(left).unwrap_or(0).saturating_add(block.stock);
        permit(allowed, limit, remaining, period)
    }

    fn slot(&self, who: &Who, period: Period) -> Option<Arc<tokio::sync::Mutex<Block>>> {
        let mut map = self.0.lock().ok()?;
        if let Some(slot) = map.get(who) {
            return Some(Arc::clone(slot));
        }
        if map.len() >= Self::MOST {
            // A block that somebody is taking from right now is in use.
            map.retain(|_, slot| {
                slot.try_lock()
                    .map_or(true, |block| block.period == period.number)
            });
        }
        let slot = Arc::default();
        map.insert(who.clone(), Arc::clone(&slot));
        Some(slot)
    }
}

impl Block {
    async fn lease(&mut self, store: &Store, who: &Who, limit: u32, period: Period, size: u32) {
        let window = Window {
            account: &who.0,
            endpoint: &who.1,
            number: period.number,
            end: period.end,
        };
        self.size = size;
        match store.lease(window, size).await {
            Ok(taken) => {
                // What was free before this block came.
                let free = i64::from(limit) - (taken - i64::from(size));
                self.stock = u32::try_from(free.clamp(0, size.into())).unwrap_or(0);
                self.taken = taken;
            }
            Err(error) => {
                // Mail goes out even when nobody can count it.
                tracing::warn!(%error, "rate limit of {} could not be counted: {error}", who.0);
                self.stock = size;
            }
        }
    }
}

fn permit(allowed: bool, limit: u32, remaining: u32, period: Period) -> Permit {
    Permit {
        allowed,
        limit,
        remaining: if allowed { remaining } else { 0 },
        reset: period.end,
    }
}

/// How many permits to take now: twice as many when the last block lasted less than two seconds,
/// half as many when it lasted more than eight, and at most 1/32 of what is left.
fn block_size(limit: u32, left: u32, last: u32, lasted_ms: i64) -> u32 {
    let smallest = (limit / 1024).max(4);
    let largest = (left / 32).max(1);
    let wanted = match lasted_ms {
        ..2_000 => last.saturating_mul(2),
        2_000..=8_000 => last,
        8_001.. => last / 2,
    };
    wanted.max(smallest).min(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_use_and_shrink_as_the_limit_nears() {
        for (limit, left, last, lasted, want) in [
            (1000, 1000, 0, i64::MAX, 4),
            (1000, 1000, 4, 100, 8),
            (1000, 1000, 16, 100, 31),
            (1000, 1000, 16, 3000, 16),
            (1000, 1000, 16, 9000, 8),
            (1000, 100, 31, 100, 3),
            (1000, 31, 31, 100, 1),
            (1000, 1, 31, 100, 1),
            (600_000, 600_000, 0, i64::MAX, 585),
            (600_000, 600_000, 20_000, 0, 18_750),
            (3, 3, 0, i64::MAX, 1),
        ] {
            let got = block_size(limit, left, last, lasted);
            assert_eq!(
                got, want,
                "limit {limit} left {left} last {last} in {lasted} ms"
            );
        }
    }
}
