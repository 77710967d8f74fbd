//! Processes feedback about sent mail: SES events, bounces and complaints by mail.
//!
//! Four kinds of messages arrive on one queue: events that SES publishes through SNS,
//! SES's notices of mail received for the bounce domain, mails that the local host accepted for
//! it, and questions of the sweep about copies of which SES said nothing. Each concerns one copy, named by the message tags or by the envelope sender
//! (`posthaste_model::Verp`), and becomes an event of the v3 API and an entry in the suppression
//! lists.
//!
//! Every message may be delivered twice: feedback about a copy is written to its row once, and only
//! the run that wrote it queues the event. This component never sends mail, so no report is
//! answered.

mod accept;
mod app;
mod ask;
mod classify;
mod feedback;
mod leave;
mod mail;
mod record;
mod sending_status;
mod ses;
mod work;

pub use accept::{accept, wants};
pub use app::App;
pub use mail::{ExplainedMail, explain};
pub use work::handle;
