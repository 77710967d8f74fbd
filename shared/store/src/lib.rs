//! The only crate that knows DynamoDB: one table, keys, rows, conditions, paging, expiry.
//!
//! [`Store`] holds the primitives (`table.rs`); one file per family of rows adds the operations
//! its callers speak of; [`largest`] says how large their rows can become. Locally the same SDK
//! talks to an embedded DynamoDB.

mod accounts;
mod allowed_ips;
mod api_keys;
mod arrivals;
mod attempts;
mod batches;
mod bounced;
mod credits;
mod dead_letters;
mod domains;
mod due;
mod embedded;
mod ending;
mod erase;
mod erased;
mod error;
mod first_account;
mod forwards;
mod groups;
mod heard;
mod held;
mod kept;
mod key;
pub mod largest;
mod later;
mod messages;
mod moving;
mod outcomes;
mod parse;
mod rates;
mod replays;
mod search;
mod senders;
mod settings;
mod slice;
mod stats;
mod suppressions;
mod system_mails;
mod table;
mod templates;
mod transact;
mod visits;
mod webhooks;

pub use accounts::{Account, LONGEST_USERNAME, Region, Status, Verdict, is_username};
pub use allowed_ips::{Allow, AllowedIp, Disallow};
pub use api_keys::{ApiKey, Granted, Kind as KeyKind, Maker, Regranted, Secret};
pub use arrivals::{Arriving, LostMail, Stage as ArrivalStage};
pub use attempts::{Attempt, Seen};
pub use batches::{Batch, HoldError};
pub use bounced::{Bounced, DayBounces};
pub use credits::{Allowance, Credits, Frequency};
pub use dead_letters::{DeadLetter, Wanted};
pub use domains::{Borrower, DkimKey, Domain, Lent, Standing};
pub use due::{Due, DuePage, GRACE, Lane, Minute, NEAR, Place};
pub use embedded::{Answer, Embedded};
pub use erase::{Looked, Trace};
pub use error::StoreError;
pub use forwards::ForwardTo;
pub use groups::{Group, GroupChange, GroupSaved};
pub use heard::{Heard, News};
pub use held::{Held, Released};
pub use key::Key;
pub use later::{Entries, Entry, Later, Piece, Reach};
pub use messages::{Claim, Claimant, Described, LONGEST_SUBJECT, Recipient, State};
pub use moving::{Carried, MoveError};
pub use outcomes::Outcome;
pub use parse::ParseSetting;
pub use rates::Window;
pub use replays::{Begun, Hold, PATIENCE, REMEMBERED, Repeatable};
pub use search::{Seek, Sought, Stands};
pub use senders::{Link, Resaved, Sender, SenderFields};
pub use settings::{AccountSettings, BouncePurge, Forward, Landing, SpamCheck, Whitelist};
pub use slice::Slice;
pub use stats::{Added, DayStats, METRICS, Tally};
pub use suppressions::{List, Listed, Mark, Suppressed, Window as ListWindow};
pub use system_mails::{
    Counted, CountedMail, SYSTEM_MAIL_PAUSE, SYSTEM_MAIL_PERIOD, SYSTEM_MAILS_PER_ACCOUNT,
    SYSTEM_MAILS_PER_ADDRESS, SystemMail,
};
pub use table::{Change, Page, Put, Row, Store};
pub use templates::{Placed, Template, Texts, Version};
pub use transact::{Transact, Write};
pub use visits::{MOST_VISITS, Visit, VisitKind};
pub use webhooks::{Created, Saved, Signing, Webhook};
