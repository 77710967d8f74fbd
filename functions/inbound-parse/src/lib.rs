//! A received mail becomes a POST (SPEC.md, "Inbound parse"; API facts, section 4).
//!
//! Mail comes in through [`accept`]: from the SMTP port of the local host, or from a notice of
//! SES. Each recipient of a configured hostname becomes one job, whose raw mail lies in `blob`.
//! The worker posts it, tries again for 72 hours, and keeps what nobody took for a replay.
//!
//! Every job may run twice: each attempt is claimed first, and the id of a mail is a hash of its
//! envelope and bytes, so a mail that is handed in twice is posted once. Without a Message-ID the
//! bytes do not tell a retry from a second mail that reads the same: [`accept`] says what does.

mod accept;
mod app;
mod judge;
mod notice;
mod post;
mod work;

pub use accept::{ArrivedMail, RETRY_WINDOW, Unaccepted, accept, receiver};
pub use app::App;
pub use work::handle;
