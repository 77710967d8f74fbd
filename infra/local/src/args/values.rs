//! The values of flags that have a form of their own. The error says which.

use std::num::NonZeroUsize;

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
