//! Counters of a day: events by account and category, bounces by class and domain.

mod bounced;
mod daily;
mod reputation;

pub use bounced::{Bounced, DayBounces};
pub use daily::{Added, DayStats, METRICS, Tally};

pub(crate) use bounced::bounces_pk;
pub(crate) use daily::day_pk;
