//! What a send is labelled with: template, categories, batch and pool, custom arguments and
//! substitutions.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_model::BatchId;

use crate::errors::{JsonPath, ValidationErrors, quote_value};
use crate::wire;

pub(super) type ArgsMap = BTreeMap<String, String>;

/// Keys and values together, in bytes (SPEC, "Limits"); the wire drops what is larger.
const MOST_ARGS: usize = 10_000;

/// Keys of `sections` together, in bytes: they are searched for at once, in memory that grows with
/// them. Their values are bounded by the request alone.
const MOST_SECTION_KEYS: usize = 256 * 1024;

const ARGS_TOO_BIG: &str = "The combined size of both global and personalization custom arguments may not exceed 10,000 bytes per personalization.";
const ARGS_EMPTY: &str = "custom_args cannot be empty.";

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

/// `custom_args` of an envelope.
pub(super) fn of_envelope(
    given: Option<wire::SmallStrings>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> ArgsMap {
    given.map_or_else(ArgsMap::new, |args| {
        sized(args, &at.key("custom_args"), found)
    })
}

/// `custom_args` of the message.
pub(super) fn of_message(
    given: Option<wire::ArgsValue<'_>>,
    found: &mut ValidationErrors,
) -> ArgsMap {
    let root = JsonPath::Root;
    let at = &root.key("custom_args");
    let text = match given {
        None => return ArgsMap::new(),
        Some(wire::ArgsValue::Object(args)) => return sized(args, at, found),
        Some(wire::ArgsValue::Text(text)) => text,
    };
    if let Ok(args) = serde_json::from_str(&text) {
        return sized(args, at, found);
    }
    let is_object = serde_json::from_str::<wire::TemplateData>(&text).is_ok();
    found.push_error(
        at,
        if is_object {
            "All values of custom arguments object must be strings"
        } else if text.is_empty() {
            ARGS_EMPTY
        } else {
            "A custom_args string must hold a JSON object."
        },
    );
    ArgsMap::new()
}

fn sized(args: wire::SmallStrings, at: &JsonPath<'_>, found: &mut ValidationErrors) -> ArgsMap {
    if args.too_big {
        found.push_error(at, ARGS_TOO_BIG);
    } else if args.entries.is_empty() {
        found.push_error(at, ARGS_EMPTY);
    }
    args.entries
}

/// The arguments of an envelope merged with those of the message that it does not override. Each
/// was measured before.
pub(super) fn check_merged(
    message: &ArgsMap,
    own: &ArgsMap,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) {
    if own.is_empty() || message.is_empty() {
        return;
    }
    let inherited = message.iter().filter(|(key, _)| !own.contains_key(*key));
    let bytes: usize = inherited.chain(own).map(|(k, v)| k.len() + v.len()).sum();
    if bytes > MOST_ARGS {
        found.push_error(&at.key("custom_args"), ARGS_TOO_BIG);
    }
}

/// `sections` of the message.
pub(super) fn sections(given: Option<wire::Sections>, found: &mut ValidationErrors) -> ArgsMap {
    let sections = given.map(|given| given.0).unwrap_or_default();
    if sections.keys().map(String::len).sum::<usize>() > MOST_SECTION_KEYS {
        found.push_error(
            &JsonPath::Root.key("sections"),
            "The keys of sections may not exceed 262,144 bytes.",
        );
    }
    sections
}

/// `substitutions` of an envelope; a dynamic template has its data instead.
pub(super) fn substitutions(
    given: Option<wire::SmallStrings>,
    at: &JsonPath<'_>,
    dynamic: bool,
    found: &mut ValidationErrors,
) -> ArgsMap {
    let Some(given) = given else {
        return ArgsMap::new();
    };
    let at = &at.key("substitutions");
    if dynamic && (given.too_big || !given.entries.is_empty()) {
        found.push_error(at, "Substitutions may not be used with dynamic templating");
    }
    if given.too_big {
        found.push_error(
            at,
            "You are limited to 10,000 bytes of substitutions per personalization.",
        );
    }
    given.entries
}
