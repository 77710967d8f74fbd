//! One address in all lists and groups.

use futures_util::future::join_all;
use posthaste_model::{EmailAddress, Timestamp};

use super::lists::{LISTS, ListInfo};
use super::{EntryAnswer, MembershipAnswer};
use crate::api::{ApiReader, encoded};
use crate::texts;
use crate::visit::PageVisit;

/// Where an address stands.
#[derive(Default)]
pub(super) struct LookedUp {
    /// The lists that it is on.
    pub(super) entries: Vec<FoundEntry>,
    /// The groups that it left, by number and name.
    pub(super) groups: Vec<(i64, String)>,
    /// What could not be read, each with the reason.
    pub(super) problems: Vec<String>,
    /// Whether the key may take it back into a group.
    pub(super) can_return: bool,
}

/// An entry of the address.
pub(super) struct FoundEntry {
    pub(super) list: &'static ListInfo,
    pub(super) since: String,
    pub(super) reason: String,
    pub(super) can_remove: bool,
}

/// Looks up an address.
pub(super) async fn find(visit: &PageVisit, email: &str) -> LookedUp {
    if EmailAddress::parse_stored(email).is_err() {
        return LookedUp {
            problems: vec![texts::WHOLE_ADDRESS.to_owned()],
            ..LookedUp::default()
        };
    }
    let key = &visit.caller.key;
    let mut found = LookedUp {
        can_return: key.holds("asm.groups.suppressions.delete"),
        ..LookedUp::default()
    };
    let answers = LISTS
        .iter()
        .map(|list| async move { (list, entry(&visit.api, list, email).await) });
    for (list, answer) in join_all(answers).await {
        match answer {
            Ok(None) => {}
            Ok(Some(entry)) => found.entries.push(FoundEntry {
                list,
                since: Timestamp(entry.created).iso(),
                reason: entry.reason,
                can_remove: list.can_remove(key),
            }),
            Err(message) => found
                .problems
                .push(format!("{}: {message}", list.text.label)),
        }
    }
    let path = format!("/v3/asm/suppressions/{}", encoded(email));
    match visit.api.get::<MembershipAnswer>(&path).await {
        Ok(answer) => {
            let left = answer
                .suppressions
                .into_iter()
                .filter(|group| group.suppressed);
            found.groups = left.map(|group| (group.id, group.name)).collect();
        }
        Err(error) => {
            let message = error.without("asm.suppressions.read");
            found.problems.push(format!("{}: {message}", texts::GROUPS));
        }
    }
    found
}

async fn entry(
    api: &ApiReader,
    list: &ListInfo,
    email: &str,
) -> Result<Option<EntryAnswer>, String> {
    let path = format!("{}/{}", list.path, encoded(email));
    let found = api.get::<Vec<EntryAnswer>>(&path).await;
    let found = found.map_err(|error| error.without(list.read))?;
    Ok(found.into_iter().next())
}
