//! The mailbox of the local host: stores mails from the recording relay, shows them on a page and
//! answers the Mailpit REST calls.
//!
//! It is for a single user's machine: no login, loopback by default, limited in number and in
//! bytes. Every mail is treated as hostile: its content reaches the page only as text, and its HTML
//! only inside a frame that has neither scripts nor an origin.

mod address;
mod api;
mod download;
mod entry;
mod envelope;
mod error;
mod events;
mod file;
mod frame;
mod guard;
mod headers;
mod html_to_text;
mod live;
mod mailbox;
mod message;
mod offload;
mod page;
mod params;
mod parse;
mod parts;
mod query;
mod reader;
mod refusal;
mod routes;
mod rows;
mod sources;
mod sql;
mod store;
mod unsubscribe;
mod view;

pub use address::ApiAddress;
pub use envelope::StoredEnvelope;
pub use error::Error;
pub use mailbox::{DEFAULT_LIMIT, LARGEST_STORE, Mailbox, MailboxLimits};
pub use offload::Observer;
pub use rows::Summary;
pub use sources::{Lookup, Sources, Trace};
