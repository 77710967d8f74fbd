//! What the host is started with: the command line in `main`, chosen values in tests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use posthaste_http::Limits;
use posthaste_identity::Zone;
use posthaste_mailer::RelayUrl;
use posthaste_model::{Clock, Entropy, HORIZON, Hostname, PublicUrl};
use posthaste_spam::Filter;

use crate::Args;

/// Who is asked for the DNS records of those whose mail comes in (SPF, DKIM).
#[derive(Clone, Debug)]
pub enum Dns {
    /// The system's own name servers.
    System,
    /// Nobody: what cannot be checked is `none`.
    Nobody,
    /// For tests.
    Zone(Arc<Zone>),
}

/// Everything the host is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    pub api: SocketAddr,
    pub mailbox: SocketAddr,
    pub smtp: SocketAddr,
    /// The port for submission.
    pub submission: SocketAddr,
    /// Whether this machine may submit without a login.
    pub submission_open: bool,
    /// Nothing: everything in memory.
    pub data: Option<PathBuf>,
    pub relay: Option<RelayUrl>,
    pub bounce_domain: Option<Hostname>,
    pub hostname: Hostname,
    pub public_url: Option<PublicUrl>,
    /// Certificate and key.
    pub tls: Option<(PathBuf, PathBuf)>,
    pub strict_senders: bool,
    /// Who is asked about the senders of received mail.
    pub inbound_dns: Dns,
    /// Asked about received mail where a parse setting wants it.
    pub spam_filter: Option<Filter>,
    /// Asked about every mail before it leaves.
    pub outgoing_spam_filter: Option<Filter>,
    /// Days for which mails can be searched; 0: not at all.
    pub search_days: u16,
    pub limits: Limits,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl Settings {
    /// The settings of a command line.
    pub fn from_args(args: &Args, clock: Clock, entropy: Entropy) -> Self {
        let at = |port| SocketAddr::new(args.host, port);
        let limits = Limits {
            requests: args.rate_limit,
            ..Limits::default()
        };
        Self {
            api: at(args.port),
            mailbox: at(args.mailbox_port),
            smtp: at(args.smtp_port),
            submission: at(args.submission_port),
            submission_open: args.submission_open,
            data: (!args.memory).then(|| args.data.clone()),
            relay: args.relay.clone(),
            bounce_domain: args.bounce_domain.clone(),
            hostname: args.hostname.clone(),
            public_url: args.public_url.clone(),
            tls: args.tls_cert.clone().zip(args.tls_key.clone()),
            strict_senders: args.strict_senders,
            inbound_dns: match args.no_inbound_dns {
                true => Dns::Nobody,
                false => Dns::System,
            },
            spam_filter: args.spam_filter.clone(),
            outgoing_spam_filter: args.outgoing_spam_filter.clone(),
            search_days: args.search_days,
            limits,
            horizon: HORIZON,
            clock,
            entropy,
        }
    }

    /// Whether links in mail lead to an address that was chosen to listen on rather than for
    /// recipients to open. On loopback that is meant: mail stays on this machine.
    pub fn links_lead_nowhere(&self) -> bool {
        self.public_url.is_none() && !self.api.ip().to_canonical().is_loopback()
    }

    /// Free ports, nothing on disk, no DNS asked about received mail: for tests.
    pub fn in_memory(clock: Clock, entropy: Entropy) -> Self {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        Self {
            api: free,
            mailbox: free,
            smtp: free,
            submission: free,
            submission_open: false,
            data: None,
            relay: None,
            bounce_domain: None,
            hostname: Hostname::posthaste_localhost(),
            public_url: None,
            tls: None,
            strict_senders: false,
            inbound_dns: Dns::Nobody,
            spam_filter: None,
            outgoing_spam_filter: None,
            search_days: 30,
            limits: Limits::default(),
            horizon: HORIZON,
            clock,
            entropy,
        }
    }
}
