//! Unsubscribe mails: the second address of `List-Unsubscribe` (RFC 2369, section 3.2). The subject
//! of the mail is a signed token that names the list and the recipient.

use data_encoding::HEXLOWER;
use posthaste_mime::report;
use posthaste_model::{LEAVE_MAILBOX, Timestamp};
use posthaste_render::LinkAction;
use posthaste_store::StoreError;
use sha2::{Digest as _, Sha256};

use crate::App;
use crate::feedback::{FeedbackKind, SesFeedback};

/// Whether unsubscribe mails go to this address.
pub(crate) fn is_meant(app: &App, address: &str) -> bool {
    app.local(address)
        .is_some_and(|local| local.eq_ignore_ascii_case(LEAVE_MAILBOX))
}

/// The unsubscribe that such a mail reports; `None` without a valid token. Leaving a deleted group
/// unsubscribes from everything (API facts 7, "deleted group").
pub(crate) async fn word(
    app: &App,
    raw: &[u8],
    now: Timestamp,
) -> Result<Option<SesFeedback>, StoreError> {
    let read = || (report::subject(raw), fingerprint(raw));
    let (subject, mail) = posthaste_offload::run(raw.len(), read).await;
    // A token has no white space: any was inserted in transit, where lines are folded.
    let subject: String = subject.split_whitespace().collect();
    let Ok(token) = app.keys.verify(&subject) else {
        return Ok(None);
    };
    let group = match token.action {
        LinkAction::Unsubscribe => None,
        LinkAction::GroupUnsubscribe { group } => app.store.group(&token.account, group).await?,
        LinkAction::Open { .. } | LinkAction::Click { .. } | LinkAction::Preferences { .. } => {
            return Ok(None);
        }
    };
    let kind = FeedbackKind::Left {
        group: group.map(|group| group.id),
        mail,
    };
    Ok(Some(SesFeedback {
        account: token.account,
        message: token.message,
        recipient: token.recipient,
        email: Some(token.email),
        at: now,
        kind,
    }))
}

/// Enough of a hash to distinguish mails: 64 bits, in hexadecimal digits.
fn fingerprint(raw: &[u8]) -> String {
    let mut hash = HEXLOWER.encode(&Sha256::digest(raw));
    hash.truncate(16);
    hash
}
