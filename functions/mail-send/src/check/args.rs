//! Custom arguments and substitutions: objects of strings with a size.

use std::collections::BTreeMap;

use crate::errors::{JsonPath, ValidationErrors};
use crate::wire;

pub(super) type ArgsMap = BTreeMap<String, String>;

/// Keys and values together, in bytes (SPEC, "Limits"); the wire drops what is larger.
const MOST: usize = 10_000;

/// Keys of `sections` together, in bytes: they are searched for at once, in memory that grows with
/// them. Their values are bounded by the request alone.
const MOST_SECTION_KEYS: usize = 256 * 1024;

const ARGS_TOO_BIG: &str = "The combined size of both global and personalization custom arguments may not exceed 10,000 bytes per personalization.";
const ARGS_EMPTY: &str = "custom_args cannot be empty.";

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
    if bytes > MOST {
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
