//! Personalizations: each an envelope with its own recipients and overrides.

use posthaste_model::{Mailbox, Personalization, Role};

use super::mailboxes::{self, ErrorTexts};
use super::{SendAt, content, headers, metadata};
use crate::errors::{JsonPath, ValidationErrors, quote_value};
use crate::wire;

/// Personalizations of a request (SPEC, "Limits").
const ENVELOPES: usize = 1_000;
/// Recipients of a whole request, in all lists of all envelopes. Own limit: SPEC has one for each
/// list, and this one leaves room for an envelope with both lists full.
pub(crate) const RECIPIENTS: usize = 3_000;
/// Of one `cc` or `bcc` (SPEC, "Limits").
const COPIES: usize = 1_000;

/// Every personalization of the request.
pub(super) fn all(
    given: Option<wire::JsonList<wire::Personalization<'_>, 1_001>>,
    schedule: SendAt,
    dynamic: bool,
    found: &mut ValidationErrors,
) -> Vec<Personalization> {
    let (root, given) = (JsonPath::Root, given.unwrap_or_default());
    let at = &root.key("personalizations");
    let count = given.count;
    if count == 0 {
        found.push_error(
            at,
            "The personalizations field is required and must have at least one personalization.",
        );
    }
    if count > ENVELOPES {
        found.push_error(
            at,
            format!(
                "The personalization block is limited to {ENVELOPES} personalizations per API request. You have provided {count} personalizations. Please consider splitting this into multiple requests and resending your request."
            ),
        );
    }
    let recipients: usize = given.items.iter().map(recipients).sum();
    if recipients > RECIPIENTS {
        found.push_error(
            at,
            format!(
                "There is a limit of {RECIPIENTS} total recipients (to + cc + bcc) per request."
            ),
        );
    }
    let numbered = given.items.into_iter().enumerate();
    numbered
        .map(|(i, given)| one(given, &at.index(i), (schedule, dynamic), found))
        .collect()
}

fn recipients(given: &wire::Personalization<'_>) -> usize {
    let to = given.to.as_ref().map_or(0, |list| list.count);
    let copies = [&given.cc, &given.bcc];
    let copies = copies.into_iter().flatten().map(|list| list.count);
    to + copies.sum::<usize>()
}

fn one(
    given: wire::Personalization<'_>,
    at: &JsonPath<'_>,
    (schedule, dynamic): (SendAt, bool),
    found: &mut ValidationErrors,
) -> Personalization {
    let envelope = Personalization {
        to: to(given.to, &at.key("to"), found),
        cc: copies(given.cc, &at.key("cc"), &mailboxes::CC, found),
        bcc: copies(given.bcc, &at.key("bcc"), &mailboxes::BCC, found),
        from: given
            .from
            .and_then(|from| mailboxes::from(Some(from), at, found)),
        subject: content::subject(given.subject, at, found),
        headers: headers::check(given.headers, at, &headers::ENVELOPE, found),
        substitutions: metadata::substitutions(given.substitutions, at, dynamic, found),
        dynamic_template_data: given.dynamic_template_data.map(|data| data.0),
        custom_args: metadata::of_envelope(given.custom_args, at, found),
        send_at: schedule.check(given.send_at, at, found),
    };
    check_unique(&envelope, at, found);
    envelope
}

fn to(
    given: Option<wire::Recipients<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> Vec<Mailbox> {
    let given = given.unwrap_or_default();
    if given.count == 0 {
        found.push_error(
            at,
            "The to array is required for all personalization objects, and must have at least one email object with a valid email address.",
        );
    }
    mailboxes::mailboxes(given, at, &mailboxes::TO, found)
}

/// `cc` or `bcc`: may be left out, but not be empty (API facts 2.5).
fn copies(
    given: Option<wire::Mailboxes<'_>>,
    at: &JsonPath<'_>,
    texts: &ErrorTexts,
    found: &mut ValidationErrors,
) -> Vec<Mailbox> {
    let Some(given) = given else {
        return Vec::new();
    };
    if given.count == 0 {
        found.push_error(at, texts.missing);
    }
    if given.count > COPIES {
        let name = at.last();
        found.push_error(
            at,
            format!("There is a limit of {COPIES} {name} emails per personalization."),
        );
    }
    mailboxes::mailboxes(given, at, texts, found)
}

/// No address twice in one envelope, in whatever case and in whichever list. Between envelopes it
/// may repeat.
fn check_unique(envelope: &Personalization, at: &JsonPath<'_>, found: &mut ValidationErrors) {
    let repeated = mailboxes::repeated(envelope.recipients().map(|(_, mailbox)| mailbox));
    let Some((role, mailbox)) = repeated.and_then(|i| envelope.recipients().nth(i)) else {
        return;
    };
    let list = match role {
        Role::To => "to",
        Role::Cc => "cc",
        Role::Bcc => "bcc",
    };
    let address = quote_value(mailbox.email.as_str());
    let message = format!(
        "Each email address in the personalization block should be unique between to, cc, and bcc. We found the first duplicate instance of {address} in the {at}.{list} field."
    );
    found.push_error_with_help(at, message, Some("message.recipient-errors".to_owned()));
}
