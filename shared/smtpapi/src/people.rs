//! The recipients of a mail, and its reply addresses.

use std::collections::HashSet;

use posthaste_model::{EmailAddress, Mailbox};
use serde_json::Value;

use crate::{Invalid, MOST_RECIPIENTS, invalid, value};

/// `ann@example.com`, `<ann@example.com>` or `Ann <ann@example.com>`.
pub fn mailbox(text: &str) -> Option<Mailbox> {
    let text = text.trim();
    let (name, email) = match text.strip_suffix('>') {
        Some(rest) => rest.rsplit_once('<')?,
        None => ("", text),
    };
    let name = name.trim();
    let name = match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(quoted) => unescaped(quoted),
        None => name.to_owned(),
    };
    Some(Mailbox {
        email: EmailAddress::parse(email).ok()?,
        name: Some(name).filter(|name| !name.is_empty()),
    })
}

/// A quoted string without its backslashes (RFC 5322, section 3.2.4).
fn unescaped(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// `to`: every entry must be an address, because an invalid one could not be reported.
pub(crate) fn to(given: Option<&Value>) -> Result<Vec<Mailbox>, Invalid> {
    let texts = value::one_or_many("to", given)?;
    if texts.len() > MOST_RECIPIENTS {
        return invalid(format!("to: more than {MOST_RECIPIENTS} recipients"));
    }
    let read = |text: &String| {
        mailbox(text).ok_or_else(|| Invalid("to holds something that is no address".to_owned()))
    };
    texts.iter().map(read).collect()
}

/// `reply_to_list`: invalid addresses are omitted (SPEC, "Errors": in SMTP calls invalid addresses
/// are omitted), as are duplicates and those above the limit.
pub(crate) fn reply_to(given: Option<&Value>, most: usize) -> Result<Vec<Mailbox>, Invalid> {
    let given = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let mut seen = HashSet::new();
    let all = given.iter().filter_map(one);
    let all = all.filter(|mailbox| seen.insert(mailbox.email.folded()));
    Ok(all.take(most).collect())
}

/// A text, or `{"email": …, "name": …}` as in mail/send.
fn one(value: &Value) -> Option<Mailbox> {
    if let Value::String(text) = value {
        return mailbox(text);
    }
    let email = EmailAddress::parse(value.get("email")?.as_str()?).ok()?;
    let name = value.get("name").and_then(Value::as_str);
    let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    Some(Mailbox { email, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_come_with_and_without_a_name() {
        for (text, want) in [
            ("a@example.com", Some(("a@example.com", None))),
            (" <a@example.com> ", Some(("a@example.com", None))),
            (
                "Joe Smith <joe@example.com>",
                Some(("joe@example.com", Some("Joe Smith"))),
            ),
            (
                "\"Smith, \\\"J\\\"\" <j@example.com>",
                Some(("j@example.com", Some("Smith, \"J\""))),
            ),
            (
                "a < b <c@example.com>",
                Some(("c@example.com", Some("a < b"))),
            ),
            (
                "Jörg <jörg@exämple.com>",
                Some(("jörg@exämple.com", Some("Jörg"))),
            ),
            ("", None),
            ("nobody", None),
            ("a@example.com>", None),
            ("a@example.com, b@example.com", None),
            ("a@example.com\r\nBcc: b@example.com", None),
        ] {
            let got = mailbox(text);
            let got = got.as_ref().map(|m| (m.email.as_str(), m.name.as_deref()));
            assert_eq!(got, want, "{text:?}");
        }
    }
}
