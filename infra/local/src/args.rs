//! The command line.

mod rates;
mod values;

use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use posthaste_mailer::RelayUrl;
use posthaste_model::{Hostname, PublicUrl};
use posthaste_operator::Explain;
use posthaste_spam::Filter;
use webhook_fanout::ReputationGuard;

use crate::args::rates::RateArgs;
use crate::args::values::{api_key, at_least_one, mailbox_login, mailbox_path, without_secret};
use crate::mailbox_login::MailboxLogin;
use crate::probe::HealthCheck;
use crate::turnable_clock::ClockStart;
use crate::{ExportCommand, ImportCommand, Operator};

/// A self-hosted email delivery service. Without a subcommand: run the whole of it here.
#[derive(Debug, Parser)]
#[command(name = "posthaste", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: Args,
}

/// What else the binary can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service on this machine (the same as no subcommand).
    Run(Box<Args>),
    /// Say what a refusal or a bounce means: its type, its class, and whether it suppresses the address.
    Explain(Explain),
    /// Ask the service on this machine whether it is well: exit code 0 and its answer, or 1.
    Health(HealthCheck),
    /// Print the completions of a shell: `posthaste completions bash > /etc/bash_completion.d/posthaste`.
    Completions {
        /// The shell that reads them
        shell: Shell,
    },
    /// Print the manual page: `posthaste man > posthaste.1`.
    Man,
    /// Take an account over from SendGrid, or from the folder of an export.
    Import(Box<ImportCommand>),
    /// Write an account down as JSON lines and CSV, in the fields of the API.
    Export(Box<ExportCommand>),
    #[command(flatten)]
    Operator(Box<Operator>),
}

/// The ports and their defaults.
pub(crate) const API_PORT: u16 = 3000;
pub(crate) const MAILBOX_PORT: u16 = 8025;
pub(crate) const INBOUND_PORT: u16 = 2525;
pub(crate) const SUBMISSION_PORT: u16 = 1587;
pub(crate) const NO_LOGIN_PORT: u16 = 1025;

/// Flags of the local host. Each has a variable, which the flag on the command line overrides.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Address to listen on; anything but loopback opens the service to your network
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        env = "POSTHASTE_HOST",
        hide_env_values = true
    )]
    pub host: IpAddr,
    /// Port of the API (0: any free one) [default: 3000, or the next free one]
    #[arg(
        long,
        value_name = "PORT",
        allow_negative_numbers = true,
        env = "POSTHASTE_PORT",
        hide_env_values = true
    )]
    pub port: Option<u16>,
    /// Port of the mailbox page and its REST calls [default: 8025, or the next free one]
    #[arg(
        long,
        value_name = "PORT",
        allow_negative_numbers = true,
        env = "POSTHASTE_MAILBOX_PORT",
        hide_env_values = true
    )]
    pub mailbox_port: Option<u16>,
    /// SMTP port for inbound mail [default: 2525, or the next free one]
    #[arg(
        long,
        value_name = "PORT",
        allow_negative_numbers = true,
        env = "POSTHASTE_SMTP_PORT",
        hide_env_values = true
    )]
    pub smtp_port: Option<u16>,
    /// SMTP port for submission: user name apikey, an API key as the password (STARTTLS with --tls-cert)
    /// [default: 1587, or the next free one]
    #[arg(
        long,
        value_name = "PORT",
        allow_negative_numbers = true,
        env = "POSTHASTE_SUBMISSION_PORT",
        hide_env_values = true
    )]
    pub submission_port: Option<u16>,
    /// SMTP port that accepts mail without a login, and with any [default: 1025, or the next free one; none where
    /// --host is not loopback, and with --relay]
    #[arg(
        long,
        value_name = "PORT",
        allow_negative_numbers = true,
        env = "POSTHASTE_NO_LOGIN_PORT",
        hide_env_values = true
    )]
    pub no_login_port: Option<u16>,
    /// Accept submitted mail from this machine on the submission port without a login
    #[arg(long, env = "POSTHASTE_SUBMISSION_OPEN", hide_env_values = true)]
    pub submission_open: bool,
    /// API key of the first account, in the form of every key: SG.ID.SECRET [default: a generated one]
    #[arg(long, value_name = "KEY", env = "POSTHASTE_API_KEY", hide_env_values = true, value_parser = api_key)]
    pub api_key: Option<String>,
    /// Accept any API key as the first account's
    #[arg(long, env = "POSTHASTE_ANY_KEY", hide_env_values = true)]
    pub any_key: bool,
    /// Allow --any-key and the port without a login although --host is not loopback
    #[arg(long, env = "POSTHASTE_OPEN_TO_NETWORK", hide_env_values = true)]
    pub open_to_network: bool,
    /// Allow --any-key and the port without a login although mail leaves by --relay
    #[arg(long, env = "POSTHASTE_OPEN_WITH_RELAY", hide_env_values = true)]
    pub open_with_relay: bool,
    /// Folder that stores accounts, queues and mails between runs
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".posthaste",
        env = "POSTHASTE_DATA",
        hide_env_values = true
    )]
    pub data: PathBuf,
    /// Store everything in memory and delete it at the end
    #[arg(
        long,
        conflicts_with = "data",
        env = "POSTHASTE_MEMORY",
        hide_env_values = true
    )]
    pub memory: bool,
    /// Serve the API and the submission port of a deployed stack, whose table, queues and bucket the environment names with
    /// the variables of its functions, instead of embedded parts
    #[arg(long, env = "POSTHASTE_AWS", hide_env_values = true, conflicts_with_all = [
        "data", "memory", "relay", "release_relay", "bounce_domain", "hostname", "public_url", "strict_senders",
        "no_inbound_dns", "spam_filter", "outgoing_spam_filter", "reputation_guard", "rate_limit", "rate_period", "search_days", "audit_days", "mailbox_port",
        "smtp_port", "submission_open", "allow_private_webhooks", "no_login_port", "api_key", "any_key",
        "open_to_network", "open_with_relay", "mailbox_host", "mailbox_login", "mailbox_path", "quiet", "clock", "seed",
    ])]
    pub aws: bool,
    /// Relay that mail leaves to: smtp://user:pass@host:port or smtps://…, and ?tls=required|opportunistic|none
    /// (default: an embedded one that only records)
    #[arg(
        long,
        value_name = "URL",
        env = "POSTHASTE_RELAY",
        hide_env_values = true
    )]
    pub relay: Option<RelayUrl>,
    /// Relay that the mailbox hands a recorded mail to when it is asked to release it [default: that of --relay, with
    /// --open-with-relay or --mailbox-login]
    #[arg(
        long,
        value_name = "URL",
        env = "POSTHASTE_RELEASE_RELAY",
        hide_env_values = true
    )]
    pub release_relay: Option<RelayUrl>,
    /// Domain of the envelope senders, so that bounces find their message; its MX must lead here
    /// (default: the sender's own address with --relay)
    #[arg(
        long,
        value_name = "DOMAIN",
        env = "POSTHASTE_BOUNCE_DOMAIN",
        hide_env_values = true
    )]
    pub bounce_domain: Option<Hostname>,
    /// Name of this host in Message-IDs and SMTP greetings
    #[arg(
        long,
        value_name = "NAME",
        default_value = "posthaste.localhost",
        env = "POSTHASTE_HOSTNAME",
        hide_env_values = true
    )]
    pub hostname: Hostname,
    /// Address under which recipients reach this host, for links and pixels (default: the API's own)
    #[arg(
        long,
        value_name = "URL",
        env = "POSTHASTE_PUBLIC_URL",
        hide_env_values = true
    )]
    pub public_url: Option<PublicUrl>,
    /// Certificate chain (PEM): the API then speaks HTTPS, which the Java client requires
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        env = "POSTHASTE_TLS_CERT",
        hide_env_values = true
    )]
    pub tls_cert: Option<PathBuf>,
    /// Private key (PEM) of the certificate
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        env = "POSTHASTE_TLS_KEY",
        hide_env_values = true
    )]
    pub tls_key: Option<PathBuf>,
    /// Only send from verified senders and authenticated domains, as on AWS
    #[arg(long, env = "POSTHASTE_STRICT_SENDERS", hide_env_values = true)]
    pub strict_senders: bool,
    /// Do not query the DNS about received mail, whose SPF and DKIM results are then none, and about recipients
    #[arg(long, env = "POSTHASTE_NO_INBOUND_DNS", hide_env_values = true)]
    pub no_inbound_dns: bool,
    /// Spam filter for received mail: `spamd://HOST[:783]`, `rspamd://HOST[:11333]`, or rspamd's own address
    /// as http://… or https://…; optionally with ?threshold=SCORE&timeout=SECONDS
    #[arg(
        long,
        value_name = "URL",
        env = "POSTHASTE_SPAM_FILTER",
        hide_env_values = true
    )]
    pub spam_filter: Option<Filter>,
    /// Spam filter for mail that leaves, named in the same way: above its threshold a copy is dropped as Spam
    /// Content
    #[arg(
        long,
        value_name = "URL",
        env = "POSTHASTE_OUTGOING_SPAM_FILTER",
        hide_env_values = true
    )]
    pub outgoing_spam_filter: Option<Filter>,
    /// Days for which mails can be searched (GET /v3/messages); 0 writes no rows for it
    #[arg(
        long,
        value_name = "N",
        default_value_t = 30,
        allow_negative_numbers = true,
        env = "POSTHASTE_SEARCH_DAYS",
        hide_env_values = true
    )]
    pub search_days: u16,
    /// Days for which the audit log of an account says who changed what; 0 writes none
    #[arg(
        long,
        value_name = "N",
        default_value_t = 365,
        allow_negative_numbers = true,
        env = "POSTHASTE_AUDIT_DAYS",
        hide_env_values = true
    )]
    pub audit_days: u16,
    /// What is done about an account of whose mails (1,000 in 24 hours) 10 % bounce or 0.5 % are reported as spam:
    /// `suspend`, `warn` or `off` [default: suspend with --relay, otherwise warn]
    #[arg(
        long,
        value_name = "ACTION",
        env = "POSTHASTE_REPUTATION_GUARD",
        hide_env_values = true
    )]
    pub reputation_guard: Option<ReputationGuard>,
    #[command(flatten)]
    pub(crate) rates: RateArgs,
    /// Open connections that one address may have to the API, and to the mailbox; raise it behind a
    /// reverse proxy, whose address all connections come from (IPv6: one /64)
    #[arg(
        long,
        value_name = "N",
        default_value = "64",
        allow_negative_numbers = true,
        env = "POSTHASTE_CONNECTIONS_PER_ADDRESS",
        hide_env_values = true,
        value_parser = at_least_one
    )]
    pub connections_per_address: NonZeroUsize,
    /// Post webhooks and received mail to private addresses too, such as those of other containers (loopback is
    /// allowed anyway while --host is loopback)
    #[arg(long, env = "POSTHASTE_ALLOW_PRIVATE_WEBHOOKS", hide_env_values = true)]
    pub allow_private_webhooks: bool,
    /// Host name under which the mailbox answers too, for a reverse proxy in front of it; may be repeated
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        env = "POSTHASTE_MAILBOX_HOST",
        hide_env_values = true
    )]
    pub mailbox_host: Vec<Hostname>,
    /// User name and password that the mailbox requires
    #[arg(long, value_name = "USER:PASSWORD", env = "POSTHASTE_MAILBOX_LOGIN", hide_env_values = true, value_parser = mailbox_login)]
    pub mailbox_login: Option<MailboxLogin>,
    /// Turn the clock by hand: POST /api/v1/clock on the mailbox's port advances it. It begins with the machine's clock
    /// and goes on with it, or begins at =INSTANT and stands still until it is advanced
    #[arg(
        long,
        value_name = "INSTANT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "now",
        requires = "memory",
        env = "POSTHASTE_CLOCK",
        hide_env_values = true
    )]
    pub clock: Option<ClockStart>,
    /// Make the same ids, boundaries, Message-IDs and keys in every run with this number
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        requires = "memory",
        env = "POSTHASTE_SEED",
        hide_env_values = true
    )]
    pub seed: Option<u64>,
    /// Path that the mailbox lies under, for a reverse proxy in front of it, whether that removes the path or not
    #[arg(long, value_name = "PATH", env = "POSTHASTE_MAILBOX_PATH", hide_env_values = true, value_parser = mailbox_path)]
    pub mailbox_path: Option<String>,
    /// Print no line for each request and each mail, only warnings and errors
    #[arg(long, env = "POSTHASTE_QUIET", hide_env_values = true)]
    pub quiet: bool,
    /// Print where everything listens as one JSON line, and errors as JSON
    #[arg(long, env = "POSTHASTE_JSON", hide_env_values = true)]
    pub json: bool,
}

impl Cli {
    /// Reads a command line, the name of the program first.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let read = Self::try_parse_from(line);
        read.map_err(|error| explained(without_secret(error)))
    }

    /// The completions of a shell, as its own script.
    pub fn completions(shell: Shell) -> Vec<u8> {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Self::command(), "posthaste", &mut script);
        script
    }

    /// The manual page, in roff: the flags of the host, and the names of the commands.
    pub fn manual() -> io::Result<Vec<u8>> {
        let mut page = Vec::new();
        clap_mangen::Man::new(Self::command()).render(&mut page)?;
        Ok(page)
    }
}

/// The error, with where flags belong: the commands take some that the host takes too.
fn explained(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if error.kind() != ErrorKind::ArgumentConflict {
        return error;
    }
    let flags = match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(flag)) => flag.clone(),
        Some(ContextValue::Strings(flags)) => flags.join(" "),
        _ => "[FLAGS]".to_owned(),
    };
    let tip = format!("flags follow the command: posthaste {command} … {flags}");
    let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.insert(ContextKind::Suggested, tips);
    error
}

#[cfg(test)]
mod tests;
