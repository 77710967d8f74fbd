//! Strangers to test against: servers that do what the outside world does, on request.

mod certificate;
pub mod clock;
mod receiver;
pub mod relay;
mod table;

pub use certificate::Certificate;
pub use clock::Hand;
pub use receiver::{Received, Receiver, Reply};
pub use table::{TABLE, dynamodb, table};
