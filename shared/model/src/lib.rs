//! The types and rules of sending mail: which values are valid and what happens next.
//!
//! No input or output, no async, no clock: time and randomness are passed as arguments (see
//! [`Clock`] and [`Entropy`], which only `runtime` can create).

mod address;
pub mod batch;
pub mod breaker;
mod defaults;
mod entropy;
mod event;
mod hostname;
mod ids;
mod network;
mod notice;
mod patch;
mod problems;
mod public_url;
pub mod scope;
mod send;
mod submitted;
mod texts;
mod time;
mod verp;

pub use address::{
    EmailAddress, InvalidAddress, LONGEST as LONGEST_ADDRESS, LONGEST_ON_THE_WIRE, Mailbox,
};
pub use defaults::{AccountDefaults, Wrapper};
pub use entropy::Entropy;
pub use event::{BounceType, Category, Event, EventKind, Pool, UrlOffset};
pub use hostname::{Hostname, InvalidHostname, LONGEST as LONGEST_HOSTNAME};
pub use ids::{AccountId, BatchId, InvalidId, KeyId, MessageId, TemplateId, VersionId, WebhookId};
pub use network::{Record, RecordKind, ip_prefix, is_server_name};
pub use patch::Patch;
pub use problems::{Problem, Problems};
pub use public_url::{InvalidPublicUrl, LONGEST as LONGEST_PUBLIC_URL, PublicUrl};
pub use send::{
    Asm, Attachment, ClickTracking, Content, Disposition, Footer, Ganalytics, Mail, MailSettings,
    OpenTracking, Personalization, RecipientCopy, Role, Span, SubscriptionTracking, Toggle,
    TrackingSettings,
};
pub use submitted::{Raw, Submitted};
pub use texts::{Masked, causes, cut};
pub use time::{Clock, HORIZON, Millis, TIMESTAMP_MAX, Timestamp, TooFarAhead, due};
pub use verp::{InvalidVerp, LEAVE_MAILBOX, Verp};
