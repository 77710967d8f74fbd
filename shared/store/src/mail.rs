//! Mail: the templates it is made from, the copy of each recipient with its events, and the search.
//!
//! The row of a copy is the record of what happened to it: it is claimed before the relay is called
//! (`messages.rs`), records how each attempt ended (`outcomes.rs`), what is reported later
//! (`feedback.rs`), and who opened or clicked (`visits.rs`); `handed.rs` finds the copies of which nothing
//! is reported, `kept.rs` the composed mail of accounts that keep it, and `outage.rs` the outages of the relay that mail waits for. `event_codec.rs` is how its events are written; `search.rs` has the rows of the search,
//! beside those of the copies, `search_row.rs` what one says, and `downloads.rs` the requested downloads of
//! what a search finds.

mod downloads;
mod event_codec;
mod feedback;
mod handed;
mod kept;
mod messages;
mod outage;
mod outcomes;
mod search;
mod search_row;
mod templates;
mod visits;

pub use downloads::Download;
pub use feedback::{FeedbackOutcome, FeedbackUpdate};
pub use handed::{HANDED_PARTS, HandedCopies, HandedCopy, NewsWatch};
pub use kept::KeepTerm;
pub use messages::{Claim, Claimant, CopyState, Described, LONGEST_SUBJECT, Recipient};
pub use outage::{OutageScope, OutageWait};
pub use outcomes::AttemptOutcome;
pub use search::Sought;
pub use search_row::{SearchStatus, Seek};
pub use templates::{Placed, Template, Version, VersionTexts};
pub use visits::{MOST_VISITS, Visit, VisitKind};
