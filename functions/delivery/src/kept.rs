//! Keeps composed mails, for accounts that want that.

use posthaste_kept::composed;
use posthaste_mime::read::ParsedMail;
use posthaste_model::{Mail, RecipientCopy, Role};
use posthaste_store::KeepTerm;

use crate::App;
use crate::context::JobContext;
use crate::record::Retention;

/// For how long the mail of a copy is kept, if it is: not where its address was erased, and no notice of the
/// service, which may have a link that only its recipient is to follow. A later attempt composes the same
/// bytes.
pub(crate) fn term(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    retention: Retention,
) -> Option<KeepTerm> {
    let JobContext {
        job,
        mail,
        settings,
        ..
    } = context;
    if job.attempt > 0 || mail.notice || retention.is_erased {
        return None;
    }
    let now = app.clock.now();
    let shared = names_others(mail, copy);
    posthaste_kept::term(settings.kept_mail, now, retention.seconds, shared)
        .filter(|_| !(shared && repeats_shared(mail)))
}

/// Whether the header of a copy may name recipients beside its own.
fn names_others(mail: &Mail, copy: RecipientCopy<'_>) -> bool {
    let personalization = copy.personalization;
    let named = personalization.to.len() + personalization.cc.len();
    named > 1 || copy.role == Role::Bcc || mail.submitted.as_ref().is_some_and(|m| !m.apart)
}

/// Whether a mail that is sent again names several recipients. It is a message of its own, in which an
/// erasure of the others would not find it.
fn repeats_shared(mail: &Mail) -> bool {
    let again = mail.submitted.as_ref().filter(|m| m.again.is_some());
    again.is_some_and(|whole| {
        let parsed = ParsedMail::read(whole.mime.bytes());
        parsed.addresses("To").len() + parsed.addresses("Cc").len() > 1
    })
}

/// Stores the composed mail of a copy, and gives it back. A mail that cannot be kept leaves all the same.
pub(crate) async fn keep(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    term: KeepTerm,
    bytes: Vec<u8>,
) -> Vec<u8> {
    let JobContext { job, mail, .. } = context;
    let record = composed(mail, &job.message, copy, bytes, job.is_test);
    let which = (&job.account, &job.message, copy.recipient);
    let (record, stored) = app.kept.put(which, term, record).await;
    if let Err(error) = stored {
        tracing::error!(message.id = %job.message, %error, "message {} is not kept: {error}", job.message);
    }
    let whole = record.mail.submitted;
    whole
        .map(|whole| whole.mime.into_bytes())
        .unwrap_or_default()
}
