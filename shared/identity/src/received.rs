//! Checking a received mail: SPF (RFC 7208) and DKIM (RFC 6376).

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
    AuthenticatedMessage, DkimResult, DnsError as Failure, DnssecStatus, Error, MX,
    MessageAuthenticator, Parameters, RecordSet, ResolverCache, SpfResult, Txt,
};
use tokio::time::timeout;

use crate::{DnsRecords, Resolver, Zone};

/// The deadline of all look-ups of one check; a result missing by then is a temporary error.
const PATIENCE: Duration = Duration::from_secs(15);

/// Octets of a header whose signatures are checked, and fields in it. The library compares each name
/// that a signature lists with each field: a megabyte of both takes it hours.
const LONGEST_HEADER: usize = 256 * 1024;
const MOST_FIELDS: usize = 2_000;

/// Octets of a `From` whose signatures are checked. The library reads each encoded word that does
/// not end to the end of the field.
const LONGEST_FROM: usize = 16 * 1024;

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
    /// lookup failed is omitted: it has not failed.
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
        Resolver::Zone(_) => nobody().map(MessageAuthenticator),
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
        timeout(PATIENCE, spf(&authenticator, &names, came)),
        timeout(PATIENCE, dkim(&authenticator, &names, raw)),
    );
    CheckedSender {
        spf: spf.unwrap_or(unknown.spf),
        dkim: dkim.unwrap_or(unknown.dkim),
    }
}

fn nobody() -> Option<TokioResolver> {
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

async fn dkim(
    authenticator: &MessageAuthenticator,
    names: &Names,
    raw: &[u8],
) -> Vec<(String, bool)> {
    if !is_checkable(raw) {
        return Vec::new();
    }
    // Hashes the whole body.
    let parsed = posthaste_offload::run(raw.len(), || AuthenticatedMessage::parse(raw)).await;
    let Some(message) = parsed else {
        return Vec::new();
    };
    let outputs = authenticator.verify_dkim(names.asked(&message)).await;
    let found = outputs.iter().filter_map(|output| {
        let domain = output.signature().map(|signature| signature.d.clone());
        let domain = domain.filter(|domain| domain.len() <= LONGEST_DOMAIN)?;
        let result = output.result();
        (!is_unknown(result)).then(|| (domain, *result == DkimResult::Pass))
    });
    found.take(MOST_SIGNATURES).collect()
}

/// The most signatures reported: the job that carries them must fit a queue and a row.
const MOST_SIGNATURES: usize = 20;

/// Octets of a domain (RFC 1035, section 2.3.4); a longer one is invalid.
const LONGEST_DOMAIN: usize = 255;

/// Whether the header is small enough for its signatures to be checked quickly. A mail with a
/// larger one counts as unsigned.
fn is_checkable(raw: &[u8]) -> bool {
    let (mut read, mut fields, mut is_from, mut from) = (0, 0, false, 0);
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        if line == b"\r\n" || line == b"\n" {
            break;
        }
        read += line.len();
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            fields += 1;
            let name = line.get(..4).unwrap_or_default();
            is_from = name.eq_ignore_ascii_case(b"from");
        }
        from += if is_from { line.len() } else { 0 };
        if read > LONGEST_HEADER || fields > MOST_FIELDS || from > LONGEST_FROM {
            return false;
        }
    }
    true
}

/// Whether a signature was not checked, because the lookup of its key failed. A missing key is an
/// answer (RFC 6376, section 6.1.2).
fn is_unknown(result: &DkimResult) -> bool {
    match result {
        DkimResult::TempError(_) => true,
        // A server failure is reported like a missing record.
        DkimResult::PermError(Error::Dns(Failure::RecordNotFound(code))) => {
            !matches!(code, ResponseCode::NoError | ResponseCode::NXDomain)
        }
        DkimResult::Pass
        | DkimResult::Neutral(_)
        | DkimResult::Fail(_)
        | DkimResult::PermError(_)
        | DkimResult::None => false,
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
        let failed = Failure::Resolver("the zone was told to fail".to_owned());
        return Txt::Error(Error::Dns(failed));
    };
    let mut last = Error::Dns(Failure::InvalidRecordType);
    for text in texts {
        let read = match host.contains("._domainkey.") {
            true => DomainKey::parse(text.as_bytes()).map(|key| Txt::DomainKey(Arc::new(key))),
            false => SpfRecord::parse(text.as_bytes()).map(|spf| Txt::Spf(Arc::new(spf))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_any_size_costs_no_time() {
        let from = |octets: usize| format!("From: {}\r\n", "a".repeat(octets - 8));
        let body = "x\r\n".repeat(1_000_000);
        for (header, want) in [
            (from(LONGEST_FROM), true),
            (from(LONGEST_FROM + 1), false),
            (format!("FROM: a\r\n {}", from(LONGEST_FROM)), false),
            ("a:\r\n".repeat(MOST_FIELDS), true),
            ("a:\r\n".repeat(MOST_FIELDS + 1), false),
            (format!("a:{}\r\n", "x".repeat(LONGEST_HEADER - 4)), true),
            (format!("a:{}\r\n", "x".repeat(LONGEST_HEADER - 3)), false),
            ("x".repeat(LONGEST_HEADER + 1), false),
        ] {
            let raw = format!("{header}\r\n{body}");
            assert_eq!(
                is_checkable(raw.as_bytes()),
                want,
                "{} octets",
                header.len()
            );
        }
    }

    #[test]
    fn a_key_that_nobody_could_be_asked_for_is_no_failure() {
        let absent = |code| DkimResult::PermError(Error::Dns(Failure::RecordNotFound(code)));
        let broken = || Error::Dns(Failure::Resolver("no answer".to_owned()));
        for (result, want) in [
            (DkimResult::TempError(broken()), true),
            (absent(ResponseCode::ServFail), true),
            (absent(ResponseCode::Refused), true),
            (absent(ResponseCode::NXDomain), false),
            (absent(ResponseCode::NoError), false),
            (
                DkimResult::PermError(Error::Dns(Failure::InvalidRecordType)),
                false,
            ),
            (DkimResult::Pass, false),
            (DkimResult::None, false),
        ] {
            assert_eq!(is_unknown(&result), want, "{result:?}");
        }
    }
}
