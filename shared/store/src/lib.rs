//! The only crate that accesses DynamoDB: one table, keys, rows, conditions, paging, expiry.
//!
//! [`Store`] holds the primitives (`table.rs`); one file per family of rows adds its operations;
//! [`largest`] documents how large their rows can become. Locally the same SDK talks to an embedded
//! DynamoDB.

mod accounts;
mod allowed_ips;
mod api_keys;
mod arrivals;
mod attempts;
mod batches;
mod bounced;
mod credits;
mod dead_letters;
mod delete_account;
mod domains;
mod due;
mod embedded;
mod erase;
mod erased;
mod error;
mod event_codec;
mod feedback;
mod first_account;
mod forwards;
mod groups;
mod held;
mod idempotency;
mod key;
pub mod largest;
mod messages;
mod outcomes;
mod parse;
mod rates;
mod reschedule;
mod scheduled_mail;
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

pub use accounts::{
    Account, AccountStatus, LONGEST_USERNAME, Region, SuspensionChange, is_username,
};
pub use allowed_ips::{Allow, AllowedIp, Disallow};
pub use api_keys::{ApiKey, Granted, KeyKind, Maker, Regranted, Secret};
pub use arrivals::{ArrivalStage, Arriving, LostMail};
pub use attempts::{AccessRecord, Attempt};
pub use batches::{Batch, HoldError};
pub use bounced::{Bounced, DayBounces};
pub use credits::{Allowance, Credits, Frequency};
pub use dead_letters::{DeadLetter, DeadLetterFilter};
pub use domains::{Borrower, DkimKey, Domain, Lent, SenderAuthority};
pub use due::{Due, DueCursor, DuePage, DueTarget, GRACE, Minute, NEAR};
pub use embedded::{Embedded, TableResponse};
pub use erase::{Looked, Trace};
pub use error::StoreError;
pub use feedback::{FeedbackOutcome, FeedbackUpdate};
pub use forwards::ForwardTo;
pub use groups::{Group, GroupChange, GroupSaved};
pub use held::{HeldMessage, Released};
pub use idempotency::{Acquire, IdempotentRequest, KeyHold, PATIENCE, REMEMBERED};
pub use key::Key;
pub use messages::{Claim, Claimant, CopyState, Described, LONGEST_SUBJECT, Recipient};
pub use outcomes::AttemptOutcome;
pub use parse::ParseSetting;
pub use rates::RateWindow;
pub use reschedule::{MoveError, PendingRows};
pub use scheduled_mail::{BatchListing, Entries, Reach, ScheduledMail, ScheduledPart};
pub use search::{SearchStatus, Seek, Sought};
pub use senders::{Resaved, SenderFields, SenderLink, VerifiedSender};
pub use settings::{AccountSettings, BouncePurge, Forward, Landing, SpamCheck, Whitelist};
pub use slice::ResultPage;
pub use stats::{Added, DayStats, METRICS, Tally};
pub use suppressions::{
    DateWindow as ListWindow, Mark, Suppressed, SuppressedAddress, SuppressionList,
};
pub use system_mails::{
    Counted, CountedMail, SYSTEM_MAIL_PAUSE, SYSTEM_MAIL_PERIOD, SYSTEM_MAILS_PER_ACCOUNT,
    SYSTEM_MAILS_PER_ADDRESS, SystemMail,
};
pub use table::{PageQuery, Put, RowChange, Store, StoredRow};
pub use templates::{Placed, Template, Version, VersionTexts};
pub use transact::{Transact, Write};
pub use visits::{MOST_VISITS, Visit, VisitKind};
pub use webhooks::{CreateOutcome, Saved, Signing, Webhook};
