//! Mailboxes: the sender, the recipients, the reply addresses.

use std::collections::HashSet;

use posthaste_model::{EmailAddress, InvalidAddress, Mailbox};

use crate::errors::{JsonPath, ValidationErrors};
use crate::wire;

/// The three things that can be wrong with an address, in the texts of one field.
pub(super) struct ErrorTexts {
    pub(super) missing: &'static str,
    pub(super) invalid: &'static str,
    pub(super) too_long: &'static str,
}

macro_rules! example {
    ($text:literal) => {
        concat!(
            $text,
            r#"  e.g. {"email" : "example@example.com"}  or {"email" : "example@example.com", "name" : "Example Recipient"}."#
        )
    };
}

const FROM: ErrorTexts = ErrorTexts {
    missing: example!(
        "The from object must be provided for every email send. It is an object that requires the email parameter, but may also contain a name parameter."
    ),
    invalid: "The from email does not contain a valid address.",
    too_long: "The From email exceeds the maximum total length of 320 characters",
};

const REPLY_TO: ErrorTexts = ErrorTexts {
    missing: example!(
        "The reply_to object, when used, must at least have an email parameter with a valid email address and it may also contain a name parameter."
    ),
    invalid: "The reply_to email does not contain a valid address.",
    too_long: "The Reply-To email exceeds the maximum total length of 320 characters",
};

const REPLY_TO_LIST: ErrorTexts = ErrorTexts {
    missing: "The reply_to_list email parameter is required.",
    invalid: "The reply_to_list email does not contain a valid address.",
    too_long: "The reply_to_list email exceeds the maximum total length of 320 characters.",
};

pub(super) const TO: ErrorTexts = ErrorTexts {
    missing: example!(
        "The to array must at least have an email parameter with a valid email address and it may also contain a name parameter."
    ),
    invalid: "The to email does not contain a valid address.",
    too_long: "The To email exceeds the maximum total length of 320 characters",
};

pub(super) const CC: ErrorTexts = ErrorTexts {
    missing: example!(
        "The cc array, when used, must at least have an email parameter with a valid email address and it may also contain a name parameter."
    ),
    invalid: "The cc email does not contain a valid address.",
    too_long: "The CC email exceeds the maximum total length of 320 characters",
};

pub(super) const BCC: ErrorTexts = ErrorTexts {
    missing: example!(
        "The bcc array, when used, must at least have an email parameter with a valid email address and it may also contain a name parameter."
    ),
    invalid: "The bcc email does not contain a valid address.",
    too_long: "The BCC email exceeds the maximum total length of 320 characters",
};

const REPLY_TO_MOST: usize = 1_000;

/// The `from` object below `at`; the message has to have one.
pub(super) fn from(
    given: Option<wire::Mailbox<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> Option<Mailbox> {
    mailbox(given.unwrap_or_default(), &at.key("from"), &FROM, found)
}

/// One mailbox at `at`. An empty name is no name.
pub(super) fn mailbox(
    given: wire::Mailbox<'_>,
    at: &JsonPath<'_>,
    texts: &ErrorTexts,
    found: &mut ValidationErrors,
) -> Option<Mailbox> {
    let text = given.email.as_deref().unwrap_or_default();
    let message = match EmailAddress::parse(text) {
        Ok(email) => {
            let name = given.name.and_then(|name| name.0);
            let name = name.filter(|name| !name.is_empty());
            return Some(Mailbox {
                email,
                name: name.map(wire::TextValue::into_string),
            });
        }
        Err(_) if text.is_empty() => texts.missing,
        Err(InvalidAddress::TooLong) => texts.too_long,
        Err(InvalidAddress::NoAt | InvalidAddress::Local | InvalidAddress::Domain) => texts.invalid,
    };
    found.push_error(&at.key("email"), message);
    None
}

/// Every mailbox of an array that passes; the others are noted.
pub(super) fn mailboxes<const KEEP: usize>(
    given: wire::JsonList<wire::Mailbox<'_>, KEEP>,
    at: &JsonPath<'_>,
    texts: &ErrorTexts,
    found: &mut ValidationErrors,
) -> Vec<Mailbox> {
    let numbered = given.items.into_iter().enumerate();
    numbered
        .filter_map(|(i, given)| mailbox(given, &at.index(i), texts, found))
        .collect()
}

/// `reply_to` or `reply_to_list`, never both.
pub(super) fn reply_to(
    one: Option<wire::Mailbox<'_>>,
    list: Option<wire::Mailboxes<'_>>,
    found: &mut ValidationErrors,
) -> Vec<Mailbox> {
    let (root, mut all) = (JsonPath::Root, Vec::new());
    let at = &root.key("reply_to_list");
    if one.is_some() && list.is_some() {
        found.push_error(at, "reply_to is mutually exclusive with reply_to_list.");
    }
    if let Some(one) = one {
        all.extend(mailbox(one, &root.key("reply_to"), &REPLY_TO, found));
    }
    let Some(list) = list else {
        return all;
    };
    if list.count == 0 {
        found.push_error(
            at,
            "The reply_to_list object, when used, must at least have an email parameter and may also contain a name parameter.",
        );
    }
    if list.count > REPLY_TO_MOST {
        found.push_error(
            at,
            format!("There is a limit of {REPLY_TO_MOST} reply_to emails per mail/send request."),
        );
    }
    let list = mailboxes(list, at, &REPLY_TO_LIST, found);
    if repeated(list.iter()).is_some() {
        found.push_error(
            at,
            "Each email address in the reply_to_list should be unique.",
        );
    }
    all.extend(list);
    all
}

/// Position of the first mailbox whose address, whatever its case, stood before.
pub(super) fn repeated<'a>(mailboxes: impl Iterator<Item = &'a Mailbox>) -> Option<usize> {
    let mut seen = HashSet::new();
    let mut mailboxes = mailboxes.peekable();
    let first = mailboxes.next()?;
    mailboxes.peek()?;
    seen.insert(first.email.folded());
    mailboxes
        .position(|mailbox| !seen.insert(mailbox.email.folded()))
        .map(|i| i + 1)
}
