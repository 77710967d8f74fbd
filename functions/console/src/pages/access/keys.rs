//! API keys with what they may do and when they were used; and the page of one, which changes or removes it.

use std::collections::BTreeSet;

use askama::Template;
use posthaste_model::Timestamp;
use serde::Deserialize;

use super::Listed;
use crate::api::ReadError;
use crate::content::{PageContent, PageError, PageResult};
use crate::pages::first_key::{ScopeGroup, ScopesAnswer, groups};
use crate::texts;
use crate::visit::PageVisit;

/// Scopes that a row names; of more it says how many.
const NAMED: usize = 2;

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    key: KeyRow,
    /// What the key may do, and what the reader may grant.
    groups: Vec<ScopeGroup>,
    held: BTreeSet<String>,
    can_change: bool,
    can_remove: bool,
}

/// A key in the list.
pub(super) struct KeyRow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_test: bool,
    /// What it may do, in few words.
    pub(super) about: String,
    pub(super) made: String,
    /// When it was last used, if it was.
    pub(super) used: Option<String>,
    /// Whether the session of the reader stands for it.
    pub(super) is_own: bool,
}

#[derive(Deserialize)]
struct KeyDetails {
    api_key_id: String,
    name: String,
    #[serde(default)]
    test: bool,
    kind: String,
    scopes: Vec<String>,
    created_at: Timestamp,
    last_used_at: Option<Timestamp>,
}

impl KeyRow {
    fn of(key: &KeyDetails, own: &str) -> Self {
        Self {
            id: key.api_key_id.clone(),
            name: key.name.clone(),
            is_test: key.test,
            about: about(&key.kind, &key.scopes),
            made: key.created_at.iso(),
            used: key.last_used_at.map(Timestamp::iso),
            is_own: key.api_key_id == own,
        }
    }
}

fn about(kind: &str, scopes: &[String]) -> String {
    if kind == "full" {
        return texts::FULL_ACCESS.to_owned();
    }
    // What most keys are for comes first.
    let is_sending = |scope: &&String| scope.as_str() == "mail.send";
    let sending = scopes.iter().filter(is_sending);
    let others = scopes.iter().filter(|scope| !is_sending(scope));
    let named = sending.chain(others).take(NAMED).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    match scopes.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

async fn all(visit: &PageVisit) -> Result<Vec<KeyDetails>, ReadError> {
    let path = "/v3/api_keys?details=true";
    let keys = visit.api.get::<Listed<KeyDetails>>(path).await?;
    Ok(keys.result)
}

pub(super) async fn rows(visit: &PageVisit) -> Result<Vec<KeyRow>, ReadError> {
    let own = visit.caller.key.id.to_string();
    let keys = all(visit).await?;
    Ok(keys.iter().map(|key| KeyRow::of(key, &own)).collect())
}

/// The page of one key.
pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    let keys = all(&visit).await?;
    let found = keys.into_iter().find(|key| key.api_key_id == id);
    let key = found.ok_or_else(PageError::not_found)?;
    let granted = visit.api.get::<ScopesAnswer>("/v3/scopes").await?.scopes;
    let held: BTreeSet<_> = key.scopes.iter().cloned().collect();
    let shown: BTreeSet<_> = held.iter().cloned().chain(granted).collect();
    let own = &visit.caller.key;
    let page = KeyPage {
        key: KeyRow::of(&key, own.id.as_str()),
        groups: groups(shown.into_iter().collect()),
        held,
        can_change: own.holds("api_keys.update"),
        can_remove: own.holds("api_keys.delete"),
    };
    PageContent::of(key.name, &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_few_scopes_and_says_how_many_more_there_are() {
        let scopes = ["a.read", "b.read", "c.read", "mail.send"].map(str::to_owned);
        for (kind, count, want) in [
            ("full", 4, "Full access"),
            ("restricted", 1, "a.read"),
            ("restricted", 2, "a.read, b.read"),
            ("billing", 3, "a.read, b.read and 1 more"),
            ("restricted", 4, "mail.send, a.read and 2 more"),
        ] {
            assert_eq!(about(kind, &scopes[..count]), want);
        }
    }
}
