//! Who gets no mail: an address looked up in all lists, the lists, and the groups.

pub(crate) mod lists;
mod look_up;

use askama::Template;
use serde::Deserialize;

use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;
use lists::{LISTS, ListInfo};
use look_up::LookedUp;

#[derive(Template)]
#[template(path = "suppressions.html")]
struct SuppressionsPage {
    /// What is looked for, as it was typed.
    q: String,
    /// Where the address is and is not; `None` when none is looked for.
    found: Option<LookedUp>,
    lists: &'static [ListInfo],
    groups: Vec<GroupAnswer>,
    /// Why there are no groups.
    problem: Option<String>,
    can_create: bool,
}

/// An unsubscribe group, as the API answers it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GroupAnswer {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) is_default: bool,
    pub(crate) unsubscribes: i64,
}

/// An entry of a list, as the API answers it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EntryAnswer {
    pub(crate) created: i64,
    pub(crate) email: String,
    #[serde(default)]
    pub(crate) reason: String,
}

/// Every group, and whether an address left it.
#[derive(Deserialize)]
pub(crate) struct MembershipAnswer {
    suppressions: Vec<GroupStanding>,
}

#[derive(Deserialize)]
struct GroupStanding {
    id: i64,
    name: String,
    suppressed: bool,
}

impl MembershipAnswer {
    /// Whether the address left this group.
    pub(crate) fn has_left(&self, group: i64) -> bool {
        let all = self.suppressions.iter();
        all.filter(|one| one.suppressed).any(|one| one.id == group)
    }
}

impl GroupAnswer {
    /// How many left it.
    pub(crate) fn count(&self) -> String {
        texts::count(self.unsubscribes)
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let q = visit.params.text("q").trim().to_owned();
    let found = match q.as_str() {
        "" => None,
        email => Some(look_up::find(&visit, email).await),
    };
    let groups = visit.api.get::<Vec<GroupAnswer>>("/v3/asm/groups").await;
    let (groups, problem) = match groups {
        Ok(groups) => (groups, None),
        Err(error) => (Vec::new(), Some(error.without("asm.groups.read"))),
    };
    let page = SuppressionsPage {
        q,
        found,
        lists: &LISTS,
        groups,
        problem,
        can_create: visit.caller.key.holds("asm.groups.create"),
    };
    PageContent::of(texts::SUPPRESSIONS, &page)
}
