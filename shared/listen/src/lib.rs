//! Protection of every listening port against clients that take too much, whatever the protocol: a
//! limit on connections in total and per client, a limit on clients that are told of it, a shared
//! memory budget, and a pause when accepting fails.

mod accept;
mod budget;
mod connections;
mod refusals;

pub use accept::{AcceptFailures, LinePace};
pub use budget::{Budget, Grant};
pub use connections::{ConnectionLimiter, ConnectionLimits, Permit};
pub use refusals::{RefusalTurn, Refusals};
