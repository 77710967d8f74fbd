//! Looks up names in the DNS, or in a zone in memory.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError as Failure, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use posthaste_model::RecordKind;

/// The data of every record found, as text; empty when the name has none of the kind.
pub type DnsRecords = Vec<String>;

/// The DNS lookup failed: neither yes nor no.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer about a {kind} record: {why}")]
pub struct DnsError {
    /// What was asked for.
    pub kind: RecordKind,
    why: String,
}

impl DnsError {
    /// A lookup of a record of this kind that failed, and why, for the log.
    pub fn new(kind: RecordKind, why: impl fmt::Display) -> Self {
        let why = why.to_string();
        Self { kind, why }
    }
}

/// The source of look-ups.
#[derive(Clone)]
pub enum Resolver {
    Dns(Arc<TokioResolver>),
    /// For tests, and for a machine that must not query the DNS.
    Zone(Arc<Zone>),
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dns(_) => "Resolver(DNS)",
            Self::Zone(_) => "Resolver(zone)",
        })
    }
}

impl Resolver {
    /// The system's own name servers.
    pub fn system() -> Result<Self, DnsError> {
        let builder = TokioResolver::builder_tokio();
        Self::build(builder.map_err(|e| DnsError::new(RecordKind::Txt, e))?)
    }

    /// One name server, by UDP with TCP for what does not fit.
    pub fn server(address: SocketAddr) -> Result<Self, DnsError> {
        let mut server = NameServerConfig::udp_and_tcp(address.ip());
        for connection in &mut server.connections {
            connection.port = address.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        let provider = TokioRuntimeProvider::default();
        Self::build(TokioResolver::builder_with_config(config, provider))
    }

    fn build(
        mut builder: hickory_resolver::ResolverBuilder<TokioRuntimeProvider>,
    ) -> Result<Self, DnsError> {
        let options = builder.options_mut();
        // Owners check again right after publishing a record, and must see it.
        options.cache_size = 0;
        options.timeout = Duration::from_secs(3);
        options.attempts = 2;
        let built = builder.build();
        let built = built.map_err(|e| DnsError::new(RecordKind::Txt, e))?;
        Ok(Self::Dns(Arc::new(built)))
    }

    /// Every record of this kind that the name has itself.
    pub async fn lookup(&self, kind: RecordKind, host: &str) -> Result<DnsRecords, DnsError> {
        match self {
            Self::Zone(zone) => zone.lookup(kind, host),
            Self::Dns(resolver) => {
                let record_types = match kind {
                    RecordKind::A => &[RecordType::A, RecordType::AAAA][..],
                    RecordKind::Cname => &[RecordType::CNAME],
                    RecordKind::Mx => &[RecordType::MX],
                    RecordKind::Txt => &[RecordType::TXT],
                };
                ask(resolver, kind, record_types, host).await
            }
        }
    }
}

impl Resolver {
    /// Whether a domain takes mail: by an MX record other than the null one (RFC 7505), or where there is none by an
    /// address (RFC 5321, section 5.1).
    pub async fn takes_mail(&self, domain: &str) -> Result<bool, DnsError> {
        let exchanges = self.lookup(RecordKind::Mx, domain).await?;
        if !exchanges.is_empty() {
            return Ok(exchanges
                .iter()
                .any(|exchange| !matches!(exchange.as_str(), "" | ".")));
        }
        Ok(!self.lookup(RecordKind::A, domain).await?.is_empty())
    }

    /// Whether a name leads to an address. Only records of the address's own family are asked for.
    pub async fn leads_to(&self, host: &str, ip: IpAddr) -> Result<bool, DnsError> {
        let addresses = match self {
            Self::Zone(zone) => zone.lookup(RecordKind::A, host)?,
            Self::Dns(resolver) => {
                let family = match ip {
                    IpAddr::V4(_) => RecordType::A,
                    IpAddr::V6(_) => RecordType::AAAA,
                };
                ask(resolver, RecordKind::A, &[family], host).await?
            }
        };
        Ok(addresses.contains(&ip.to_string()))
    }
}

async fn ask(
    resolver: &TokioResolver,
    kind: RecordKind,
    record_types: &[RecordType],
    host: &str,
) -> Result<DnsRecords, DnsError> {
    // A final dot: the system's search domains are not tried.
    let name = Name::from_utf8(format!("{}.", host.trim_end_matches('.')));
    let name = name.map_err(|e| DnsError::new(kind, e))?;
    let mut data = Vec::new();
    let mut failed = None;
    for record_type in record_types {
        let found = match resolver.lookup(name.clone(), *record_type).await {
            Ok(found) => found,
            Err(error) if is_absent(&error) => continue,
            Err(error) => {
                failed = Some(DnsError::new(kind, error));
                continue;
            }
        };
        let answers = found.answers().iter();
        data.extend(answers.filter_map(|record| text(kind, &record.data)));
    }
    // Servers that know no AAAA records fail on them: an A record that they have is there all the same.
    match failed {
        Some(error) if data.is_empty() => Err(error),
        Some(_) | None => Ok(data),
    }
}

/// The data of a record, if it is of the kind.
fn text(kind: RecordKind, data: &RData) -> Option<String> {
    match (kind, data) {
        (RecordKind::A, RData::A(ip)) => Some(ip.0.to_string()),
        (RecordKind::A, RData::AAAA(ip)) => Some(ip.0.to_string()),
        (RecordKind::Cname, RData::CNAME(name)) => Some(name.0.to_utf8()),
        (RecordKind::Mx, RData::MX(mx)) => Some(mx.exchange.to_utf8()),
        (RecordKind::Txt, RData::TXT(txt)) => {
            let bytes: Vec<u8> = txt.txt_data.iter().flatten().copied().collect();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => None,
    }
}

/// The name, or a record of the type, does not exist. A server failure is not such an answer.
fn is_absent(error: &NetError) -> bool {
    let NetError::Dns(Failure::NoRecordsFound(none)) = error else {
        return false;
    };
    matches!(
        none.response_code,
        ResponseCode::NoError | ResponseCode::NXDomain
    )
}

/// Names in memory. A missing name has no records.
#[derive(Debug, Default)]
pub struct Zone(Mutex<HashMap<(RecordKind, String), Option<DnsRecords>>>);

impl Zone {
    /// Publishes these records under a name, in place of others of the type.
    pub fn publish(&self, kind: RecordKind, host: &str, data: &[&str]) {
        let data = data.iter().map(|&text| text.to_owned()).collect();
        self.put(kind, host, Some(data));
    }

    /// Makes every lookup of these records fail.
    pub fn fail(&self, kind: RecordKind, host: &str) {
        self.put(kind, host, None);
    }

    /// Every TXT record, by host; `None` where the zone is set to fail.
    pub fn texts(&self) -> Vec<(String, Option<DnsRecords>)> {
        let Ok(names) = self.0.lock() else {
            return Vec::new();
        };
        let texts = names
            .iter()
            .filter(|((kind, _), _)| *kind == RecordKind::Txt);
        texts
            .map(|((_, host), answer)| (host.clone(), answer.clone()))
            .collect()
    }

    fn put(&self, kind: RecordKind, host: &str, answer: Option<DnsRecords>) {
        if let Ok(mut names) = self.0.lock() {
            names.insert((kind, host.to_ascii_lowercase()), answer);
        }
    }

    fn lookup(&self, kind: RecordKind, host: &str) -> Result<DnsRecords, DnsError> {
        let names = self.0.lock().map_err(|e| DnsError::new(kind, e))?;
        match names.get(&(kind, host.to_ascii_lowercase())) {
            None => Ok(Vec::new()),
            Some(Some(answer)) => Ok(answer.clone()),
            Some(None) => Err(DnsError::new(kind, "the zone is set to fail")),
        }
    }
}
