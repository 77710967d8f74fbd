//! Which network addresses count as one client.

use std::net::IpAddr;

/// The key of a client: an IPv4 address (also in its IPv6 form), or the /64 of an IPv6 address,
/// whose 2^64 addresses usually belong to one customer.
pub fn ip_prefix(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
    }
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
}
