//! The only crate that knows DynamoDB: one table, keys, rows, conditions, paging, expiry.
//!
//! [`Store`] holds the primitives (`table.rs`); one file per family of rows adds the operations
//! its callers speak of. Locally the same SDK talks to an embedded DynamoDB.

mod accounts;
mod allowed_ips;
mod api_keys;
mod attempts;
mod credits;
mod error;
mod key;
mod messages;
mod rates;
mod table;
mod transact;

pub use accounts::{Account, Region, Status};
pub use allowed_ips::{Allow, AllowedIp, Disallow};
pub use api_keys::{ApiKey, Kind as KeyKind, Secret};
pub use attempts::{Attempt, Seen};
pub use credits::{Allowance, Credits, Frequency};
pub use error::StoreError;
pub use key::Key;
pub use messages::{Claim, Claimant, Described, Outcome, Recipient, State};
pub use rates::Window;
pub use table::{Change, Page, Put, Row, Store};
pub use transact::{Transact, Write};
