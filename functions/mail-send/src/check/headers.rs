//! Custom headers: valid header names that are not reserved.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_mime::{HeaderRule, LONGEST_HEADER_NAME, header_rule};

use crate::errors::{JsonPath, ValidationErrors};
use crate::wire;

/// What differs between the headers of the message and those of an envelope.
pub(super) struct HeaderErrorTexts {
    letters: &'static str,
    reserved: &'static str,
}

pub(super) const MESSAGE: HeaderErrorTexts = HeaderErrorTexts {
    letters: "Header keys cannot contain non-ASCII characters and empty spaces.",
    reserved: "Header can not be one of the reserved keys.",
};

pub(super) const ENVELOPE: HeaderErrorTexts = HeaderErrorTexts {
    letters: "Header keys cannot contain non-ASCII characters or empty spaces.",
    reserved: "Header cannot be one of the reserved keys.",
};

/// The headers below `at`. A value may be anything that has no line end; the composer encodes it.
pub(super) fn check(
    given: Option<wire::Headers>,
    at: &JsonPath<'_>,
    texts: &HeaderErrorTexts,
    found: &mut ValidationErrors,
) -> BTreeMap<String, String> {
    let Some(given) = given else {
        return BTreeMap::new();
    };
    let (headers, at) = (given.entries, &at.key("headers"));
    let any = |rule: fn(&str) -> bool| headers.keys().any(|name| rule(name));
    let mut push_if = |broken: bool, message: &str| {
        if broken {
            found.push_error(at, message);
        }
    };
    push_if(given.too_big, "The headers may not exceed 100,000 bytes.");
    push_if(
        any(|name| name.is_empty() || !name.bytes().all(|b| b.is_ascii_graphic())),
        texts.letters,
    );
    push_if(
        any(|name| name.contains(':')),
        "Header keys cannot contain a colon.",
    );
    push_if(
        any(|name| name.len() > LONGEST_HEADER_NAME),
        &format!("Header keys cannot be longer than {LONGEST_HEADER_NAME} characters."),
    );
    push_if(any(is_reserved), texts.reserved);
    push_if(
        repeated(&headers),
        "The headers cannot contain duplicate keys.",
    );
    push_if(
        headers.values().any(|v| v.contains(['\r', '\n', '\0'])),
        "Header values cannot contain CRLF or NUL characters.",
    );
    headers
}

fn is_reserved(name: &str) -> bool {
    header_rule(name) == HeaderRule::Refused
}

/// Whether two names differ only in case. (The same name twice is one JSON key: the last wins.)
fn repeated(headers: &BTreeMap<String, String>) -> bool {
    let mut seen = BTreeSet::new();
    headers.len() > 1 && !headers.keys().all(|n| seen.insert(n.to_ascii_lowercase()))
}
