//! The only crate that knows DynamoDB: one table, keys, rows, conditions, paging, expiry.
//!
//! [`Store`] holds the primitives (`table.rs`); one file per family of rows adds the operations
//! its callers speak of. Locally the same SDK talks to an embedded DynamoDB.

mod accounts;
mod allowed_ips;
mod api_keys;
mod arrivals;
mod attempts;
mod batches;
mod credits;
mod dead_letters;
mod domains;
mod due;
mod embedded;
mod error;
mod groups;
mod held;
mod key;
mod later;
mod messages;
mod moving;
mod parse;
mod rates;
mod replays;
mod senders;
mod settings;
mod slice;
mod stats;
mod suppressions;
mod table;
mod templates;
mod transact;
mod visits;
mod webhooks;

pub use accounts::{Account, LONGEST_USERNAME, Region, Status};
pub use allowed_ips::{Allow, AllowedIp, Disallow};
pub use api_keys::{ApiKey, Kind as KeyKind, Secret};
pub use arrivals::{Arriving, LostMail, Stage as ArrivalStage};
pub use attempts::{Attempt, Seen};
pub use batches::{Batch, HoldError};
pub use credits::{Allowance, Credits, Frequency};
pub use dead_letters::{DeadLetter, Wanted};
pub use domains::{Borrower, DkimKey, Domain, Lent, Standing};
pub use due::{Due, DuePage, GRACE, Lane, Minute, NEAR, Place};
pub use embedded::{Answer, Embedded};
pub use error::StoreError;
pub use groups::{Group, GroupChange, GroupSaved};
pub use held::{Held, Released};
pub use key::Key;
pub use later::{Entries, Entry, Later, Piece, Reach};
pub use messages::{Claim, Claimant, Described, Outcome, Recipient, State};
pub use moving::{Carried, MoveError};
pub use parse::ParseSetting;
pub use rates::Window;
pub use replays::{Begun, Hold, PATIENCE, REMEMBERED, Repeatable};
pub use senders::{Link, Resaved, Sender, SenderFields};
pub use settings::{AccountSettings, BouncePurge, Forward, Landing, SpamCheck, Whitelist};
pub use slice::Slice;
pub use stats::{Added, DayStats, METRICS};
pub use suppressions::{List, Listed, Mark, Suppressed, Window as ListWindow};
pub use table::{Change, Page, Put, Row, Store};
pub use templates::{Placed, Template, Texts, Version};
pub use transact::{Transact, Write};
pub use visits::{MOST_VISITS, Visit, VisitKind};
pub use webhooks::{Created, Saved, Signing, Webhook};
