//! Decides which addresses an outgoing request may connect to.
//!
//! Everything that is not plain public unicast is refused: the IANA special-purpose registries (RFC
//! 6890 and its updates), cloud metadata services, and the IPv6 forms that carry an IPv4 address
//! inside. Addresses that the operator permits are always permitted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    Unspecified,
    Loopback,
    Private,
    LinkLocal,
    /// Shared with the provider's other customers (RFC 6598, `100.64.0.0/10`).
    Shared,
    /// The metadata service of a cloud, which serves credentials.
    Metadata,
    Multicast,
    Broadcast,
    Documentation,
    Benchmarking,
    /// Reserved by IANA, or unassigned.
    Reserved,
    UniqueLocal,
    SiteLocal,
    /// An IPv6 form that leads to an IPv4 address by way of a translator or a tunnel.
    Tunnel,
}

impl Why {
    fn words(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "shared (carrier-grade NAT)",
            Self::Metadata => "cloud metadata",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Reserved => "reserved",
            Self::UniqueLocal => "unique local",
            Self::SiteLocal => "site-local",
            Self::Tunnel => "tunnel or translator",
        }
    }
}

/// An address that outgoing requests may not connect to.
///
/// The text names the kind and not the address: it is shown to the owner of a webhook, and must not
/// reveal what a name resolves to inside the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host has a {} address, which is not permitted", .why.words())]
pub struct Refusal {
    pub address: IpAddr,
    pub why: Why,
}

/// Checks addresses; holds those that the operator permits beyond the public ones.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    permitted: Vec<IpNet>,
    /// Whether this machine and its private networks may be reached.
    private: bool,
}

impl Guard {
    /// A guard that lets public addresses and `permitted` pass.
    pub fn new(permitted: Vec<IpNet>) -> Self {
        Self {
            permitted,
            private: false,
        }
    }

    /// A guard that also permits this machine and private networks: loopback, the addresses of RFC
    /// 1918 and unique local ones. The metadata services of clouds remain refused.
    pub fn with_private() -> Self {
        Self {
            permitted: Vec::new(),
            private: true,
        }
    }

    /// A guard that also permits `127.0.0.0/8` and `::1`: for the local host while only this
    /// machine can reach it.
    pub fn with_loopback() -> Self {
        let nets = [
            IpNet::new_assert(Ipv4Addr::new(127, 0, 0, 0).into(), 8),
            IpNet::new_assert(Ipv6Addr::LOCALHOST.into(), 128),
        ];
        Self::new(nets.to_vec())
    }

    /// Whether a request may go to this address.
    pub fn judge(&self, address: IpAddr) -> Result<(), Refusal> {
        // `::ffff:10.0.0.1` connects to 10.0.0.1, so that is the address to check.
        let dialled = address.to_canonical();
        if self.permitted.iter().any(|net| net.contains(&dialled)) {
            return Ok(());
        }
        let found = match dialled {
            IpAddr::V4(v4) => judge_v4(v4),
            IpAddr::V6(v6) => self.judge_v6(v6),
        };
        match found {
            None => Ok(()),
            Some(Why::Loopback | Why::Private | Why::UniqueLocal) if self.private => Ok(()),
            Some(why) => Err(Refusal { address, why }),
        }
    }

    fn judge_v6(&self, address: Ipv6Addr) -> Option<Why> {
        if METADATA_V6.contains(&address) {
            return Some(Why::Metadata);
        }
        if let Some(inner) = nat64(address) {
            // The well-known prefix maps to the IPv4 address itself (RFC 6052): a network without
            // IPv4 reaches every public IPv4 host through it.
            return self.judge(inner.into()).err().map(|inner| inner.why);
        }
        let row = V6.iter().find(|row| row.holds(address.to_bits()));
        row.map(|row| row.why).or_else(|| {
            // Only 2000::/3 is assigned as global unicast (RFC 4291, IANA registry).
            (address.to_bits() >> 125 != 0b001).then_some(Why::Reserved)
        })
    }
}

/// The IPv4 address inside `64:ff9b::/96`.
fn nat64(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, _, _] = address.segments();
    let inner = u32::try_from(address.to_bits() & u128::from(u32::MAX)).ok()?;
    ([a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0]).then(|| Ipv4Addr::from(inner))
}

fn judge_v4(address: Ipv4Addr) -> Option<Why> {
    if METADATA_V4.contains(&address) {
        return Some(Why::Metadata);
    }
    let bits = u128::from(address.to_bits());
    V4.iter().find(|row| row.holds(bits)).map(|row| row.why)
}

/// One row of a registry: the addresses whose leading bits are those of `first`.
struct AddressRange {
    first: u128,
    /// How many trailing bits are free.
    free: u32,
    why: Why,
}

impl AddressRange {
    fn holds(&self, address: u128) -> bool {
        address.checked_shr(self.free).unwrap_or(0)
            == self.first.checked_shr(self.free).unwrap_or(0)
    }
}

const fn v4(first: [u8; 4], prefix: u32, why: Why) -> AddressRange {
    AddressRange {
        first: u32::from_be_bytes(first) as u128,
        free: 32 - prefix,
        why,
    }
}

const fn v6(first: [u16; 8], prefix: u32, why: Why) -> AddressRange {
    let [a, b, c, d, e, f, g, h] = first;
    AddressRange {
        first: Ipv6Addr::new(a, b, c, d, e, f, g, h).to_bits(),
        free: 128 - prefix,
        why,
    }
}

/// AWS (instance, task and pod credentials), and the one such address that is public: Azure's.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// AWS instance metadata, AWS pod credentials, Google's metadata.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// The first row that contains an address names it.
const V4: [AddressRange; 19] = [
    v4([0, 0, 0, 0], 32, Why::Unspecified),
    v4([0, 0, 0, 0], 8, Why::Reserved),
    v4([10, 0, 0, 0], 8, Why::Private),
    v4([100, 64, 0, 0], 10, Why::Shared),
    v4([127, 0, 0, 0], 8, Why::Loopback),
    v4([169, 254, 0, 0], 16, Why::LinkLocal),
    v4([172, 16, 0, 0], 12, Why::Private),
    v4([192, 0, 0, 0], 24, Why::Reserved),
    v4([192, 0, 2, 0], 24, Why::Documentation),
    // 6to4 relays, withdrawn by RFC 7526.
    v4([192, 88, 99, 0], 24, Why::Tunnel),
    v4([192, 168, 0, 0], 16, Why::Private),
    v4([198, 18, 0, 0], 15, Why::Benchmarking),
    v4([198, 51, 100, 0], 24, Why::Documentation),
    v4([203, 0, 113, 0], 24, Why::Documentation),
    v4([233, 252, 0, 0], 24, Why::Documentation),
    v4([224, 0, 0, 0], 4, Why::Multicast),
    v4([255, 255, 255, 255], 32, Why::Broadcast),
    v4([240, 0, 0, 0], 4, Why::Reserved),
    // AMT relays: a tunnel's entrance (RFC 7450).
    v4([192, 52, 193, 0], 24, Why::Tunnel),
];

/// The first row that contains an address names it.
const V6: [AddressRange; 19] = [
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, Why::Unspecified),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, Why::Loopback),
    // IPv4-compatible (withdrawn by RFC 4291) and IPv4-translated (RFC 7915).
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96, Why::Tunnel),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Why::Tunnel),
    // Translation to IPv4 within one network: made to reach private addresses (RFC 8215).
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Why::Tunnel),
    // Discard-only (RFC 6666) and its neighbour for dummy prefixes (RFC 9780).
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 63, Why::Reserved),
    // Teredo (RFC 4380).
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Why::Tunnel),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Why::Benchmarking),
    // AMT (RFC 7450).
    v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32, Why::Tunnel),
    // Protocol assignments, ORCHID among them: no hosts (RFC 2928).
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Why::Reserved),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Why::Documentation),
    // 6to4 (RFC 3056), withdrawn by RFC 7526.
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Why::Tunnel),
    // The 6bone's old prefix (RFC 3701).
    v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16, Why::Reserved),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Why::Documentation),
    // Segment identifiers (RFC 9602).
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Why::Reserved),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Why::UniqueLocal),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Why::LinkLocal),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Why::SiteLocal),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Why::Multicast),
];

#[cfg(test)]
mod tests;
