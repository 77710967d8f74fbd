//! Strangers to test against: servers that do what the outside world does, on request.

mod receiver;

pub use receiver::{Received, Receiver, Reply};
