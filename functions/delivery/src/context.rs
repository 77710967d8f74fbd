//! What all copies of a job share.

use posthaste_model::Mail;
use posthaste_queue::Job;
use posthaste_render::Effective;
use posthaste_store::AccountSettings;

use crate::links::MailLinks;

/// The duration of a claim in seconds: longer than the longest hand-over can take
/// (`posthaste_mailer::Timeouts::total`) and what comes before it.
pub(crate) const LEASE: i64 = 900;

/// What all copies of a job share.
#[derive(Clone, Copy)]
pub(crate) struct JobContext<'a> {
    pub(crate) job: &'a Job,
    pub(crate) mail: &'a Mail,
    /// The settings of the account.
    pub(crate) settings: &'a AccountSettings,
    /// The settings that apply to this mail.
    pub(crate) effective: &'a Effective,
    pub(crate) links: &'a MailLinks,
}
