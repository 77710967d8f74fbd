//! What a process holds in memory for a while, within bounds: [`Cache`] for answers that expire,
//! [`BoundedMap`] for counters and locks by key.
//!
//! The order of use is kept by the `lru` crate. `moka`, which does more, reads the time itself.

mod bounded_map;
mod cache;

pub use bounded_map::BoundedMap;
pub use cache::Cache;
