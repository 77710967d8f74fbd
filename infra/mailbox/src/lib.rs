//! The mailbox of the local host: stores mails from the recording relay, shows them on a page and
//! answers the Mailpit REST calls. The page also lists every copy that ended without a mail, or has yet
//! to leave.
//!
//! It is for a single user's machine: no login, loopback by default, limited in number and in
//! bytes. Every mail is treated as hostile: its content reaches the page only as text, and its HTML
//! only inside a frame that has neither scripts nor an origin.

mod api;
mod app;
mod chaos;
mod copies;
mod database;
mod digest;
mod download;
mod events;
mod events_socket;
mod extract;
mod frame;
mod guard;
mod html_check;
mod link_check;
mod list;
mod look;
mod mail;
mod mailbox;
mod message;
mod operations;
mod page;
mod params;
mod query;
mod reader;
mod routes;
mod rows;
mod schedule;
mod store;
mod swagger;
mod tags;
mod thumbnail;
mod wait;

use std::path::PathBuf;

pub use chaos::{Chaos, ChaosStep};
pub use copies::{CopyEvent, DeliveryStatus};
pub use events::{Lookup, PostAgain, PostSpan, Release, ReleasedMail, Sources, Trace};
pub use mailbox::{AcceptedCopy, AcceptedMail, Mailbox, Observer};
pub use rows::{ApiAddress, StoredEnvelope, Summary};
pub use schedule::{ScheduleChange, ScheduleControl, WaitingPart, WaitingState};
pub use store::{DEFAULT_LIMIT, LARGEST_STORE, MailboxLimits};

/// A failure of the mailbox's own file; the content of a mail never causes one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be made or its file not opened.
    #[error("the mailbox file {path} cannot be opened: {cause}")]
    Open { path: PathBuf, cause: String },
    /// The file has an unknown version.
    #[error(
        "the mailbox file {path} was written by another version; delete it to start with an empty one"
    )]
    Version { path: PathBuf },
    /// The mail alone exceeds the capacity of the mailbox.
    #[error("a mail of {size} bytes does not fit into a mailbox of {most}")]
    TooLarge { size: u64, most: u64 },
    /// The store under the mailbox failed.
    #[error("the mailbox cannot be read or written: {0}")]
    Store(String),
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Store(cause.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(cause: serde_json::Error) -> Self {
        Self::Store(cause.to_string())
    }
}
