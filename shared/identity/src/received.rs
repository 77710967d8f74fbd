//! Checking a received mail: SPF (RFC 7208) and DKIM (RFC 6376).

mod signatures;

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::ResolverConfig;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::ResponseCode;
use mail_auth::common::parse::TxtRecordParser as _;
use mail_auth::common::verify::DomainKey;
use mail_auth::spf::Spf as SpfRecord;
use mail_auth::spf::verify::SpfParameters;
use mail_auth::{
    DnsError as Failure, DnssecStatus, Error, MX, MessageAuthenticator, Parameters, RecordSet,
    ResolverCache, SpfResult, Txt,
};
use tokio::time::timeout;

use posthaste_dns::{DnsRecords, Resolver, Zone};

/// The deadline of all look-ups of one check; a result missing by then is a temporary error.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Result of an SPF check (RFC 7208, section 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpfCheck {
    Pass,
    Fail,
    SoftFail,
    Neutral,
    None,
    TempError,
    PermError,
}

/// The SMTP session of a mail.
#[derive(Clone, Copy, Debug)]
pub struct Came<'a> {
    /// The client's address; without it SPF cannot be checked.
    pub ip: Option<IpAddr>,
    /// The name given with HELO or EHLO.
    pub hello: &'a str,
    /// The return path; empty for the null sender.
    pub from: &'a str,
    /// The name of this host.
    pub host: &'a str,
}

/// The results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSender {
    pub spf: SpfCheck,
    /// The domain of each signature that could be checked, and whether it is valid. One whose key
    /// lookup failed is omitted, for it has not failed; so is what would take too long to check.
    pub dkim: Vec<(String, bool)>,
}

/// Checks a mail. Never fails: a DNS that does not answer is part of the result.
pub async fn check_received(resolver: &Resolver, came: Came<'_>, raw: &[u8]) -> CheckedSender {
    let names = match resolver {
        Resolver::Dns(_) => Names::default(),
        Resolver::Zone(zone) => Names::of(zone),
    };
    let authenticator = match resolver {
        Resolver::Dns(dns) => Some(MessageAuthenticator(dns.as_ref().clone())),
        // Never queried: the zone has an answer to everything.
        Resolver::Zone(_) => unreachable_resolver().map(MessageAuthenticator),
    };
    let unknown = CheckedSender {
        spf: SpfCheck::TempError,
        dkim: Vec::new(),
    };
    let Some(authenticator) = authenticator else {
        return unknown;
    };
    // Separately: a finished result is used, whatever the other waits for.
    let (spf, dkim) = tokio::join!(
        timeout(TIMEOUT, spf(&authenticator, &names, came)),
        timeout(TIMEOUT, signatures::check(&authenticator, &names, raw)),
    );
    CheckedSender {
        spf: spf.unwrap_or(unknown.spf),
        dkim: dkim.unwrap_or(unknown.dkim),
    }
}

fn unreachable_resolver() -> Option<TokioResolver> {
    let config = ResolverConfig::from_parts(None, Vec::new(), Vec::new());
    let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.build().ok()
}

async fn spf(authenticator: &MessageAuthenticator, names: &Names, came: Came<'_>) -> SpfCheck {
    let Some(ip) = came.ip else {
        return SpfCheck::None;
    };
    // RFC 7208, section 2.4: a null return path is checked as postmaster of the client's name.
    let asked = match came.from {
        "" => SpfParameters::verify_ehlo(ip, came.hello, came.host),
        from => SpfParameters::verify_mail_from(ip, came.hello, came.host, from),
    };
    let output = authenticator.verify_spf(names.asked(asked)).await;
    match output.result() {
        SpfResult::Pass => SpfCheck::Pass,
        SpfResult::Fail => SpfCheck::Fail,
        SpfResult::SoftFail => SpfCheck::SoftFail,
        SpfResult::Neutral => SpfCheck::Neutral,
        SpfResult::TempError => SpfCheck::TempError,
        SpfResult::PermError => SpfCheck::PermError,
        SpfResult::None => SpfCheck::None,
    }
}

/// The contents of a zone, in the form of a complete cache. Empty for the DNS, which is queried
/// each time.
#[derive(Default)]
struct Names(Option<HashMap<Box<str>, Txt>>);

impl Names {
    fn of(zone: &Zone) -> Self {
        let read = zone.texts().into_iter().map(|(host, answer)| {
            let host = host.trim_end_matches('.');
            let parsed = parsed(host, answer);
            (format!("{host}.").into_boxed_str(), parsed)
        });
        Self(Some(read.collect()))
    }

    fn asked<P>(&self, params: P) -> Parameters<'_, P, Self, Self, Self, Self, Self> {
        Parameters {
            params,
            cache_txt: Some(self),
            cache_mx: Some(self),
            cache_ptr: Some(self),
            cache_ipv4: Some(self),
            cache_ipv6: Some(self),
        }
    }

    fn none<T>(&self) -> Option<RecordSet<T>> {
        self.0.as_ref().map(|_| RecordSet {
            rrset: Arc::default(),
            dnssec_status: DnssecStatus::Indeterminate,
        })
    }
}

/// A record in the form of its type.
fn parsed(host: &str, answer: Option<DnsRecords>) -> Txt {
    let Some(texts) = answer else {
        let failed = Failure::Resolver("the zone is set to fail".to_owned());
        return Txt::Error(Error::Dns(failed));
    };
    let mut last = Error::Dns(Failure::InvalidRecordType);
    for text in texts {
        let read = if host.contains("._domainkey.") {
            DomainKey::parse(text.as_bytes()).map(|key| Txt::DomainKey(Arc::new(key)))
        } else {
            SpfRecord::parse(text.as_bytes()).map(|spf| Txt::Spf(Arc::new(spf)))
        };
        match read {
            Ok(txt) => return txt,
            Err(error) => last = error,
        }
    }
    Txt::Error(last)
}

macro_rules! cache {
    ($key:ty, $value:ty, |$names:ident, $name:ident| $get:expr) => {
        impl ResolverCache<$key, $value> for Names {
            fn get<Q>(&self, $name: &Q) -> Option<$value>
            where
                $key: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                let $names = self;
                $get
            }

            fn remove<Q>(&self, _: &Q) -> Option<$value>
            where
                $key: Borrow<Q>,
                Q: Hash + Eq + ?Sized,
            {
                None
            }

            fn insert(&self, _: $key, _: $value, _: Instant) {}
        }
    };
}

cache!(Box<str>, Txt, |names, name| {
    let zone = names.0.as_ref()?;
    let absent = || Txt::Error(Error::Dns(Failure::RecordNotFound(ResponseCode::NXDomain)));
    Some(zone.get(name).cloned().unwrap_or_else(absent))
});
cache!(Box<str>, RecordSet<MX>, |names, _name| names.none());
cache!(Box<str>, RecordSet<Ipv4Addr>, |names, _name| names.none());
cache!(Box<str>, RecordSet<Ipv6Addr>, |names, _name| names.none());
cache!(IpAddr, RecordSet<Box<str>>, |names, _name| names.none());
