//! Posts received mails to webhooks (SPEC.md, "Inbound parse"; API facts, section 4).
//!
//! Mail arrives through [`accept`]: from the SMTP port of the local host, or from a notice of SES.
//! Each recipient of a configured hostname becomes one job, whose raw mail is in `blob`. The worker
//! posts it, retries for 72 hours, and stores undelivered mail for a replay.
//!
//! Every job may run twice: each attempt is claimed first, and the id of a mail is a hash of its
//! envelope and bytes, so a mail that is submitted twice is posted once. Without a Message-ID the
//! bytes do not distinguish a retry from a second mail with the same text: see [`accept`].

mod accept;
mod app;
mod checks;
mod notice;
mod post;
mod work;

pub use accept::{ArrivedMail, MailFate, RETRY_WINDOW, accept, receiver};
pub use app::{App, SenderChecks};
pub use work::handle;
