//! The short names a send goes by: template, categories, batch, pool.

use std::collections::BTreeSet;

use posthaste_model::BatchId;

use crate::errors::{JsonPath, ValidationErrors, quote_value};
use crate::wire;

const CATEGORIES: usize = 10;
/// Of one category, in characters.
const CATEGORY: usize = 255;

/// An empty id is none.
pub(super) fn template_id(given: Option<wire::TextValue<'_>>) -> Option<String> {
    given
        .filter(|id| !id.is_empty())
        .map(wire::TextValue::into_string)
}

/// At most ten, each of 1 to 255 ASCII characters, no two the same.
pub(super) fn categories(
    given: Option<wire::JsonList<wire::TextValue<'_>, 11>>,
    found: &mut ValidationErrors,
) -> Vec<String> {
    let (root, given) = (JsonPath::Root, given.unwrap_or_default());
    let at = &root.key("categories");
    let count = given.count;
    if count > CATEGORIES {
        found.push_error(
            at,
            format!(
                "There is a limit of {CATEGORIES} categories for each email that is sent. You provided {count} categories."
            ),
        );
    }
    let mut seen = BTreeSet::new();
    for (i, category) in given.items.iter().enumerate() {
        let (text, at) = (&**category, &at.index(i));
        if text.chars().count() > CATEGORY {
            let text = quote_value(text);
            found.push_error(
                at,
                format!(
                    "Each category must not be longer than {CATEGORY} characters. {text} exceeds this limit"
                ),
            );
        }
        if text.is_empty() {
            found.push_error(
                at,
                "Each category must be at least one character in length.",
            );
        }
        if !text.is_ascii() {
            found.push_error(at, "Categories can not contain non-ASCII characters.");
        }
        if !seen.insert(text) {
            let text = quote_value(text);
            found.push_error(
                at,
                format!(
                    "The categories must be a unique list, and you have included {text} more than once."
                ),
            );
        }
    }
    given
        .items
        .into_iter()
        .map(wire::TextValue::into_string)
        .collect()
}

/// An id of the right form; whether it belongs to the account is checked later. An empty id is
/// none.
pub(super) fn batch_id(
    given: Option<wire::TextValue<'_>>,
    found: &mut ValidationErrors,
) -> Option<BatchId> {
    let given = given.filter(|id| !id.is_empty())?;
    let parsed = BatchId::parse(&given).ok();
    if parsed.is_none() {
        found.push_error(
            &JsonPath::Root.key("batch_id"),
            "The batch_id must be a valid batch ID.",
        );
    }
    parsed
}

/// 2 to 64 characters (SPEC, "Limits").
pub(super) fn ip_pool_name(
    given: Option<wire::TextValue<'_>>,
    found: &mut ValidationErrors,
) -> Option<String> {
    let name = given?.into_string();
    if !(2..=64).contains(&name.chars().count()) {
        found.push_error(
            &JsonPath::Root.key("ip_pool_name"),
            "The IP pool name must be 2 to 64 characters long.",
        );
    }
    Some(name)
}
