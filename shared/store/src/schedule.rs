//! What waits for its time: due rows of any kind, scheduled mail, and the batches that hold it back.
//!
//! `due.rs` is the waiting itself, in buckets of a minute; `scheduled_mail.rs` decides about a piece
//! whose time has come; `batches.rs` has the pauses and cancellations of owners, `held.rs` the mail
//! that they hold back, `reschedule.rs` moves or cancels one mail, and `waiting.rs` shows it in look-ups. `alerts.rs` has
//! the mails with figures that an account wants of the service.

mod alerts;
mod batches;
mod due;
mod held;
mod reschedule;
mod scheduled_mail;
mod waiting;

pub use alerts::{Alert, AlertKind, AlertLook};
pub use batches::{Batch, HoldError};
pub use due::{Due, DueCursor, DuePage, DueTarget, GRACE, Minute, NEAR};
pub use held::{HeldMessage, Released};
pub use reschedule::{MoveError, PendingRows};
pub use scheduled_mail::{BatchListing, Entries, Reach, ScheduledMail, ScheduledPart};
pub(crate) use waiting::listing_of;
pub use waiting::{StoredArgs, WaitingCopies, WaitingCopy, WaitingDetails, WaitingPage};
