//! Who is not to be mailed: the suppression lists of an account, and its unsubscribe groups.
//!
//! `suppressions.rs` has the row of an address, `change.rs` writes it, `apply.rs` does so from
//! events, `takeover.rs` writes many at once, and `pages.rs` reads a list in the order of time.

mod apply;
mod change;
mod groups;
mod pages;
mod suppressions;
mod takeover;

pub use groups::{Group, GroupChange, GroupSaved};
pub use pages::{DateWindow, EXAMINED_ENTRIES, ListPart, SuppressedAddress};
pub use suppressions::{Mark, Suppressed, SuppressionList};
pub use takeover::ListEntry;
