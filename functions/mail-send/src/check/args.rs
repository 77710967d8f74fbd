//! Custom arguments and substitutions: objects of strings with a size.

use std::collections::BTreeMap;

use super::{Findings, Path};
use crate::wire;

pub(super) type Map = BTreeMap<String, String>;

/// Keys and values together, in bytes (SPEC, "Limits"); the wire drops what is larger.
const MOST: usize = 10_000;

/// Keys of `sections` together, in bytes: they are searched for all at once, in memory that grows
/// with them. What stands for them is bounded by the request alone.
const MOST_SECTION_KEYS: usize = 256 * 1024;

const ARGS_TOO_BIG: &str = "The combined size of both global and personalization custom arguments may not exceed 10,000 bytes per personalization.";
const ARGS_EMPTY: &str = "custom_args cannot be empty.";

/// `custom_args` of an envelope.
pub(super) fn of_envelope(
    given: Option<wire::SmallStrings>,
    at: &Path<'_>,
    found: &mut Findings,
) -> Map {
    given.map_or_else(Map::new, |args| sized(args, &at.key("custom_args"), found))
}

/// `custom_args` of the message.
pub(super) fn of_message(given: Option<wire::Args<'_>>, found: &mut Findings) -> Map {
    let root = Path::Root;
    let at = &root.key("custom_args");
    let text = match given {
        None => return Map::new(),
        Some(wire::Args::Object(args)) => return sized(args, at, found),
        Some(wire::Args::Text(text)) => text,
    };
    if let Ok(args) = serde_json::from_str(&text) {
        return sized(args, at, found);
    }
    let is_object = serde_json::from_str::<wire::Data>(&text).is_ok();
    found.add(
        at,
        match is_object {
            true => "All values of custom arguments object must be strings",
            false if text.is_empty() => ARGS_EMPTY,
            false => "A custom_args string must hold a JSON object.",
        },
    );
    Map::new()
}

fn sized(args: wire::SmallStrings, at: &Path<'_>, found: &mut Findings) -> Map {
    if args.too_big {
        found.add(at, ARGS_TOO_BIG);
    } else if args.entries.is_empty() {
        found.add(at, ARGS_EMPTY);
    }
    args.entries
}

/// The arguments of an envelope with those of the message that it does not override. Either alone
/// has been measured before.
pub(super) fn check_merged(message: &Map, own: &Map, at: &Path<'_>, found: &mut Findings) {
    if own.is_empty() || message.is_empty() {
        return;
    }
    let inherited = message.iter().filter(|(key, _)| !own.contains_key(*key));
    let bytes: usize = inherited.chain(own).map(|(k, v)| k.len() + v.len()).sum();
    if bytes > MOST {
        found.add(&at.key("custom_args"), ARGS_TOO_BIG);
    }
}

/// `sections` of the message.
pub(super) fn sections(given: Option<wire::Sections>, found: &mut Findings) -> Map {
    let sections = given.map(|given| given.0).unwrap_or_default();
    if sections.keys().map(String::len).sum::<usize>() > MOST_SECTION_KEYS {
        found.add(
            &Path::Root.key("sections"),
            "The keys of sections may not exceed 262,144 bytes.",
        );
    }
    sections
}

/// `substitutions` of an envelope; a dynamic template has its data instead.
pub(super) fn substitutions(
    given: Option<wire::SmallStrings>,
    at: &Path<'_>,
    dynamic: bool,
    found: &mut Findings,
) -> Map {
    let Some(given) = given else {
        return Map::new();
    };
    let at = &at.key("substitutions");
    if dynamic && (given.too_big || !given.entries.is_empty()) {
        found.add(at, "Substitutions may not be used with dynamic templating");
    }
    if given.too_big {
        found.add(
            at,
            "You are limited to 10,000 bytes of substitutions per personalization.",
        );
    }
    given.entries
}
