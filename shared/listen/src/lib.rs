//! What every listening port needs against clients that take too much, whatever it speaks: a
//! bound on connections in all and for each client, memory that all of them share, and calm when
//! accepting fails.

mod accept;
mod budget;
mod connections;

pub use accept::{AcceptFailures, LinePace};
pub use budget::{Budget, Grant};
pub use connections::{ConnectionLimiter, ConnectionLimits, Permit};
