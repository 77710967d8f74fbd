//! Mail that is sent again: a composed copy, whose links are written anew.

use posthaste_model::{Mail, MessageId, RecipientCopy};
use posthaste_render::{Links, Rendered};

use crate::App;
use crate::context::JobContext;

/// The message that a mail repeats.
pub(crate) fn before(mail: &Mail) -> Option<&MessageId> {
    mail.submitted.as_ref()?.again.as_ref()
}

/// Writes the links of the texts anew.
pub(crate) fn relink_texts(
    rendered: &mut Rendered,
    before: &MessageId,
    links: &Links<'_>,
    recipient: u32,
) {
    for part in &mut rendered.parts {
        part.value = links.renewed(&part.value, before, recipient);
    }
}

/// The mail with the links of its header written anew: those of `List-Unsubscribe`.
pub(crate) fn relinked_head(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    bytes: Vec<u8>,
) -> Vec<u8> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(before) = before(context.mail) else {
        return bytes;
    };
    let Some(base) = context.links.base(context.mail, copy) else {
        return bytes;
    };
    let links = app.links(context.job, &base, None);
    let end = bytes.windows(END.len()).position(|four| four == END);
    let parts = end.and_then(|end| bytes.split_at_checked(end));
    // A header of other bytes than text was not written by the service, and has no links of it.
    let parts = parts.and_then(|(head, rest)| Some((std::str::from_utf8(head).ok()?, rest)));
    match parts {
        Some((head, rest)) => {
            let head = links.renewed(head, before, copy.recipient);
            [head.as_bytes(), rest].concat()
        }
        None => bytes,
    }
}
