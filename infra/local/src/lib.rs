//! The local host: every router and every worker in one process, on embedded parts.
//!
//! It adds no behaviour of its own. The table is an embedded DynamoDB reached through the same SDK
//! as in the cloud; the queues are durable and hand workers real SQS events; mail leaves by real
//! SMTP, by default to a recording relay whose mails the mailbox page shows.

mod api;
mod args;
mod aws;
pub mod certificates;
mod clock_routes;
mod commands;
mod console;
mod control;
mod damage;
mod engine;
mod first;
mod folder;
pub mod functions;
pub mod greeting;
mod health;
mod host;
mod inbound;
mod mailbox_feed;
mod mailbox_login;
mod mailbox_page;
mod open_flags;
mod operator;
mod platform;
mod poll;
mod probe;
mod relay;
mod serve;
mod sources;
mod start;
mod start_error;
mod table;
mod transfer;
mod transfer_line;
mod turnable_clock;
mod workers;

pub use args::{Args, Cli, Command};
pub use aws::{ApiServer, AwsError};
pub use certificates::TlsError;
pub use engine::{Engine, EngineError};
pub use folder::FolderError;
pub use host::Host;
pub use mailbox_login::MailboxLogin;
pub use open_flags::UnsafeFlags;
pub use operator::{CommandContext, Operator, OperatorError};
pub use probe::{HealthCheck, HealthError};
pub use serve::HttpLimits;
pub use start::{DnsSettings, HostSettings};
pub use start_error::StartError;
pub use table::TableFaults;
pub use transfer::TransferFailure;
pub use transfer_line::{ExportCommand, ImportCommand, TransferCommand};
pub use turnable_clock::{ClockStart, TurnableClock};
