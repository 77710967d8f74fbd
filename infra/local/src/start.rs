//! The host's settings: from the command line in `main`, chosen values in tests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use posthaste_dns::Zone;
use posthaste_http::RateLimits;
use posthaste_mailer::RelayUrl;
use posthaste_model::{Clock, Entropy, HORIZON, Hostname, PublicUrl};
use posthaste_spam::Filter;
use posthaste_webhook::Guard;
use webhook_fanout::ReputationGuard;

use crate::args::{API_PORT, Args, INBOUND_PORT, MAILBOX_PORT, SUBMISSION_PORT};
use crate::mailbox_login::MailboxLogin;
use crate::open_flags::{UnsafeFlags, check_open, no_login_port, release_relay};
use crate::serve::HttpLimits;
use crate::table::TableFaults;
use crate::turnable_clock::TurnableClock;

/// The resolver for the DNS records of external senders (SPF, DKIM).
#[derive(Clone, Debug)]
pub enum DnsSettings {
    /// The system's own name servers.
    System,
    /// None: what cannot be checked is `none`.
    Disabled,
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
    /// The port that accepts mail without a login; `None`: no such port.
    pub no_login: Option<SocketAddr>,
    /// Flags of the ports that move to the next free one when they are taken: those that were not asked for.
    pub movable: Vec<&'static str>,
    /// Whether this machine may submit without a login.
    pub submission_open: bool,
    /// The key of the first account; `None`: a generated one.
    pub api_key: Option<String>,
    /// Whether every key is accepted as the first account's.
    pub any_key: bool,
    /// Host names of the mailbox beside this machine's own.
    pub mailbox_hosts: Vec<Hostname>,
    /// The path that the mailbox lies under; empty: the root.
    pub mailbox_path: String,
    /// The login of the mailbox.
    pub mailbox_login: Option<MailboxLogin>,
    /// `None`: everything in memory.
    pub data: Option<PathBuf>,
    pub relay: Option<RelayUrl>,
    /// The relay that recorded mails are released to.
    pub release_relay: Option<RelayUrl>,
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
    /// Days for which the audit log has an entry; 0: none is written.
    pub audit_days: u16,
    /// Calls that the table refuses; none, except in tests.
    pub table_faults: Option<TableFaults>,
    /// What is done about accounts whose mail bounces or is reported as spam too often.
    pub reputation_guard: ReputationGuard,
    pub limits: RateLimits,
    /// Of the API and of the mailbox each.
    pub http: HttpLimits,
    /// Whether webhooks and received mail may be posted to private addresses.
    pub allow_private_webhooks: bool,
    /// Whether webhooks that failed are tried again after a second, then two, instead of after half a minute.
    pub quick_retries: bool,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
    pub clock: Clock,
    /// The clock where it is turned by hand.
    pub turnable: Option<TurnableClock>,
    pub entropy: Entropy,
}

/// Mail that leaves has a reputation to lose; the embedded relay only records.
fn reputation_guard(args: &Args) -> ReputationGuard {
    let default = if args.relay.is_some() {
        ReputationGuard::Suspend
    } else {
        ReputationGuard::Warn
    };
    args.reputation_guard.unwrap_or(default)
}

/// The flags of the ports that were not asked for.
fn movable(args: &Args) -> Vec<&'static str> {
    let ports = [
        ("--port", args.port),
        ("--mailbox-port", args.mailbox_port),
        ("--smtp-port", args.smtp_port),
        ("--submission-port", args.submission_port),
        ("--no-login-port", args.no_login_port),
    ];
    let movable = ports.into_iter().filter(|(_, asked)| asked.is_none());
    movable.map(|(flag, _)| flag).collect()
}

impl HostSettings {
    /// The settings of a command line.
    ///
    /// # Errors
    /// When flags together let more people send than may be meant.
    pub fn from_args(args: &Args, clock: Clock, entropy: Entropy) -> Result<Self, UnsafeFlags> {
        if args.any_key {
            check_open(args, "--any-key")?;
        }
        if args.seed.is_some() {
            check_open(args, "--seed")?;
        }
        let turnable = args.clock;
        let turnable = turnable.map(|start| TurnableClock::new(start, clock.clone()));
        let clock = turnable.as_ref().map_or(clock, TurnableClock::clock);
        let entropy = args.seed.map_or(entropy, Entropy::seeded);
        let at = |port| SocketAddr::new(args.host, port);
        Ok(Self {
            api: at(args.port.unwrap_or(API_PORT)),
            mailbox: at(args.mailbox_port.unwrap_or(MAILBOX_PORT)),
            smtp: at(args.smtp_port.unwrap_or(INBOUND_PORT)),
            submission: at(args.submission_port.unwrap_or(SUBMISSION_PORT)),
            no_login: no_login_port(args)?.map(at),
            movable: movable(args),
            api_key: args.api_key.clone(),
            any_key: args.any_key,
            mailbox_hosts: args.mailbox_host.clone(),
            mailbox_path: args.mailbox_path.clone().unwrap_or_default(),
            mailbox_login: args.mailbox_login.clone(),
            submission_open: args.submission_open,
            data: (!args.memory).then(|| args.data.clone()),
            relay: args.relay.clone(),
            release_relay: release_relay(args)?,
            bounce_domain: args.bounce_domain.clone(),
            hostname: args.hostname.clone(),
            public_url: args.public_url.clone(),
            tls: args.tls_cert.clone().zip(args.tls_key.clone()),
            strict_senders: args.strict_senders,
            inbound_dns: if args.no_inbound_dns {
                DnsSettings::Disabled
            } else {
                DnsSettings::System
            },
            spam_filter: args.spam_filter.clone(),
            outgoing_spam_filter: args.outgoing_spam_filter.clone(),
            search_days: args.search_days,
            audit_days: args.audit_days,
            table_faults: None,
            reputation_guard: reputation_guard(args),
            limits: args.rates.limits(),
            http: HttpLimits::default()
                .with_connections_per_client(args.connections_per_address.get()),
            allow_private_webhooks: args.allow_private_webhooks,
            quick_retries: true,
            horizon: HORIZON,
            clock,
            turnable,
            entropy,
        })
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
        let mut ports = ports.into_iter().chain(self.no_login);
        let is_loopback = |port: SocketAddr| port.ip().to_canonical().is_loopback();
        if self.allow_private_webhooks {
            Guard::with_private()
        } else if ports.all(is_loopback) {
            Guard::with_loopback()
        } else {
            Guard::default()
        }
    }

    /// The addresses that a check of a mail's links may connect to. A mail may be a stranger's, so loopback needs the
    /// flag too.
    pub(crate) fn links(&self) -> Guard {
        if self.allow_private_webhooks {
            Guard::with_private()
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
            no_login: None,
            movable: Vec::new(),
            api_key: None,
            any_key: false,
            mailbox_hosts: Vec::new(),
            mailbox_path: String::new(),
            mailbox_login: None,
            submission_open: false,
            data: None,
            relay: None,
            release_relay: None,
            bounce_domain: None,
            hostname: Hostname::posthaste_localhost(),
            public_url: None,
            tls: None,
            strict_senders: false,
            inbound_dns: DnsSettings::Disabled,
            spam_filter: None,
            outgoing_spam_filter: None,
            search_days: 30,
            audit_days: 365,
            table_faults: None,
            reputation_guard: ReputationGuard::Warn,
            limits: RateLimits::default(),
            http: HttpLimits::default(),
            allow_private_webhooks: false,
            quick_retries: false,
            horizon: HORIZON,
            clock,
            turnable: None,
            entropy,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use clap::Parser as _;
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

    fn of_line(line: &str) -> Result<HostSettings, String> {
        let words = ["posthaste"].into_iter().chain(line.split_whitespace());
        let args = crate::Cli::try_parse_from(words).unwrap().run;
        let clock = Clock::new(|| Timestamp(0).millis());
        let settings = HostSettings::from_args(&args, clock, Entropy::counting());
        settings.map_err(|error| error.to_string())
    }

    #[test]
    fn ports_that_were_not_asked_for_may_move() {
        let settings = of_line("--port 3000 --smtp-port 2600").unwrap();
        let ports = [settings.api, settings.mailbox, settings.smtp];
        assert_eq!(ports.map(|port| port.port()), [3000, 8025, 2600]);
        assert_eq!(
            settings.movable,
            ["--mailbox-port", "--submission-port", "--no-login-port"]
        );
    }

    #[test]
    fn what_lets_everybody_send_needs_a_flag_where_others_reach_it_or_mail_leaves() {
        let network = "--host 0.0.0.0";
        let relay = "--relay smtp://relay.example:25";
        for flag in ["--any-key", "--no-login-port 1025"] {
            let name = flag.split(' ').next().unwrap();
            assert!(of_line(flag).is_ok());
            for (around, consent) in [(network, "--open-to-network"), (relay, "--open-with-relay")]
            {
                let refused = of_line(&format!("{flag} {around}")).unwrap_err();
                assert!(
                    refused.contains(name) && refused.contains(consent),
                    "{refused}"
                );
                assert!(of_line(&format!("{flag} {around} {consent}")).is_ok());
            }
            let both = format!("{flag} {network} {relay}");
            assert!(of_line(&format!("{both} --open-to-network")).is_err());
            assert!(of_line(&format!("{both} --open-with-relay")).is_err());
        }
        let port = |line: &str| of_line(line).unwrap().no_login.map(|at| at.port());
        assert_eq!(port(""), Some(1025));
        assert_eq!(port(network), None);
        assert_eq!(port(relay), None);
        assert_eq!(
            port("--relay smtp://r.example --open-with-relay"),
            Some(1025)
        );
    }

    #[test]
    fn mail_is_released_only_where_strangers_cannot_ask_for_it() {
        let relay = |line: &str| {
            let settings = of_line(line)?;
            Ok::<_, String>(settings.release_relay.map(|relay| relay.to_string()))
        };
        let [own, other] = ["smtp://own.example", "smtp://other.example"];
        let named = |relay: &str| Ok(Some(format!("{relay}:25?tls=opportunistic")));
        assert_eq!(relay(""), Ok(None));
        assert_eq!(relay(&format!("--relay {own}")), Ok(None));
        let consent = format!("--relay {own} --open-with-relay");
        assert_eq!(relay(&consent), named(own));
        let proxied = format!("{consent} --mailbox-host mail.example.com");
        assert_eq!(relay(&proxied), Ok(None));
        let both = format!("--relay {own} --release-relay {other}");
        assert_eq!(relay(&both), named(other));
        let open = format!("--host 0.0.0.0 --relay {own}");
        assert_eq!(relay(&open), Ok(None));
        let refused = relay(&format!("--host 0.0.0.0 --release-relay {own}")).unwrap_err();
        assert!(refused.contains("--mailbox-login"), "{refused}");
        assert_eq!(relay(&format!("{open} --open-to-network")), Ok(None));
        assert!(relay(&format!("--mailbox-host m.example --release-relay {own}")).is_err());
        for consent in [
            "--mailbox-login ann:secret",
            "--open-to-network --open-with-relay",
        ] {
            assert_eq!(relay(&format!("{open} {consent}")), named(own), "{consent}");
        }
    }

    #[test]
    fn links_of_mail_lead_to_private_addresses_only_by_a_flag() {
        for (line, loopback) in [("", false), ("--allow-private-webhooks", true)] {
            let guard = of_line(line).unwrap().links();
            let judged = |ip: &str| guard.judge(ip.parse::<IpAddr>().unwrap()).is_ok();
            assert_eq!(judged("127.0.0.1"), loopback, "{line}");
            assert_eq!(judged("192.168.1.7"), loopback, "{line}");
            assert!(judged("8.8.8.8") && !judged("169.254.169.254"));
        }
    }

    #[test]
    fn the_rate_limit_is_for_every_endpoint() {
        let limits = |line: &str| of_line(line).unwrap().limits;
        assert_eq!(limits("--rate-limit 7").of("POST /v3/mail/send"), 7);
        assert_eq!(limits("--rate-limit 7").of("GET /v3/scopes"), 7);
        assert_eq!(limits("").of("POST /v3/mail/send"), 50_000);
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
