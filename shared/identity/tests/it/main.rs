//! Signatures that verify, and records that are looked up.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod foreign;
mod received;
mod records;
mod signatures;
