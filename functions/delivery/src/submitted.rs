//! Mails submitted whole, by SMTP: they get the same settings, events and outcomes as any other,
//! and every byte without a requested change stays as submitted.

use posthaste_mime::submitted::{Changes, SubmittedHead, pass_on, texts};
use posthaste_mime::{BuildError, Stamp};
use posthaste_model::{DropReason, Mail, RecipientCopy, Submitted};
use posthaste_render::Rendered;

/// The mail with the texts of its message as its content, so that they are rendered like any other.
pub(crate) fn opened(mut mail: Mail) -> Mail {
    if let Some(whole) = &mail.submitted {
        mail.content = texts(whole.mime.bytes());
    }
    mail
}

/// The size of the submitted message in octets; 0 for a mail that is composed here.
pub(crate) fn size(mail: &Mail) -> usize {
    mail.submitted
        .as_ref()
        .map_or(0, |whole| whole.mime.bytes().len())
}

/// Why no copy of the mail may be sent.
pub(crate) fn refused(mail: &Mail) -> Option<DropReason> {
    mail.submitted.as_ref()?.refused.clone()
}

/// The message of one copy.
pub(crate) fn build(
    whole: &Submitted,
    mail: &Mail,
    copy: RecipientCopy<'_>,
    rendered: &Rendered,
    stamp: &Stamp<'_>,
) -> Result<Vec<u8>, BuildError> {
    let subject = mail.subject.as_deref().unwrap_or_default();
    let is_new = rendered.reply_to != SubmittedHead::read(whole.mime.bytes()).reply_to;
    let changes = Changes {
        before: &mail.content,
        after: &rendered.parts,
        to: if whole.apart {
            &copy.personalization.to
        } else {
            &[]
        },
        // Unchanged, byte for byte, unless something was inserted.
        reply_to: if is_new { &rendered.reply_to } else { &[] },
        subject: Some(rendered.subject.as_str()).filter(|new| *new != subject),
        extra: &rendered.headers,
    };
    pass_on(whole.mime.bytes(), &changes, stamp)
}

/// The size limit of a copy in octets. A mail submitted whole was measured on arrival: headers
/// added since do not count.
pub(crate) fn largest(mail: &Mail) -> usize {
    const HEADERS: usize = 64 << 10;
    match mail.submitted {
        Some(_) => posthaste_mime::LARGEST_MAIL + HEADERS,
        None => posthaste_mime::LARGEST_MAIL,
    }
}
