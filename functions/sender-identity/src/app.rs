//! The dependencies of the function.

use std::sync::Arc;

use posthaste_dns::Resolver;
use posthaste_http::{Caller, Rejection, UNKNOWN_ID};
use posthaste_identity::Target;
use posthaste_mailer::Ses;
use posthaste_model::{Clock, Entropy, Hostname, PublicUrl};
use posthaste_notices::Notices;
use posthaste_runtime::{ConfigError, Error, Platform};
use posthaste_store::{Account, Domain, Store};
use posthaste_webhook::Sealer;

use crate::spf::SpfMechanism;

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// Notices that the service sends.
    pub notices: Notices,
    pub resolver: Resolver,
    /// Whether a new domain is authenticated at once: for a host whose names are not in DNS.
    pub trusting: bool,
    /// When mail is sent through SES, SES signs with the keys of verified domains.
    pub ses: Option<Ses>,
    pub sealer: Arc<Sealer>,
    pub clock: Clock,
    pub entropy: Entropy,
    /// The targets of a domain's records.
    pub target: Target,
    /// Where branded links lead.
    pub links: LinkTarget,
}

/// The names of this installation that branded links need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkTarget {
    /// What the records of a branded link are aliases of; none where this installation has no host name for links.
    pub host: Option<String>,
    /// The hosts that all accounts share, which no account can have for itself.
    pub shared: Vec<String>,
}

impl LinkTarget {
    fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        let own = vars.optional::<Hostname>("LINK_TARGET")?.map(String::from);
        let urls = ["TRACKING_URL", "PUBLIC_URL"].map(|name| vars.optional::<PublicUrl>(name));
        let mut shared = Vec::new();
        for url in urls {
            // Behind an address there can be no alias.
            let name = url?.and_then(|url| url.host().parse::<Hostname>().ok());
            shared.extend(name.map(String::from));
        }
        Ok(Self {
            host: own.clone().or_else(|| shared.first().cloned()),
            shared: shared.into_iter().chain(own).collect(),
        })
    }
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `STACK_SECRET`, `BOUNCE_DOMAIN`, `MAIL_HOST` (the
    /// bounce domain), `SPF` (`include:` and the bounce domain), `SYSTEM_SENDER` (`no-reply` at the
    /// bounce domain), `PUBLIC_URL` (the gateway's), `TRACKING_URL`, `LINK_TARGET` (the host of `TRACKING_URL`, or else of `PUBLIC_URL`),
    /// `DELIVERY` (`ses`, or anything else).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let vars = platform.env();
        let bounce_domain = String::from(vars.parsed::<Hostname>("BOUNCE_DOMAIN")?);
        let mail_host = vars.optional::<Hostname>("MAIL_HOST")?;
        let spf = vars.optional::<SpfMechanism>("SPF")?;
        Ok(Self {
            store: platform.store()?,
            notices: Notices::open(platform)?,
            resolver: match platform.part() {
                Some(resolver) => resolver,
                None if platform.any_sender() => Resolver::Zone(Arc::default()),
                None => Resolver::system()?,
            },
            trusting: platform.any_sender(),
            ses: match (platform.part(), vars.get("DELIVERY").as_deref()) {
                (Some(ses), _) => Some(ses),
                (None, Some("ses")) => Some(Ses::new(platform.aws("DELIVERY")?, None)),
                (None, Some(_) | None) => None,
            },
            sealer: Arc::new(vars.parsed("STACK_SECRET")?),
            clock: platform.clock(),
            entropy: platform.entropy(),
            links: LinkTarget::from_env(platform)?,
            target: Target {
                mail_host: mail_host.map_or_else(|| bounce_domain.clone(), String::from),
                spf: spf.map_or_else(|| format!("include:{bounce_domain}"), String::from),
                bounce_domain,
            },
        })
    }

    /// The caller's domain with this id.
    pub(crate) async fn domain(&self, caller: &Caller, id: &str) -> Result<Domain, Rejection> {
        let found = self.store.domain(caller.id(), number(id)?).await?;
        found.ok_or_else(Rejection::not_found)
    }

    /// The caller's subuser of this name.
    pub(crate) async fn subuser(
        &self,
        caller: &Caller,
        username: &str,
    ) -> Result<Account, Rejection> {
        let unknown = || Rejection::on("username", "invalid username").with_help(UNKNOWN_ID);
        let id = self.store.subuser_id(caller.id(), username).await?;
        let account = self.store.account(&id.ok_or_else(unknown)?).await?;
        account.ok_or_else(unknown)
    }
}

/// An id in a path; a text that is not a number matches nothing.
pub(crate) fn number(text: &str) -> Result<i64, Rejection> {
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(Rejection::not_found)
}
