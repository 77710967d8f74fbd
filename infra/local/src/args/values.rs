//! The values of flags that have a form of their own. The error says which.

use std::num::NonZeroUsize;

use clap::error::{ContextKind, ContextValue};
use posthaste_store::Secret;

use crate::mailbox_login::MailboxLogin;

pub(super) fn api_key(text: &str) -> Result<String, String> {
    let form = "an API key is SG., an id of 22 characters, a dot and a secret of 43: letters, digits, `-` and `_`";
    let parsed = Secret::parse(text).ok_or(form)?;
    Ok(parsed.expose().to_owned())
}

pub(super) fn mailbox_login(text: &str) -> Result<MailboxLogin, String> {
    MailboxLogin::parse(text).ok_or_else(|| "it is a user name, a colon and a password".to_owned())
}

pub(super) fn mailbox_path(text: &str) -> Result<String, String> {
    let is_segment = |segment: &str| {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
        segment.bytes().all(is_plain) && !matches!(segment, "" | "." | "..")
    };
    let path = text.strip_suffix('/').unwrap_or(text);
    match path.strip_prefix('/') {
        Some(rest) if rest.split('/').all(is_segment) => Ok(path.to_owned()),
        Some(_) | None => {
            Err("it is a path such as /mail, of letters, digits, `-`, `_`, `.` and `~`".to_owned())
        }
    }
}

pub(super) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().and_then(NonZeroUsize::new);
    number.ok_or_else(|| "it is a number of at least 1".to_owned())
}

/// Flags whose values hold a password or a key.
const SECRET_FLAGS: [&str; 4] = ["--relay", "--release-relay", "--api-key", "--mailbox-login"];

/// The error, without the value of such a flag: it may come from a variable, and end up in a log.
pub(super) fn without_secret(mut error: clap::Error) -> clap::Error {
    let of_secret = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) => SECRET_FLAGS.iter().any(|flag| arg.starts_with(flag)),
        Some(_) | None => false,
    };
    if of_secret && error.get(ContextKind::InvalidValue).is_some() {
        let hidden = ContextValue::String("…".to_owned());
        error.insert(ContextKind::InvalidValue, hidden);
    }
    error
}
