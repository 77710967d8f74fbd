//! The host's settings: from the command line in `main`, chosen values in tests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use posthaste_http::RateLimits;
use posthaste_identity::Zone;
use posthaste_mailer::RelayUrl;
use posthaste_model::{Clock, Entropy, HORIZON, Hostname, PublicUrl};
use posthaste_spam::Filter;
use posthaste_webhook::Guard;

use crate::Args;
use crate::serve::HttpLimits;

/// The resolver for the DNS records of external senders (SPF, DKIM).
#[derive(Clone, Debug)]
pub enum DnsSettings {
    /// The system's own name servers.
    System,
    /// None: what cannot be checked is `none`.
    Nobody,
    /// For tests.
    Zone(Arc<Zone>),
}

/// The settings of a host.
#[derive(Clone, Debug)]
pub struct HostSettings {
    pub api: SocketAddr,
    pub mailbox: SocketAddr,
    pub smtp: SocketAddr,
    /// The port for submission.
    pub submission: SocketAddr,
    /// Whether this machine may submit without a login.
    pub submission_open: bool,
    /// `None`: everything in memory.
    pub data: Option<PathBuf>,
    pub relay: Option<RelayUrl>,
    pub bounce_domain: Option<Hostname>,
    pub hostname: Hostname,
    pub public_url: Option<PublicUrl>,
    /// Certificate and key.
    pub tls: Option<(PathBuf, PathBuf)>,
    pub strict_senders: bool,
    /// The resolver for checks of the senders of received mail.
    pub inbound_dns: DnsSettings,
    /// Scores received mail where a parse setting enables it.
    pub spam_filter: Option<Filter>,
    /// Scores every mail before it leaves.
    pub outgoing_spam_filter: Option<Filter>,
    /// Days for which mails can be searched; 0: not at all.
    pub search_days: u16,
    pub limits: RateLimits,
    /// Of the API and of the mailbox each.
    pub http: HttpLimits,
    /// Whether webhooks and received mail may be posted to private addresses.
    pub allow_private_webhooks: bool,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl HostSettings {
    /// The settings of a command line.
    pub fn from_args(args: &Args, clock: Clock, entropy: Entropy) -> Self {
        let at = |port| SocketAddr::new(args.host, port);
        let limits = RateLimits {
            requests: args.rate_limit,
            ..RateLimits::default()
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
                true => DnsSettings::Nobody,
                false => DnsSettings::System,
            },
            spam_filter: args.spam_filter.clone(),
            outgoing_spam_filter: args.outgoing_spam_filter.clone(),
            search_days: args.search_days,
            limits,
            http: HttpLimits::default()
                .with_connections_per_client(args.connections_per_address.get()),
            allow_private_webhooks: args.allow_private_webhooks,
            horizon: HORIZON,
            clock,
            entropy,
        }
    }

    /// Whether links in mail use the listening address, which recipients may be unable to open. On
    /// loopback that is intended while mail stays on this machine; with a relay elsewhere it leaves.
    pub fn links_lead_nowhere(&self) -> bool {
        let is_open = !self.api.ip().to_canonical().is_loopback();
        let leaves = |relay: &RelayUrl| !relay.is_loopback();
        self.public_url.is_none() && (is_open || self.relay.as_ref().is_some_and(leaves))
    }

    /// The receivers that webhooks and received mail may be posted to. On a laptop they run on the
    /// same machine; once this host is reachable by others, anyone with a key could use it to reach
    /// services that listen on loopback only.
    pub(crate) fn receivers(&self) -> Guard {
        let ports = [self.api, self.mailbox, self.smtp, self.submission];
        let is_loopback = |port: SocketAddr| port.ip().to_canonical().is_loopback();
        if self.allow_private_webhooks {
            Guard::with_private()
        } else if ports.into_iter().all(is_loopback) {
            Guard::with_loopback()
        } else {
            Guard::default()
        }
    }

    /// Free ports, nothing on disk, no DNS lookups for received mail: for tests.
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
            inbound_dns: DnsSettings::Nobody,
            spam_filter: None,
            outgoing_spam_filter: None,
            search_days: 30,
            limits: RateLimits::default(),
            http: HttpLimits::default(),
            allow_private_webhooks: false,
            horizon: HORIZON,
            clock,
            entropy,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use posthaste_model::Timestamp;

    use super::*;

    /// Whether receivers on this machine, in its network and at a cloud's metadata service are
    /// posted to.
    fn reach(host: &str, allow_private: bool) -> [bool; 3] {
        let clock = Clock::new(|| Timestamp(0).millis());
        let at = SocketAddr::new(host.parse().unwrap(), 0);
        let settings = HostSettings {
            api: at,
            allow_private_webhooks: allow_private,
            ..HostSettings::in_memory(clock, Entropy::counting())
        };
        let guard = settings.receivers();
        ["127.0.0.1", "192.168.1.7", "169.254.169.254"]
            .map(|ip| guard.judge(ip.parse::<IpAddr>().unwrap()).is_ok())
    }

    #[test]
    fn this_machine_is_posted_to_only_while_others_cannot_reach_the_host() {
        for (host, allow_private, want) in [
            ("127.0.0.1", false, [true, false, false]),
            ("::1", false, [true, false, false]),
            ("0.0.0.0", false, [false, false, false]),
            ("::", false, [false, false, false]),
            ("192.168.1.7", false, [false, false, false]),
            ("0.0.0.0", true, [true, true, false]),
            ("127.0.0.1", true, [true, true, false]),
        ] {
            assert_eq!(reach(host, allow_private), want, "{host} {allow_private}");
        }
    }
}
