//! Erasure: of everything about addresses, and of an account with all that it owns.

mod delete_account;
mod erase;
mod erased;
mod erasures;

pub use erase::{CopiesPage, CopyTrace, ScanPosition};
pub use erasures::{Erasure, ErasurePhase, ErasureState, MOST_ERASED};
