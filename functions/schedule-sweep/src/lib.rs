//! Moves due rows to their queues shortly before they are due.
//!
//! An EventBridge rule calls it every minute; the local host does the same, and once more at
//! startup. It reads the rows due within the next minutes and any older rows, and sends each to the
//! queue of its target with a delay, so that it is processed at its second. A row is deleted after
//! its queue accepted it: a sweep that crashes in between is repeated, and duplicates are absorbed
//! by the receiver. So sweeps may overlap, repeat, be late or be missed.
//!
//! The state of a batch is not checked here: `delivery` reads it when the message is sent.
//!
//! Erasures of addresses go on here too, and events of a span of time that are posted again, in steps between the
//! turns of due rows and for as long as the sweep has time. Alerts of accounts are looked at and mailed here. And it counts the copies that SES has had for a day without a word about them.

mod alert;
mod app;
mod news;
mod sweep;
mod turn;

pub use app::{AHEAD, App, Share};
pub use sweep::{Swept, handle, sweep};
