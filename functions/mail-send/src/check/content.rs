//! Subject and body parts.

use posthaste_model::{Content, Personalization};

use crate::errors::{CONTENT_REQUIRED, JsonPath, SUBJECT_REQUIRED, ValidationErrors};
use crate::wire;

/// Own limit: more alternatives than any mail program looks at.
const PARTS: usize = 100;

/// The one type with a parameter that is accepted, in this spelling (API facts 2.5 and trap 12).
const CALENDAR: &str = "text/calendar; method=";

/// Its methods (RFC 5546, section 1.4).
const METHODS: [&str; 8] = [
    "ADD",
    "CANCEL",
    "COUNTER",
    "DECLINECOUNTER",
    "PUBLISH",
    "REFRESH",
    "REPLY",
    "REQUEST",
];

/// A subject, of the message or of one envelope: not empty.
pub(super) fn subject(
    given: Option<wire::TextValue<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> Option<String> {
    let subject = given?.into_string();
    if subject.is_empty() {
        found.push_error(
            &at.key("subject"),
            "The subject of your email must be a string at least one character in length.",
        );
    }
    Some(subject)
}

/// Without a template, the message or else every envelope has a subject.
pub(super) fn subject_is_there(
    message: Option<&str>,
    envelopes: &[Personalization],
    found: &mut ValidationErrors,
) {
    let in_all = !envelopes.is_empty() && envelopes.iter().all(|e| e.subject.is_some());
    if message.is_none() && !in_all {
        found.push_error(&JsonPath::Root.key("subject"), SUBJECT_REQUIRED);
    }
}

/// The body parts; only a template makes them optional.
pub(super) fn parts(
    given: Option<wire::JsonList<wire::Content<'_>, 101>>,
    has_template: bool,
    found: &mut ValidationErrors,
) -> Vec<Content> {
    let root = JsonPath::Root;
    let at = &root.key("content");
    let Some(given) = given.filter(|given| given.count > 0 || has_template) else {
        if !has_template {
            found.push_error(at, CONTENT_REQUIRED);
        }
        return Vec::new();
    };
    if given.count == 0 {
        found.push_error(
            at,
            "There must be at least one defined content block. We typically suggest both text/plain and text/html blocks are included, but only one block is required.",
        );
    }
    if given.count > PARTS {
        found.push_error(
            at,
            format!("There is a limit of {PARTS} content blocks per request."),
        );
    }
    let numbered = given.items.into_iter().enumerate();
    let parts: Vec<_> = numbered
        .map(|(i, part)| Content {
            mime_type: mime_type(part.mime_type, &at.index(i).key("type"), found),
            value: value(part.value, &at.index(i).key("value"), found),
        })
        .collect();
    if !parts.is_sorted_by_key(rank) {
        found.push_error(
            at,
            "Following RFC 1341, section 7.2, if either text/html or text/plain are to be sent in your email: text/plain needs to be first, followed by text/html, followed by any other content.",
        );
    }
    parts
}

fn rank(part: &Content) -> u8 {
    match part.mime_type.to_ascii_lowercase().as_str() {
        "text/plain" => 0,
        "text/html" => 1,
        _ => 2,
    }
}

fn mime_type(
    given: Option<wire::TextValue<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> String {
    let Some(given) = given else {
        found.push_error(
            at,
            "A content type is required, this tells email clients how to display the email.",
        );
        return String::new();
    };
    let message = match flaw(&given) {
        None if posthaste_mime::is_body_type(&given) => return given.into_string(),
        None => {
            "The content type must be a MIME type of a text, such as text/plain; multipart and message types are not."
        }
        Some(ContentFlaw::Empty) => {
            "Your content type must be a string with length of at least one character."
        }
        Some(ContentFlaw::Forbidden) => "The content type cannot contain ';', or CRLF characters.",
        Some(ContentFlaw::Unprintable) => {
            "The content type can only contain printable ASCII characters."
        }
    };
    found.push_error(at, message);
    String::new()
}

fn value(
    given: Option<wire::TextValue<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> String {
    let Some(given) = given else {
        found.push_error(
            at,
            "A content value is required, this is the content of the email you are sending.",
        );
        return String::new();
    };
    if given.is_empty() {
        found.push_error(
            at,
            "The content value must be a string at least one character in length.",
        );
    }
    given.into_string()
}

/// What can be wrong with a MIME type. That it is one is not asked of a file: `gif` passes (trap
/// 18), and what no header can say is composed as `application/octet-stream`.
pub(super) enum ContentFlaw {
    Empty,
    /// A semicolon or a line end.
    Forbidden,
    /// Anything else that would break a header line.
    Unprintable,
}

fn is_calendar(mime_type: &str) -> bool {
    let method = mime_type.strip_prefix(CALENDAR);
    method.is_some_and(|method| METHODS.contains(&method))
}

pub(super) fn flaw(mime_type: &str) -> Option<ContentFlaw> {
    if mime_type.is_empty() {
        Some(ContentFlaw::Empty)
    } else if is_calendar(mime_type) {
        None
    } else if mime_type.contains([';', '\r', '\n']) {
        Some(ContentFlaw::Forbidden)
    } else if !mime_type.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        Some(ContentFlaw::Unprintable)
    } else {
        None
    }
}
