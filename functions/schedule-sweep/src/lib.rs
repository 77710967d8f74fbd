//! Moves due rows to their queues shortly before their second comes.
//!
//! An EventBridge rule calls it every minute; the local host does the same and once more at its
//! start. It takes whatever is due within the next minutes and whatever was left behind, however
//! old, and gives it to the queue of its lane with a delay, so that it leaves at its second. A row
//! is deleted after its queue took it: a sweep that dies in between is repeated, and what was sent
//! twice is absorbed where it arrives. So sweeps may overlap, repeat, be late or be missed.
//!
//! The state of a batch is not looked at here: `delivery` asks for it when the message leaves.

mod app;
mod event;
mod sweep;
mod turn;

pub use app::{AHEAD, App};
pub use event::{Share, handle};
pub use sweep::{Swept, sweep};
