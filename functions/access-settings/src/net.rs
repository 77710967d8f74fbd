//! The accepted forms of an address or a range (API facts, section 6), and the one returned form:
//! CIDR, without host bits.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};

/// Why a text names no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an IP address, one with * for its last octets, or a CIDR range")]
pub struct InvalidNet;

/// Reads `192.0.2.1`, `192.0.2.*`, `192.0.2.0/24`, and the same of IPv6 except wildcards; without host bits.
///
/// # Errors
/// For any other text.
pub fn parse(text: &str) -> Result<IpNet, InvalidNet> {
    let text = text.trim();
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(IpNet::from(ip.to_canonical()));
    }
    if let Ok(net) = text.parse::<IpNet>() {
        return Ok(canonical(net.trunc()));
    }
    wildcard(text).map(IpNet::V4).ok_or(InvalidNet)
}

/// Converts a range of IPv4-mapped IPv6 addresses to a range of IPv4 addresses.
fn canonical(net: IpNet) -> IpNet {
    const MAPPED: u8 = 96;
    let IpNet::V6(v6) = net else { return net };
    let inner = v6.addr().to_ipv4_mapped();
    let bits = v6.prefix_len().checked_sub(MAPPED);
    match (inner, bits) {
        (Some(ip), Some(bits)) => Ipv4Net::new(ip, bits).map_or(net, IpNet::V4),
        _ => net,
    }
}

/// `25.203.44.*` as `25.203.44.0/24`: four parts, the wildcards last.
fn wildcard(text: &str) -> Option<Ipv4Net> {
    let parts: Vec<_> = text.split('.').collect();
    let fixed = parts.iter().take_while(|part| **part != "*").count();
    let stars = parts.iter().skip(fixed);
    if parts.len() != 4 || fixed == 4 || stars.clone().any(|part| *part != "*") {
        return None;
    }
    // The address parser validates the octets: no signs, no leading zeros.
    let zeroed = text.replace('*', "0").parse::<Ipv4Addr>().ok()?;
    Ipv4Net::new(zeroed, u8::try_from(fixed * 8).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = parse(text).map(|net| net.to_string());
        assert_eq!(got.as_deref(), Ok(want), "{text}");
    }

    #[test]
    fn every_form_is_answered_as_cidr() {
        check("192.168.1.1", "192.168.1.1/32");
        check(" 192.168.1.1 ", "192.168.1.1/32");
        check("192.*.*.*", "192.0.0.0/8");
        check("25.203.*.*", "25.203.0.0/16");
        check("25.203.44.*", "25.203.44.0/24");
        check("*.*.*.*", "0.0.0.0/0");
        check("192.168.100.14/24", "192.168.100.0/24");
        check("192.168.100.14/32", "192.168.100.14/32");
        check("0.0.0.0/0", "0.0.0.0/0");
        check("2001:db8::1", "2001:db8::1/128");
        check("2001:DB8:0:0::1/64", "2001:db8::/64");
        check("::ffff:192.0.2.1", "192.0.2.1/32");
        check("::ffff:192.0.2.1/120", "192.0.2.0/24");
        check("::/0", "::/0");
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "*",
            "192.168.1",
            "192.168.*",
            "192.*.1.*",
            "*.168.1.1",
            "192.168.1.1.*",
            "192.168.1.256",
            "192.168.1.*/24",
            "192.168.001.1",
            "0192.168.1.*",
            "+1.2.3.*",
            "1.2.3.-",
            "192.168.1.1/33",
            "192.168.1.1/-1",
            "192.168.1.1/",
            "2001:db8::*",
            "2001:db8::1/129",
            "fe80::1%eth0",
            "localhost",
            "192.168.1.1,192.168.1.2",
            "１.２.３.４",
        ] {
            assert_eq!(parse(bad), Err(InvalidNet), "{bad:?}");
        }
    }
}
