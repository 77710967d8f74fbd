//! The types and rules of sending mail: which values are valid and what happens next.
//!
//! No input or output, no async, no clock: time and randomness are passed as arguments (see
//! [`Clock`] and [`Entropy`], which only `runtime` can create).

mod address;
pub mod batch;
pub mod breaker;
mod configuration_sets;
mod csv;
mod drop_reason;
mod entropy;
mod event;
mod fixed_outcome;
mod hostname;
mod ids;
mod net;
mod public_url;
mod request;
pub mod scope;
mod segment;
mod send;
mod settings;
mod submitted;
mod text;
mod time;
mod verp;

pub use address::{
    EmailAddress, InvalidAddress, LONGEST as LONGEST_ADDRESS, LONGEST_LOCAL, LONGEST_ON_THE_WIRE,
    Mailbox,
};
pub use configuration_sets::{ConfigurationSets, InvalidConfigurationSets};
pub use csv::csv_cell;
pub use drop_reason::DropReason;
pub use entropy::Entropy;
pub use event::{BounceType, Category, Classification, Event, EventKind, Pool, UrlOffset};
pub use fixed_outcome::FixedOutcome;
pub use hostname::{Hostname, InvalidHostname, LONGEST as LONGEST_HOSTNAME};
pub use ids::{
    AccountId, BatchId, DownloadId, ErasureId, InvalidId, KeyId, MessageId, PolicyId, ReplayId,
    TemplateId, VersionId, WebhookId,
};
pub use net::{Record, RecordKind, ip_prefix, is_server_name};
pub use public_url::{InvalidPublicUrl, LONGEST as LONGEST_PUBLIC_URL, PublicUrl};
pub use request::{Patch, Problem, Problems};
pub use segment::{ClientType, OTHER, Segment, Segmentation, is_machine};
pub use send::{
    Attachment, Content, Disposition, Mail, Personalization, RecipientCopy, Role, Span,
};
pub use settings::{
    AccountDefaults, Asm, ClickTracking, EnforcedTls, Footer, Ganalytics, MailSettings,
    OpenTracking, SubscriptionTracking, TlsVersion, Toggle, TrackingSettings, Wrapper,
};
pub use submitted::{Raw, Submitted};
pub use text::{Masked, causes, cut};
pub use time::{Clock, HORIZON, Millis, TIMESTAMP_MAX, Timestamp, TooFarAhead, due};
pub use verp::{InvalidVerp, LEAVE_MAILBOX, Verp};
