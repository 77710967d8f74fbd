//! `GET /v3/subusers/stats…` and `/v3/subusers/reputations`: what became of the mails of the
//! caller's subusers.

mod named;
mod reputations;
mod stats;

pub(crate) use reputations::reputations;
pub(crate) use stats::{by_day, month, month_of_one, sums};
