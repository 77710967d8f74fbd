//! The command line.

use std::ffi::OsString;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use posthaste_mailer::RelayUrl;
use posthaste_model::{Hostname, PublicUrl};
use posthaste_operator::Explain;
use posthaste_spam::Filter;

use crate::Operator;

/// A self-hosted email delivery service. Without a subcommand: run the whole of it here.
#[derive(Debug, Parser)]
#[command(
    name = "posthaste",
    version,
    about,
    args_conflicts_with_subcommands = true
)]
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
    #[command(flatten)]
    Operator(Box<Operator>),
}

/// Flags of the local host.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Address to listen on; anything but loopback opens the service to your network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port of the API (0: any free one)
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 3000,
        allow_negative_numbers = true
    )]
    pub port: u16,
    /// Port of the mailbox page and its REST calls
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 8025,
        allow_negative_numbers = true
    )]
    pub mailbox_port: u16,
    /// SMTP port for inbound mail
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 2525,
        allow_negative_numbers = true
    )]
    pub smtp_port: u16,
    /// SMTP port for submission: user name apikey, an API key as the password (STARTTLS with --tls-cert)
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 1587,
        allow_negative_numbers = true
    )]
    pub submission_port: u16,
    /// Take submitted mail from this machine without a login
    #[arg(long)]
    pub submission_open: bool,
    /// Folder that keeps accounts, queues and mails between runs
    #[arg(long, value_name = "DIR", default_value = ".posthaste")]
    pub data: PathBuf,
    /// Keep everything in memory and forget it at the end
    #[arg(long, conflicts_with = "data")]
    pub memory: bool,
    /// Serve the API and the submission port of a deployed stack, whose table, queues and bucket the environment names with
    /// the variables of its functions, instead of embedded parts
    #[arg(long, conflicts_with_all = [
        "data", "memory", "relay", "bounce_domain", "hostname", "public_url", "strict_senders",
        "no_inbound_dns", "spam_filter", "outgoing_spam_filter", "rate_limit", "search_days", "mailbox_port",
        "smtp_port", "submission_open", "allow_private_webhooks",
    ])]
    pub aws: bool,
    /// Relay that mail leaves to: smtp://user:pass@host:port or smtps://…, and ?tls=required|opportunistic|none
    /// (default: an embedded one that only records)
    #[arg(long, value_name = "URL")]
    pub relay: Option<RelayUrl>,
    /// Domain of the envelope senders, so that bounces find their message; its MX must lead here
    /// (default: the sender's own address with --relay)
    #[arg(long, value_name = "DOMAIN")]
    pub bounce_domain: Option<Hostname>,
    /// Name this host goes by in Message-IDs and SMTP greetings
    #[arg(long, value_name = "NAME", default_value = "posthaste.localhost")]
    pub hostname: Hostname,
    /// Address under which recipients reach this host, for links and pixels (default: the API's own)
    #[arg(long, value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// Certificate chain (PEM): the API then speaks HTTPS, which the Java client insists on
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key (PEM) of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Only send from verified senders and authenticated domains, as on AWS
    #[arg(long)]
    pub strict_senders: bool,
    /// Ask no DNS about received mail: its SPF and DKIM results are then none
    #[arg(long)]
    pub no_inbound_dns: bool,
    /// Spam filter for received mail: `spamd://HOST[:783]`, `rspamd://HOST[:11333]`, or rspamd's own address
    /// as http://… or https://…; perhaps with ?threshold=SCORE&timeout=SECONDS
    #[arg(long, value_name = "URL")]
    pub spam_filter: Option<Filter>,
    /// Spam filter for what leaves, named in the same way: past its threshold a copy is dropped as Spam
    /// Content
    #[arg(long, value_name = "URL")]
    pub outgoing_spam_filter: Option<Filter>,
    /// Days for which mails can be searched (GET /v3/messages); 0 writes no rows for it
    #[arg(
        long,
        value_name = "N",
        default_value_t = 30,
        allow_negative_numbers = true
    )]
    pub search_days: u16,
    /// Requests an account may make to one endpoint in a minute (mail/send has its own)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 600,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub rate_limit: u32,
    /// Open connections that one address may have to the API, and to the mailbox; raise it behind a
    /// reverse proxy, whose address all connections come from (IPv6: one /64)
    #[arg(
        long,
        value_name = "N",
        default_value = "64",
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub connections_per_address: NonZeroUsize,
    /// Post webhooks and received mail to loopback and private addresses too (loopback is allowed
    /// anyway while --host is loopback)
    #[arg(long)]
    pub allow_private_webhooks: bool,
}

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().and_then(NonZeroUsize::new);
    number.ok_or_else(|| "it is a number of at least 1".to_owned())
}

impl Cli {
    /// Reads a command line, the name of the program first.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::try_parse_from(line).map_err(explained)
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
    let tip = format!("flags stand behind the command: posthaste {command} … {flags}");
    let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.insert(ContextKind::Suggested, tips);
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        let line = line.split(' ').map(OsString::from);
        let error = Cli::read(line).expect_err("a wrong line");
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    #[test]
    fn a_flag_in_front_of_a_command_is_told_its_place() {
        for (line, tip) in [
            (
                "posthaste --data D account list",
                "posthaste account … --data <DIR>",
            ),
            (
                "posthaste --port 1 --data D run",
                "posthaste run … --port <PORT> --data <DIR>",
            ),
        ] {
            let said = refused(line);
            assert!(said.contains(tip), "{said}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_told_about_as_a_value() {
        for (line, why) in [
            ("--connections-per-address 0", "a number of at least 1"),
            ("--connections-per-address -1", "a number of at least 1"),
            ("--rate-limit -1", "-1 is not in 1.."),
            ("--search-days -1", "-1 is not in 0..=65535"),
            ("--port -1", "-1 is not in 0..=65535"),
            ("--submission-port 65536", "65536 is not in 0..=65535"),
            ("dead-letters list ann --since x", "invalid value 'x'"),
            ("credits set ann -1", "-1 is not in 1.."),
        ] {
            let said = refused(&format!("posthaste {line}"));
            assert!(said.contains(why), "{line}: {said}");
        }
    }
}
