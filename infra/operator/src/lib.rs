//! The operator's commands: those of SendGrid's web application, and those reserved for the owner
//! of a stack.
//!
//! The binary `posthaste` opens the table (a local data folder, or a deployed one), passes it as
//! [`Tools`], and prints the [`Report`]. Nothing here prints or reads the clock.

mod access;
mod account;
mod account_lookup;
mod console;
mod create_account;
mod credits;
mod dead_jobs;
mod dead_letters;
mod dmarc;
mod erase;
mod explain;
mod key;
mod report;
mod ses;

use clap::Subcommand;
use posthaste_blob::Blob;
use posthaste_dns::Resolver;
use posthaste_erasure::OtherStore;
use posthaste_mailer::Ses;
use posthaste_model::{Clock, Entropy};
use posthaste_queue::{Bus, DeadJobs, Queue};
use posthaste_store::Store;

pub use account_lookup::find_account;
pub use explain::Explain;
pub use report::{CommandError, Report};

/// What the commands work with.
#[derive(Clone)]
pub struct Tools {
    pub store: Store,
    /// The store of large bodies, if it can be reached.
    pub blob: Option<Blob>,
    pub clock: Clock,
    pub entropy: Entropy,
    /// The queue of events for webhooks; without it webhooks are not notified.
    pub events: Option<Queue>,
    /// The queue of events to be posted again.
    pub retries: Option<Queue>,
    /// The jobs that were given up, where the queues store them: on a data folder.
    pub dead_jobs: Option<DeadJobs>,
    /// Where notices to the owner's other systems go.
    pub bus: Option<Bus>,
    /// The SES that mail leaves through, where it does.
    pub ses: Option<Ses>,
    /// Where records of domains are looked up, if the system names a name server.
    pub resolver: Option<Resolver>,
    /// What a local host stores of addresses beside the table and the bucket.
    pub elsewhere: Option<OtherStore>,
    /// The address at which browsers reach the service, if it is known.
    pub public_url: Option<String>,
}

/// What an operator can do to a table.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create, list, suspend, resume and delete accounts
    #[command(subcommand)]
    Account(account::Command),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(key::Command),
    /// Show an account's IP allow list, or clear it for an owner who is locked out
    #[command(subcommand)]
    Access(access::Command),
    /// Sign in to the web console
    #[command(subcommand)]
    Console(console::Command),
    /// How much an account may send
    #[command(subcommand)]
    Credits(credits::Command),
    /// Events that webhooks did not accept in time, and jobs that were given up
    #[command(subcommand)]
    DeadLetters(dead_letters::Command),
    /// Check SES before you send
    #[command(subcommand)]
    Ses(ses::Command),
}

/// Carries out a command.
///
/// # Errors
/// One clear line for the operator, with its exit code.
pub async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    match command {
        Command::Account(command) => account::run(command, tools).await,
        Command::Key(command) => key::run(command, tools).await,
        Command::Access(command) => access::run(command, tools).await,
        Command::Console(command) => console::run(command, tools).await,
        Command::Credits(command) => credits::run(command, tools).await,
        Command::DeadLetters(command) => dead_letters::run(command, tools).await,
        Command::Ses(command) => ses::run(command, tools).await,
    }
}
