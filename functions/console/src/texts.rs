//! The words that code chooses, here and in the modules below; all others are in `templates`, and those of scripts in
//! `ui/words.js`. English.

pub(crate) mod keys;
pub(crate) mod lists;
pub(crate) mod mail;
pub(crate) mod overview;
pub(crate) mod settings;
pub(crate) mod statistics;

use axum::http::StatusCode;
use posthaste_model::EventKind;

/// The headings of the navigation.
pub(crate) const SEE: &str = "See";
pub(crate) const SEND: &str = "Send";
pub(crate) const GUARD: &str = "Guard";

/// The pages, in the navigation and as titles.
pub(crate) const OVERVIEW: &str = "Overview";
pub(crate) const ACTIVITY: &str = "Activity";
pub(crate) const STATISTICS: &str = "Statistics";
pub(crate) const SCHEDULED: &str = "Scheduled";
pub(crate) const BATCH: &str = "Batch";
pub(crate) const TEMPLATES: &str = "Templates";
pub(crate) const WEBHOOKS: &str = "Webhooks";
pub(crate) const SUPPRESSIONS: &str = "Suppressions";
pub(crate) const NEW_KEY: &str = "New key";

/// The texts of a version of a template.
pub(crate) const SUBJECT: &str = "Subject";
pub(crate) const HTML: &str = "HTML";
pub(crate) const PLAIN_TEXT: &str = "Plain text";
pub(crate) const TEST_DATA: &str = "Test data";

pub(crate) const SIGN_IN: &str = "Sign in";
pub(crate) const NO_PAGE: &str = "The console has no page of this address.";
pub(crate) const UNREADABLE: &str = "Something failed inside the service; its log has the cause.";
pub(crate) const WRONG_KEY: &str = "No such key. It may be mistyped, or revoked.";
pub(crate) const WRONG_LINK: &str = "This link opens nothing: it was used, or it is too old. Make \
    another one, or sign in with an API key.";

pub(crate) const ACCESS: &str = "Keys and access";
pub(crate) const FULL_ACCESS: &str = "Full access";
pub(crate) const LISTED_ALREADY: &str = "is on the list already, or named twice";
pub(crate) const UNKNOWN_BROWSER: &str = "unknown browser";

/// Why a part of a page is missing.
pub(crate) fn lacks(scope: &str) -> String {
    format!("The key that you signed in with lacks the scope {scope}.")
}

/// How an attempt to use the account was made, by a word of the API.
pub(crate) fn way(auth_method: &str) -> &'static str {
    match auth_method {
        "bearer" => "API key",
        "basic" => "API key, by SMTP",
        "session" => "console",
        _ => "unknown",
    }
}

pub(crate) const INBOUND: &str = "Inbound";
pub(crate) const SUBUSERS: &str = "Subusers";
pub(crate) const SETTINGS: &str = "Settings";
pub(crate) const AUDIT_LOG: &str = "Audit log";

/// What made a change, by a word of the API.
pub(crate) fn changed_by(word: &str) -> &'static str {
    match word {
        "api_key" => "key",
        "session" => "session of the console",
        "operator" => "operator",
        _ => "unknown",
    }
}

pub(crate) const NO_KEYS: &str = "The key that you signed in with lacks the scope api_keys.create.";

pub(crate) const GROUP: &str = "Group";
pub(crate) const GROUPS: &str = "Groups";
pub(crate) const WHOLE_ADDRESS: &str = "All lists are searched for a whole address, such as ann@example.com. The page of \
    a list finds the beginning of one.";
pub(crate) const FILLS_ITSELF: &str = "This list is filled by what receiving servers and recipients answer; the API adds \
    nothing to it.";
pub(crate) const NO_GLOBAL_ADD: &str = "Adding needs the scope asm.suppressions.global.create, which the key that you \
    signed in with lacks.";
pub(crate) const NO_GROUP_ADD: &str = "Adding needs the scope asm.groups.suppressions.create, which the key that you \
    signed in with lacks.";

/// Why a part of a page is empty.
pub(crate) fn missing_scope(scope: &str) -> String {
    format!("The key that you signed in with lacks the scope {scope}.")
}

/// How many mails of a batch a page shows; empty for none.
pub(crate) fn mails_here(mails: u32) -> String {
    match mails {
        0 => String::new(),
        1 => "1 mail below".to_owned(),
        mails => format!("{mails} mails below"),
    }
}

/// How many recipients a mail has.
pub(crate) fn recipients(all: u32) -> String {
    match all {
        1 => "1 recipient".to_owned(),
        all => format!("{all} recipients"),
    }
}

/// How many recipients a mail has besides the one that is shown; empty for none.
pub(crate) fn more_recipients(others: u32) -> String {
    match others {
        0 => String::new(),
        others => format!("and {others} more"),
    }
}

/// How many versions a template has.
pub(crate) fn versions(all: usize) -> String {
    match all {
        0 => "no version".to_owned(),
        1 => "1 version".to_owned(),
        all => format!("{all} versions"),
    }
}

/// Generations of templates to show, in the API's word and in the page's.
pub(crate) const GENERATIONS: [(&str, &str); 3] = [
    ("", "both generations"),
    ("dynamic", "dynamic"),
    ("legacy", "legacy"),
];

pub(crate) const TOO_LONG_TO_COMPARE: &str =
    "The text has more than 2,000 lines, and is not compared here.";
pub(crate) const MORE_LINES: &str = "There are more lines that differ.";
pub(crate) const SAME_LINES: &str = "lines of both";
pub(crate) const REMOVED_LINE: &str = "removed:";
pub(crate) const ADDED_LINE: &str = "added:";

pub(crate) const DOMAINS: &str = "Domains and senders";

/// Whether the records of a domain are as they should be.
pub(crate) fn validity(is_valid: bool) -> MailStatus {
    let (word, tone) = if is_valid {
        ("valid", "good")
    } else {
        ("not valid yet", "warn")
    };
    MailStatus {
        word: word.to_owned(),
        tone,
    }
}

pub(crate) const ALL_EVENTS: &str = "all events";
pub(crate) const NO_EVENTS: &str = "no events";
pub(crate) const NO_ANSWER: &str = "no answer";

/// A kind of event, as a choice of a webhook.
pub(crate) fn event(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Processed => "processed",
        EventKind::Delivered => "delivered",
        EventKind::Deferred => "deferred",
        EventKind::Bounce => "bounced",
        EventKind::Dropped => "dropped",
        EventKind::Open => "opened",
        EventKind::Click => "clicked",
        EventKind::SpamReport => "reported as spam",
        EventKind::Unsubscribe => "unsubscribed",
        EventKind::GroupUnsubscribe => "left a group",
        EventKind::GroupResubscribe => "came back to a group",
        EventKind::AccountStatusChange => "account status changed",
    }
}

/// How many events a post has.
pub(crate) fn events(all: usize) -> String {
    match all {
        1 => "1 event".to_owned(),
        all => format!("{all} events"),
    }
}

/// How long an answer took.
pub(crate) fn took(milliseconds: u64) -> String {
    format!("{milliseconds} ms")
}

/// Which page of a list this is.
pub(crate) fn place(page: usize, pages: Option<usize>) -> String {
    let number = |page: usize| count(i64::try_from(page).unwrap_or(i64::MAX));
    match pages {
        Some(pages) => format!("Page {} of {}", number(page), number(pages)),
        None => format!("Page {}", number(page)),
    }
}
pub(crate) const NO_CONTENT_SCOPE: &str =
    "The key that you signed in with lacks the scope messages.content.read.";
pub(crate) const NOT_COMPOSED: &str = "The mail has not been composed yet.";

/// The title of a page that is refused, and what its reader can do.
pub(crate) fn refusal(status: StatusCode) -> (&'static str, &'static str) {
    match status {
        StatusCode::FORBIDDEN => (
            "No access",
            "The IP allow list of the account may not name your address, the account may be suspended, or the key that \
             you signed in with lacks a scope. The operator opens a list that locks its owner out with `posthaste access \
             recover`.",
        ),
        StatusCode::NOT_FOUND => ("Not found", "It may have been deleted, or expired."),
        StatusCode::TOO_MANY_REQUESTS => (
            "Too many requests",
            "Wait some seconds, then load the page again.",
        ),
        StatusCode::BAD_REQUEST => ("Not understood", "Change the address or the search."),
        _ => ("Not available", "Load the page again in a moment."),
    }
}

/// How a mail stands, as a badge shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MailStatus {
    pub(crate) word: String,
    /// The class of the badge: `good`, `warn`, `bad`, or none.
    pub(crate) tone: &'static str,
}

impl MailStatus {
    /// By a word of the API.
    pub(crate) fn of(word: &str) -> Self {
        let tone = match word {
            "let in" | "delivered" | "open" | "click" | "group_resubscribe" => "good",
            "deferred" | "blocked" | "paused" | "unsubscribe" | "group_unsubscribe" => "warn",
            "refused" | "bounced" | "bounce" | "dropped" | "not_delivered" | "spamreport"
            | "cancelled" | "expired" => "bad",
            _ => "",
        };
        Self {
            word: word.replace('_', " "),
            tone,
        }
    }
}

/// States to search by, in the API's word and in the page's.
pub(crate) const SEARCH_STATUSES: [(&str, &str); 3] = [
    ("delivered", "delivered"),
    ("not_delivered", "not delivered"),
    ("processed", "under way"),
];

/// Events to search by.
pub(crate) const SEARCH_EVENTS: [(&str, &str); 9] = [
    ("opened", "opened"),
    ("clicked", "clicked"),
    ("bounced", "bounced"),
    ("deferred", "deferred"),
    ("dropped", "dropped"),
    ("spam_report", "reported as spam"),
    ("unsubscribe", "unsubscribed"),
    ("group_unsubscribe", "left a group"),
    ("group_resubscribe", "came back to a group"),
];

/// Hours to search in.
pub(crate) const PERIODS: [(&str, &str); 4] = [
    ("1", "1 hour"),
    ("24", "24 hours"),
    ("168", "7 days"),
    ("720", "30 days"),
];

/// A count with a comma between thousands.
pub(crate) fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    if number < 0 {
        text.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole in per cent, with two digits behind the point; `None` of nothing.
pub(crate) fn share(part: i64, whole: i64) -> Option<String> {
    if whole <= 0 {
        return None;
    }
    let hundredths = (i128::from(part) * 10_000 + i128::from(whole) / 2) / i128::from(whole);
    Some(format!("{}.{:02} %", hundredths / 100, hundredths % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        for (number, want) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (41_208, "41,208"),
            (1_234_567, "1,234,567"),
            (-1_000, "-1,000"),
        ] {
            assert_eq!(count(number), want);
        }
    }

    #[test]
    fn a_share_is_rounded_and_has_no_value_of_nothing() {
        assert_eq!(share(1, 0), None);
        assert_eq!(share(0, 7).as_deref(), Some("0.00 %"));
        assert_eq!(share(1, 3).as_deref(), Some("33.33 %"));
        assert_eq!(share(2, 3).as_deref(), Some("66.67 %"));
        assert_eq!(share(7, 7).as_deref(), Some("100.00 %"));
    }
}
