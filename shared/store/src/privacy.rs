//! Erasure: of everything about one address, and of an account with all that it owns.

mod delete_account;
mod erase;
mod erased;

pub use erase::{CopyTrace, Looked};
