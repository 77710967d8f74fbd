//! Which mailbox provider has the mailboxes of a domain, by the domain itself or by its MX records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::StreamExt as _;
use posthaste_cache::BoundedMap;
use posthaste_dns::Resolver;
use posthaste_model::{EmailAddress, Millis, RecordKind, Segment};
use tokio::time::timeout;

/// How many domains are remembered: a few megabytes.
const MOST: usize = 20_000;

/// How long an answer holds, in milliseconds. Companies seldom move their mailboxes.
const ANSWER_MS: i64 = 86_400_000;

/// How long a domain is not asked about again after its name servers have failed, in milliseconds.
const FAILURE_MS: i64 = 600_000;

/// The deadline of all lookups of one batch. Statistics do not wait for name servers that are down.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How many lookups run concurrently.
const AT_ONCE: usize = 16;

/// The mailbox providers of domains, as far as the DNS says.
#[derive(Debug)]
pub struct MailboxHosts {
    resolver: Option<Resolver>,
    known: BoundedMap<String, MailboxHost>,
}

#[derive(Clone, Copy, Debug)]
struct MailboxHost {
    provider: Segment,
    until: Millis,
}

impl MailboxHosts {
    /// Asks this resolver about domains that are no provider's own; without one, they are all
    /// [`posthaste_model::OTHER`].
    pub fn new(resolver: Option<Resolver>) -> Self {
        Self {
            resolver,
            known: BoundedMap::new(MOST),
        }
    }

    /// The provider of each address: [`posthaste_model::OTHER`] where the DNS does not name one in time.
    pub(crate) async fn of<'a>(
        &self,
        addresses: impl Iterator<Item = &'a str>,
        now: Millis,
    ) -> BTreeMap<&'a str, Segment> {
        let by_domain = |address| (address, Segment::provider(address));
        let mut found: BTreeMap<&str, Segment> = addresses.map(by_domain).collect();
        let Some(resolver) = &self.resolver else {
            return found;
        };
        let mut others: Vec<(&str, String)> = Vec::new();
        for (&address, provider) in &found {
            if let (true, Ok(parsed)) = (provider.is_other(), EmailAddress::parse_stored(address)) {
                others.push((address, parsed.ascii_domain()));
            }
        }
        let unknown = others.iter().map(|(_, domain)| domain);
        let unknown = unknown.filter(|domain| self.known(domain, now).is_none());
        let unknown: BTreeSet<&String> = unknown.collect();
        let lookups = futures_util::stream::iter(&unknown)
            .for_each_concurrent(AT_ONCE, |domain| self.look_up(resolver, domain, now));
        if timeout(TIMEOUT, lookups).await.is_err() {
            for domain in unknown {
                if self.known(domain, now).is_none() {
                    self.remember(domain, None, now);
                }
            }
        }
        for (address, domain) in &others {
            if let Some(provider) = self.known(domain, now) {
                found.insert(address, provider);
            }
        }
        found
    }

    async fn look_up(&self, resolver: &Resolver, domain: &str, now: Millis) {
        let exchanges = resolver.lookup(RecordKind::Mx, domain).await;
        self.remember(domain, exchanges.ok().as_deref(), now);
    }

    fn known(&self, domain: &String, now: Millis) -> Option<Segment> {
        let host = self.known.get(domain)?;
        (now < host.until).then_some(host.provider)
    }

    /// `None` for exchanges that could not be looked up.
    fn remember(&self, domain: &str, exchanges: Option<&[String]>, now: Millis) {
        let lasts = exchanges.map_or(FAILURE_MS, |_| ANSWER_MS);
        let host = MailboxHost {
            provider: Segment::mailbox_host(exchanges.unwrap_or_default()),
            until: Millis(now.0.saturating_add(lasts)),
        };
        self.known.insert(domain.to_owned(), host);
    }
}
