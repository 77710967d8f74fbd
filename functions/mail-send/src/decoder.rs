//! The decoder without the service around it: the root of `fuzz/decoder`, so that a fuzzer is built
//! in seconds.

#![expect(
    unused_imports,
    reason = "what the checks of the account take from here is not part of it"
)]

mod check;
mod decode;
mod wire;

pub use check::{CheckedMail, SendLimits, decode_and_check};
