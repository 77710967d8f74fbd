//! The IP allow list, beside the address of the reader: what is about to change is shown first, and whether it locks
//! the reader out.

use std::net::IpAddr;

use access_settings::parse_net;
use ipnet::IpNet;
use posthaste_model::Timestamp;
use serde::Deserialize;

use super::Listed;
use crate::api::ReadError;
use crate::texts;
use crate::visit::PageVisit;

/// Entries on a page: a list has no limit.
const SHOWN: usize = 20;

/// What a change of the list does to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing of note.
    None,
    /// The list is empty from then on: every address may use keys and sessions.
    Opens,
    /// The reader's own address is refused from then on.
    LocksOut,
}

/// The list as the page shows it.
pub(super) struct AllowListShown {
    /// The address of the reader; empty where the service does not know it.
    pub(super) you: String,
    pub(super) is_listed: bool,
    pub(super) total: usize,
    pub(super) entries: Vec<AllowListRow>,
    pub(super) newer: Option<usize>,
    pub(super) older: Option<usize>,
    /// What the form asked for.
    pub(super) asked: String,
    pub(super) preview: Option<AdditionPreview>,
}

/// An entry.
pub(super) struct AllowListRow {
    pub(super) id: i64,
    pub(super) net: String,
    pub(super) since: String,
    pub(super) is_yours: bool,
    pub(super) removal: Effect,
}

/// What the form is about to add, or what is wrong with it.
pub(super) struct AdditionPreview {
    pub(super) nets: Vec<String>,
    pub(super) effect: Effect,
    pub(super) problems: Vec<String>,
}

#[derive(Deserialize)]
struct AllowListAnswer {
    id: i64,
    ip: String,
    created_at: Timestamp,
}

impl AllowListShown {
    fn new(entries: &[AllowListAnswer], ip: Option<IpAddr>, visit: &PageVisit) -> Self {
        let nets: Vec<Option<IpNet>> = entries.iter().map(|one| one.ip.parse().ok()).collect();
        let start = visit.params.number("from").min(entries.len());
        let row = |(at, entry): (usize, &AllowListAnswer)| AllowListRow {
            id: entry.id,
            net: entry.ip.clone(),
            since: entry.created_at.iso(),
            is_yours: contains(nets.get(at).copied().flatten(), ip),
            removal: effect(without(&nets, at), ip),
        };
        let rows = entries.iter().enumerate().skip(start).take(SHOWN);
        let asked = visit.params.text("add").trim().to_owned();
        let end = start + SHOWN;
        Self {
            you: ip.map(|ip| ip.to_string()).unwrap_or_default(),
            is_listed: nets.iter().any(|net| contains(*net, ip)),
            total: entries.len(),
            entries: rows.map(row).collect(),
            newer: (start > 0).then(|| start.saturating_sub(SHOWN)),
            older: (end < entries.len()).then_some(end),
            preview: (!asked.is_empty()).then(|| AdditionPreview::of(&asked, &nets, ip)),
            asked,
        }
    }
}

impl AdditionPreview {
    fn of(asked: &str, nets: &[Option<IpNet>], ip: Option<IpAddr>) -> Self {
        let words = || asked.split([' ', ',', ';', '\n', '\r', '\t']);
        let mut added = Vec::new();
        let mut problems = Vec::new();
        for word in words().filter(|word| !word.is_empty()) {
            match parse_net(word) {
                Ok(net) if nets.contains(&Some(net)) || added.contains(&net) => {
                    problems.push(format!("{net} {}", texts::LISTED_ALREADY));
                }
                Ok(net) => added.push(net),
                Err(invalid) => problems.push(format!("{word} {invalid}")),
            }
        }
        let all = nets.iter().flatten().chain(&added).copied();
        Self {
            effect: effect(all, ip),
            nets: added.iter().map(IpNet::to_string).collect(),
            problems,
        }
    }
}

fn contains(net: Option<IpNet>, ip: Option<IpAddr>) -> bool {
    net.zip(ip).is_some_and(|(net, ip)| net.contains(&ip))
}

/// All networks but the one at this place.
fn without(nets: &[Option<IpNet>], at: usize) -> impl Iterator<Item = IpNet> {
    let others = nets.iter().enumerate().filter(move |(i, _)| *i != at);
    others.filter_map(|(_, net)| *net)
}

/// What a list of these networks does to the reader.
fn effect(nets: impl IntoIterator<Item = IpNet>, ip: Option<IpAddr>) -> Effect {
    let mut is_empty = true;
    for net in nets {
        if contains(Some(net), ip) {
            return Effect::None;
        }
        is_empty = false;
    }
    if is_empty {
        Effect::Opens
    } else {
        Effect::LocksOut
    }
}

pub(super) async fn shown(visit: &PageVisit) -> Result<AllowListShown, ReadError> {
    let path = "/v3/access_settings/whitelist";
    let read = visit.api.get_with_headers::<Listed<AllowListAnswer>>(path);
    let (headers, list) = read.await?;
    let ip = headers.get("x-posthaste-caller-address");
    let ip = ip.and_then(|ip| ip.to_str().ok()?.parse::<IpAddr>().ok());
    let ip = ip.map(|ip| ip.to_canonical());
    Ok(AllowListShown::new(&list.result, ip, visit))
}

#[cfg(test)]
mod tests {
    use posthaste_http::AllowList;

    use super::*;

    const YOU: &str = "192.0.2.7";

    fn nets(texts: &[&str]) -> Vec<Option<IpNet>> {
        texts.iter().map(|text| parse_net(text).ok()).collect()
    }

    #[test]
    fn the_effect_of_a_list_is_that_of_the_gate() {
        let ip = Some(YOU.parse().unwrap());
        for (list, want) in [
            (&[][..], Effect::Opens),
            (&["192.0.2.7"], Effect::None),
            (&["192.0.2.8"], Effect::LocksOut),
            (&["2001:db8::/32", "192.0.2.*"], Effect::None),
            (&["192.0.2.8/31", "::/0"], Effect::LocksOut),
        ] {
            let of: Vec<_> = nets(list).into_iter().flatten().collect();
            assert_eq!(effect(of.clone(), ip), want, "{list:?}");
            let gate = AllowList::new(of);
            assert_eq!(gate.lets_in(ip), want != Effect::LocksOut, "{list:?}");
        }
        // An address that is not known matches no entry.
        let one = nets(&["0.0.0.0/0"]).into_iter().flatten();
        assert_eq!(effect(one, None), Effect::LocksOut);
    }

    #[test]
    fn removing_what_holds_the_reader_locks_out_unless_another_entry_does() {
        let ip = Some(YOU.parse().unwrap());
        let removal = |list: &[&str], at| effect(without(&nets(list), at), ip);
        assert_eq!(removal(&[YOU], 0), Effect::Opens);
        assert_eq!(removal(&[YOU, "203.0.113.9"], 0), Effect::LocksOut);
        assert_eq!(removal(&[YOU, "203.0.113.9"], 1), Effect::None);
        assert_eq!(removal(&[YOU, "192.0.2.0/24"], 0), Effect::None);
    }

    #[test]
    fn a_preview_says_what_is_added_and_what_is_wrong() {
        let ip = Some(YOU.parse().unwrap());
        let of = |asked: &str, list: &[&str]| AdditionPreview::of(asked, &nets(list), ip);
        let first = of("203.0.113.9, 198.51.100.*\n", &[]);
        assert_eq!(first.nets, ["203.0.113.9/32", "198.51.100.0/24"]);
        assert_eq!((first.effect, first.problems.len()), (Effect::LocksOut, 0));
        let both = of("203.0.113.9 192.0.2.0/24", &[]);
        assert_eq!(both.effect, Effect::None);
        let later = of("203.0.113.9", &[YOU]);
        assert_eq!(later.effect, Effect::None);
        let wrong = of("203.0.113.9 nowhere 203.0.113.9 192.0.2.7/32", &[YOU]);
        assert_eq!(wrong.nets, ["203.0.113.9/32"]);
        assert_eq!(
            wrong.problems,
            [
                "nowhere must be an IP address, one with * for its last octets, or a CIDR range",
                "203.0.113.9/32 is on the list already, or named twice",
                "192.0.2.7/32 is on the list already, or named twice",
            ]
        );
    }
}
