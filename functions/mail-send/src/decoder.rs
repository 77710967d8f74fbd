//! The decoder without the service around it: the root of `fuzz/decoder`, so that a fuzzer is built
//! in seconds.

mod check;
mod errors;
mod wire;

pub use check::{CheckedMail, SendLimits, decode_and_check};
