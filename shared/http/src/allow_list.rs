//! The allow list of an account, compiled: a sorted set of ranges, so that ten thousand entries
//! cost one binary search, and an account without entries costs nothing.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use posthaste_cache::BoundedMap;
use posthaste_model::AccountId;
use posthaste_store::{Account, Store, StoreError};

/// First and last address of a run, both inside.
type Run<N> = (N, N);

/// Which addresses may use an account. Without entries: all of them (SPEC, "IP restriction").
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    v4: Vec<Run<u32>>,
    v6: Vec<Run<u128>>,
}

impl AllowList {
    /// Compiles networks.
    pub fn new(nets: impl IntoIterator<Item = IpNet>) -> Self {
        let mut list = Self::default();
        for net in nets {
            match net {
                IpNet::V4(net) => list
                    .v4
                    .push((net.network().to_bits(), net.broadcast().to_bits())),
                IpNet::V6(net) => list
                    .v6
                    .push((net.network().to_bits(), net.broadcast().to_bits())),
            }
        }
        list.v4 = merged(list.v4);
        list.v6 = merged(list.v6);
        list
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    /// Whether this address is allowed. An unknown address never matches an entry.
    pub fn lets_in(&self, ip: Option<IpAddr>) -> bool {
        if self.is_empty() {
            return true;
        }
        match ip.map(|ip| ip.to_canonical()) {
            None => false,
            Some(IpAddr::V4(ip)) => within(&self.v4, ip.to_bits()),
            Some(IpAddr::V6(ip)) => within(&self.v6, ip.to_bits()),
        }
    }
}

/// Sorted, with overlapping runs merged.
fn merged<N: Ord + Copy>(mut runs: Vec<Run<N>>) -> Vec<Run<N>> {
    runs.sort_unstable();
    let mut out: Vec<Run<N>> = Vec::with_capacity(runs.len());
    for (first, last) in runs {
        match out.last_mut() {
            Some(open) if first <= open.1 => open.1 = open.1.max(last),
            Some(_) | None => out.push((first, last)),
        }
    }
    out
}

fn within<N: Ord + Copy>(runs: &[Run<N>], at: N) -> bool {
    let after = runs.partition_point(|(first, _)| *first <= at);
    let run = after.checked_sub(1).and_then(|i| runs.get(i));
    run.is_some_and(|(_, last)| at <= *last)
}

/// A compiled list and the state of the account's row it was read at.
type Compiled = (u64, Arc<AllowList>);

/// The compiled lists of this instance. A list is read again only when the number in the account's
/// own row, which is never older than ten seconds, shows that it changed.
#[derive(Debug)]
pub(crate) struct Lists(BoundedMap<AccountId, Compiled>);

impl Default for Lists {
    fn default() -> Self {
        Self(BoundedMap::new(Self::MOST))
    }
}

impl Lists {
    /// How many lists are cached. A list is read again at the first request after it made room.
    const MOST: usize = 1_000;

    /// The list of this account.
    pub(crate) async fn of(
        &self,
        store: &Store,
        account: &Account,
    ) -> Result<Arc<AllowList>, StoreError> {
        if account.allow_list == 0 {
            return Ok(Arc::default());
        }
        let known = self.0.get(&account.id);
        if let Some((_, list)) = known.filter(|(state, _)| *state == account.allow_list) {
            return Ok(list);
        }
        let entries = store.allowed_ips(&account.id).await?;
        let list = Arc::new(AllowList::new(entries.into_iter().map(|entry| entry.net)));
        let compiled = (account.allow_list, Arc::clone(&list));
        self.0.insert(account.id.clone(), compiled);
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(nets: &[&str]) -> AllowList {
        AllowList::new(nets.iter().map(|net| net.parse::<IpNet>().unwrap()))
    }

    #[track_caller]
    fn check(nets: &[&str], ip: &str, want: bool) {
        let ip = ip.parse().unwrap();
        assert_eq!(list(nets).lets_in(Some(ip)), want, "{nets:?} {ip}");
    }

    #[test]
    fn a_list_without_entries_is_open_to_all() {
        check(&[], "203.0.113.9", true);
        check(&[], "2001:db8::1", true);
        assert!(list(&[]).lets_in(None));
        assert!(!list(&["203.0.113.0/24"]).lets_in(None));
    }

    #[test]
    fn every_prefix_holds_its_edges_and_nothing_beyond() {
        for bits in 0..=32_u8 {
            let net = ipnet::Ipv4Net::new([203, 0, 113, 77].into(), bits).unwrap();
            let list = AllowList::new([IpNet::V4(net)]);
            let (first, last) = (net.network().to_bits(), net.broadcast().to_bits());
            for (ip, inside) in [
                (first, true),
                (last, true),
                (first.wrapping_sub(1), bits == 0),
                (last.wrapping_add(1), bits == 0),
            ] {
                let ip = IpAddr::V4(ip.into());
                assert_eq!(list.lets_in(Some(ip)), inside, "/{bits} {ip}");
            }
        }
    }

    #[test]
    fn overlapping_networks_are_one_run() {
        let nets = ["10.0.0.0/8", "10.1.0.0/16", "10.255.255.0/24", "9.0.0.0/9"];
        check(&nets, "10.200.0.1", true);
        check(&nets, "10.1.2.3", true);
        check(&nets, "9.127.255.255", true);
        check(&nets, "9.128.0.0", false);
        check(&nets, "11.0.0.0", false);
        assert_eq!(list(&nets).v4.len(), 2);
    }

    #[test]
    fn a_mapped_address_is_the_ipv4_address_inside() {
        check(&["203.0.113.9/32"], "::ffff:203.0.113.9", true);
        check(&["203.0.113.9/32"], "::ffff:203.0.113.8", false);
        check(&["2001:db8::/64"], "2001:db8::ffff", true);
        check(&["2001:db8::/64"], "2001:db8:0:1::", false);
        // An IPv6 list does not admit IPv4 callers.
        check(&["::/0"], "203.0.113.9", false);
    }

    #[test]
    fn ten_thousand_entries_answer_like_the_plain_walk() {
        let net = |i: u32| {
            let base = i.wrapping_mul(2_654_435_761);
            ipnet::Ipv4Net::new(base.into(), 20 + u8::try_from(i % 13).unwrap()).unwrap()
        };
        let nets: Vec<_> = (0..10_000).map(net).collect();
        let list = AllowList::new(nets.iter().map(|net| IpNet::V4(*net)));
        for i in 0..2_000_u32 {
            let ip = std::net::Ipv4Addr::from(i.wrapping_mul(2_246_822_519).rotate_left(7));
            let want = nets.iter().any(|net| net.contains(&ip));
            assert_eq!(list.lets_in(Some(ip.into())), want, "{ip}");
        }
        assert!(nets.iter().all(|net| list.lets_in(Some(net.addr().into()))));
    }
}
