//! The subusers of the account.

use askama::Template;
use serde::Deserialize;

use crate::api::{ReadError, encoded};
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;

/// Subusers on a page.
const SHOWN: usize = 50;

#[derive(Template)]
#[template(path = "subusers.html")]
struct SubusersPage {
    found: Result<Vec<SubuserRow>, String>,
    /// The beginning of the names that are looked for.
    name: String,
    newer: Option<String>,
    older: Option<String>,
    can_create: bool,
}

struct SubuserRow {
    username: String,
    email: String,
    is_disabled: bool,
    /// The address of its page.
    path: String,
}

/// A subuser, as the API answers it.
#[derive(Deserialize)]
pub(super) struct SubuserAnswer {
    pub(super) username: String,
    pub(super) email: String,
    pub(super) disabled: bool,
}

impl From<SubuserAnswer> for SubuserRow {
    fn from(subuser: SubuserAnswer) -> Self {
        Self {
            path: format!("/console/subusers/{}", encoded(&subuser.username)),
            username: subuser.username,
            email: subuser.email,
            is_disabled: subuser.disabled,
        }
    }
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let name = visit.params.text("name").trim().to_owned();
    let offset = visit.params.number("offset");
    let read = subusers(&visit, &name, offset).await;
    let to = |offset: usize| {
        let name = encoded(&name);
        format!("/console/subusers?name={name}&offset={offset}")
    };
    let is_full = read.as_ref().is_ok_and(|rows| rows.len() > SHOWN);
    let page = SubusersPage {
        newer: (offset > 0).then(|| to(offset.saturating_sub(SHOWN))),
        older: is_full.then(|| to(offset.saturating_add(SHOWN))),
        found: read
            .map(|rows| rows.into_iter().take(SHOWN).collect())
            .map_err(|error| error.without("subusers.read")),
        can_create: visit.caller.key.holds("subusers.create"),
        name,
    };
    PageContent::of(texts::SUBUSERS, &page)
}

/// Those of a page, and one more where there are more.
async fn subusers(
    visit: &PageVisit,
    name: &str,
    offset: usize,
) -> Result<Vec<SubuserRow>, ReadError> {
    let more = SHOWN + 1;
    let mut path = format!("/v3/subusers?limit={more}&offset={offset}");
    if !name.is_empty() {
        path = format!("{path}&username={}", encoded(name));
    }
    let found = visit.api.get::<Vec<SubuserAnswer>>(&path).await?;
    Ok(found.into_iter().map(SubuserRow::from).collect())
}
