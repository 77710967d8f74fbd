//! Signatures that verify, and names that are looked up over a socket.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod dns;
mod foreign;
mod received;
mod signatures;
