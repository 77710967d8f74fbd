//! Strangers to test against: servers that do what the outside world does, on request.

pub mod clock;
mod receiver;
mod table;

pub use clock::Hand;
pub use receiver::{Received, Receiver, Reply};
pub use table::{TABLE, dynamodb, table};
