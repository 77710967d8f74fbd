//! The network outside: clients by address, servers by name, DNS records.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

/// The key of a client: an IPv4 address (also in its IPv6 form), or the /64 of an IPv6 address,
/// whose 2^64 addresses usually belong to one customer.
pub fn ip_prefix(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
    }
}

/// Whether a name may be that of a server in a DNS or in a network of containers.
///
/// Labels have 1 to 63 ASCII letters, digits, `-` and `_`, none with a hyphen at an end; a name has at most 253
/// characters. One that ends in a number is an IPv4 address or nothing.
pub fn is_server_name(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|b| b.is_ascii_digit());
    name.len() <= 253
        && name.split('.').all(is_label)
        && (!is_number || name.parse::<Ipv4Addr>().is_ok())
}

fn is_label(label: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=63).contains(&label.len())
        && label.bytes().all(legal)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// The kinds of records that are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// An address, of either version of IP.
    A,
    Cname,
    Mx,
    Txt,
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::Cname => "CNAME",
            Self::Mx => "MX",
            Self::Txt => "TXT",
        })
    }
}

/// One record to publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What it is for, as the API names it: `mail_cname`, `dkim1`, ….
    pub name: String,
    #[serde(rename = "type")]
    pub kind: RecordKind,
    pub host: String,
    pub data: String,
    /// Whether the last lookup found it.
    #[serde(default)]
    pub valid: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_an_ipv4_address_or_an_ipv6_network() {
        for (ip, want) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let (ip, want): (IpAddr, IpAddr) = (ip.parse().unwrap(), want.parse().unwrap());
            assert_eq!(ip_prefix(ip), want);
        }
    }

    #[test]
    fn a_server_name_has_valid_labels_or_is_an_ipv4_address() {
        let long = format!("{}.example", "a".repeat(64));
        for (name, want) in [
            ("mail.example.com", true),
            ("MAIL", true),
            ("spam_d", true),
            ("127.0.0.1", true),
            ("1and1.example", true),
            ("-", false),
            ("-mail.example", false),
            ("mail-.example", false),
            ("", false),
            ("mail..example", false),
            (".example", false),
            ("mail.example.", false),
            ("1.2.3", false),
            ("1.2.3.999", false),
            ("m\u{e4}il", false),
            ("m%C3%A4il", false),
            (&long, false),
        ] {
            assert_eq!(is_server_name(name), want, "{name:?}");
        }
    }
}
