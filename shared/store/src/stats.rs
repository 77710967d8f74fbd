//! Counters of a day: events by account and category, and by mailbox provider, client, device and browser; bounces by
//! class and domain; and of its hours.

mod bounced;
mod daily;
mod hours;
mod reputation;
mod segments;
mod spread;

pub use bounced::{Bounced, DayBounces};
pub use daily::{Added, DayStats, METRICS, Tally};
pub use hours::{Hours, MailEnd, SendingRates};
pub use segments::SegmentCounts;

pub(crate) use bounced::bounces_pk;
pub(crate) use daily::day_pk;
