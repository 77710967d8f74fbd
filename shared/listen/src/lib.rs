//! Protection of every listening port against clients that take too much, whatever the protocol: a
//! limit on connections in total and per client, a limit on refusals that are answered, a shared
//! memory budget, and a pause when accepting fails.

mod accept;
mod limits;

pub use accept::{AcceptFailures, LinePace};
pub use limits::{
    ConnectionLimiter, ConnectionLimits, Grant, MemoryBudget, Permit, RefusalTurn, Refusals,
};
