//! The operator's commands on a data folder, or on a deployed table with AWS credentials.
//!
//! Table and queues of a data folder belong to one process, which holds the folder's lock. A command opens them
//! itself, or has the host that runs on them carry it out (see `control`). What a command puts on a queue while no
//! host runs is handled at the next start. A deployed table can be worked on at any time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::Resettable;
use clap::{ArgMatches, Args as _, FromArgMatches, Subcommand};
use posthaste_blob::{Blob, BlobError};
use posthaste_dns::Resolver;
use posthaste_mailer::Ses;
use posthaste_operator::{CommandError, Report, Tools};
use posthaste_runtime::{ConfigError, Env, Platform};

use crate::control;
use crate::engine::{EVENTS, Engine, EngineError, RETRIES};
use crate::folder::{self, Folder, FolderError};
use crate::mailbox_feed::closed_mailbox;
use crate::table::{Table, TableError};

/// Where a command works, and how it answers.
#[derive(Clone, Debug, clap::Args)]
pub struct CommandContext {
    /// Data folder to work on; a host that runs on it carries the command out
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = ".posthaste",
        env = "POSTHASTE_DATA",
        hide_env_values = true
    )]
    pub(crate) data: PathBuf,
    /// Work on a deployed stack, with the AWS credentials and region of the environment
    #[arg(long, global = true)]
    pub(crate) aws: bool,
    /// Table of the deployed stack (default: `TABLE_NAME` of the environment)
    #[arg(long, global = true, value_name = "NAME", requires = "aws")]
    pub(crate) table: Option<String>,
    /// URL of its events queue, so that webhooks receive the change (default: `EVENTS_QUEUE_URL`)
    #[arg(long, global = true, value_name = "URL", requires = "aws")]
    events_queue: Option<String>,
    /// URL of its queue of undelivered events, to replay them (default: `RETRIES_QUEUE_URL`)
    #[arg(long, global = true, value_name = "URL", requires = "aws")]
    retries_queue: Option<String>,
    /// Its bucket, to erase bodies of mails (default: `BUCKET_NAME`)
    #[arg(long, global = true, value_name = "NAME", requires = "aws")]
    bucket: Option<String>,
    /// Its event bus, for notices to your other systems (default: `BUS_NAME`)
    #[arg(long, global = true, value_name = "NAME", requires = "aws")]
    bus: Option<String>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The end of the help of every command.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 done, 1 the table or a queue failed, 2 wrong command line, \
    3 nothing of that name exists, 4 the present state does not allow it";

/// A command with the flags of [`CommandContext`], and with its own help: clap's derive would put the first
/// line of the flags' documentation in its place.
fn with_place(command: clap::Command) -> clap::Command {
    let short = Resettable::from(command.get_about().cloned());
    let long = Resettable::from(command.get_long_about().cloned());
    CommandContext::augment_args(command)
        .about(short)
        .long_about(long)
}

/// A command and those below it, with the exit codes in their help.
fn explained(command: clap::Command) -> clap::Command {
    let below = command.get_subcommands();
    let below: Vec<String> = below.map(|one| one.get_name().to_owned()).collect();
    below
        .into_iter()
        .fold(command.after_help(EXIT_CODES), |command, name| {
            command.mut_subcommand(name, explained)
        })
}

/// One of the operator's commands, with where it works.
#[derive(Debug)]
pub struct Operator {
    place: CommandContext,
    command: posthaste_operator::Command,
}

impl FromArgMatches for Operator {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (_, of_command) = matches.subcommand().ok_or_else(|| {
            clap::Error::new(clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
        })?;
        Ok(Self {
            place: CommandContext::from_arg_matches(of_command)?,
            command: posthaste_operator::Command::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The commands of the operator's room, each with the flags of [`CommandContext`].
impl Subcommand for Operator {
    fn augment_subcommands(line: clap::Command) -> clap::Command {
        let commands = posthaste_operator::Command::augment_subcommands(clap::Command::new(""));
        let placed = commands.get_subcommands().cloned().map(with_place);
        line.subcommands(placed.map(explained))
    }

    fn augment_subcommands_for_update(line: clap::Command) -> clap::Command {
        Self::augment_subcommands(line)
    }

    fn has_subcommand(name: &str) -> bool {
        posthaste_operator::Command::has_subcommand(name)
    }
}

/// Why a command could not even begin, or what it failed with.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    #[error("there is no data folder {0}: name one with --data, or a deployed table with --aws")]
    NoFolder(PathBuf),
    #[error("{0}, and it does not answer: a data folder belongs to one process, so stop it first")]
    Running(FolderError),
    /// The failure of a command that the running host carried out, with its exit code.
    #[error("{0}")]
    InHost(String, u8),
    #[error(transparent)]
    Folder(FolderError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Queues(#[from] EngineError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error("{0}")]
    Setting(String),
    #[error("{0}")]
    Stack(String),
    #[error(transparent)]
    Failed(#[from] CommandError),
}

/// Flags that stand for a variable.
const FLAGS: [(&str, &str); 5] = [
    ("TABLE_NAME", "--table"),
    ("EVENTS_QUEUE_URL", "--events-queue"),
    ("RETRIES_QUEUE_URL", "--retries-queue"),
    ("BUS_NAME", "--bus"),
    ("BUCKET_NAME", "--bucket"),
];

impl From<ConfigError> for OperatorError {
    fn from(error: ConfigError) -> Self {
        let flag = |name: &str| {
            let known = FLAGS.iter().find(|(variable, _)| *variable == name);
            known.map(|(_, flag)| *flag)
        };
        Self::Setting(match &error {
            ConfigError::Missing(name) if name == "AWS_REGION" => {
                "no region is named: set AWS_REGION, or a profile that has one".to_owned()
            }
            ConfigError::Missing(name) => match flag(name) {
                Some(flag) => format!("nothing is named by {flag}, nor by the variable {name}"),
                None => error.to_string(),
            },
            ConfigError::Unreadable(name, why) => match flag(name) {
                Some(flag) => format!("{flag}, or the variable {name}, is not readable: {why}"),
                None => error.to_string(),
            },
        })
    }
}

impl From<FolderError> for OperatorError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Locked(_) => Self::Running(error),
            _ => Self::Folder(error),
        }
    }
}

impl OperatorError {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Setting(_)
            | Self::Folder(
                FolderError::Unusable(..) | FolderError::NoFolder(..) | FolderError::DeadLink(..),
            ) => 2,
            Self::NoFolder(_) => 3,
            Self::Running(_)
            | Self::Folder(_)
            | Self::Table(TableError::Damaged(_) | TableError::Row(..))
            | Self::Queues(EngineError::Damaged(_) | EngineError::Newer(_)) => 4,
            Self::Table(_) | Self::Queues(_) | Self::Blobs(_) | Self::Stack(_) => 1,
            Self::Failed(failure) => failure.exit_code(),
            Self::InHost(_, code) => *code,
        }
    }
}

impl Operator {
    /// Carries the command out and gives back what to print. `line` is the command line that it was read from: a
    /// host that runs on the data folder is given it instead.
    pub async fn run(&self, line: &[OsString]) -> Result<String, OperatorError> {
        if self.place.aws {
            return Ok(self.deployed().await?.print(self.place.json));
        }
        let data = &self.place.data;
        let folder = match open(data) {
            Err(running @ OperatorError::Running(_)) => {
                let Ok(reply) = control::ask(data, line).await else {
                    return Err(running);
                };
                return match reply.code {
                    0 => Ok(reply.text),
                    code => Err(OperatorError::InHost(reply.text, code)),
                };
            }
            other => other?,
        };
        Ok(self.local(folder).await?.print(self.place.json))
    }

    /// Carries the command out with these tools and gives back what to print.
    pub(crate) async fn on(&self, tools: &Tools) -> Result<String, OperatorError> {
        let report = posthaste_operator::run(&self.command, tools).await?;
        Ok(report.print(self.place.json))
    }

    /// Whether answers and errors are JSON.
    pub fn is_json(&self) -> bool {
        self.place.json
    }

    async fn deployed(&self) -> Result<Report, OperatorError> {
        let place = self.place.clone();
        let environment = posthaste_runtime::variables();
        let named = move |name: &str| {
            let flag = match name {
                "TABLE_NAME" => place.table.clone(),
                "EVENTS_QUEUE_URL" => place.events_queue.clone(),
                "RETRIES_QUEUE_URL" => place.retries_queue.clone(),
                "BUS_NAME" => place.bus.clone(),
                "BUCKET_NAME" => place.bucket.clone(),
                _ => None,
            };
            flag.or_else(|| environment.get(name))
        };
        let platform = Platform::host(Env::new(named)).await;
        let is_named = |name: &str| platform.env().get(name).is_some();
        let queue = |name: &str| is_named(name).then(|| platform.queue(name)).transpose();
        let tools = Tools {
            store: platform.store()?,
            blob: is_named("BUCKET_NAME")
                .then(|| platform.blob())
                .transpose()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            events: queue("EVENTS_QUEUE_URL")?,
            retries: queue("RETRIES_QUEUE_URL")?,
            dead_jobs: None,
            bus: is_named("BUS_NAME").then(|| platform.bus()).transpose()?,
            ses: Some(Ses::new(platform.aws("--aws")?, None)),
            resolver: Resolver::system().ok(),
            elsewhere: None,
            public_url: platform.env().get("PUBLIC_URL"),
        };
        let done = posthaste_operator::run(&self.command, &tools).await;
        let table = platform.env().get("TABLE_NAME").unwrap_or_default();
        done.map_err(|error| of_stack(error, &table))
    }

    async fn local(&self, folder: Folder) -> Result<Report, OperatorError> {
        let clock = posthaste_runtime::clock();
        let table = Table::start(Some(&folder.path("table.db"))).await?;
        let table = table.with_clock(clock.clone());
        let engine = Engine::start(Some(&folder.path("queue.db")), clock.clone())?;
        let blobs = folder.blobs(&table.store).await;
        let damaged = || table.explain(None).map(OperatorError::from);
        let blobs = blobs.map_err(|error| damaged().unwrap_or_else(|| error.into()))?;
        let blob = Blob::folder(&blobs)?;
        folder.note_parts()?;
        let tools = Tools {
            store: table.store.clone(),
            blob: Some(blob),
            clock: clock.clone(),
            entropy: posthaste_runtime::entropy(),
            events: Some(engine.queue(EVENTS)),
            retries: Some(engine.queue(RETRIES)),
            dead_jobs: Some(engine.dead_jobs()),
            bus: None,
            ses: None,
            resolver: None,
            elsewhere: Some(closed_mailbox(folder.path(""), clock.clone())),
            public_url: None,
        };
        let done = posthaste_operator::run(&self.command, &tools).await;
        let done = done.map_err(|error| {
            let of_table = match &error {
                CommandError::Store(error) => Some(error),
                _ => None,
            };
            // A row that is damaged says nothing about another error.
            let found = of_table.and_then(|_| table.explain(of_table));
            found.map_or_else(|| error.into(), OperatorError::from)
        });
        drop(tools);
        let stopped = tokio::task::spawn_blocking(move || engine.stop());
        // Every answer followed its commit: an engine that does not end loses nothing.
        let _ = tokio::time::timeout(Duration::from_secs(10), stopped).await;
        table.stop().await;
        done
    }
}

/// A failure of a deployed stack; where a flag or a variable mends it, with its name.
pub(crate) fn of_stack(error: CommandError, table: &str) -> OperatorError {
    let text = error.to_string();
    if text.contains("ResourceNotFound") {
        return OperatorError::Stack(format!(
            "there is no table {table} in this account and region: name it with --table, and its region with \
             AWS_REGION"
        ));
    }
    // The rest is what each of the SDK's places to look said: that it has none, or why it does not answer.
    if text.contains("no credentials found") || text.contains("loading credentials") {
        let why = "no AWS credentials are found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        return OperatorError::Stack(why.to_owned());
    }
    error.into()
}

/// Opens the data folder of a command.
pub(crate) fn open(data: &Path) -> Result<Folder, OperatorError> {
    // A wrong name must not leave an empty service behind.
    if !data.is_dir() {
        folder::check_path(data)?;
        return Err(OperatorError::NoFolder(data.to_owned()));
    }
    Ok(Folder::open(data)?)
}

#[cfg(test)]
mod tests;
