//! Renders one recipient's copy from the request to the parts of the mail.

use posthaste_model::{Content, Mailbox};

use crate::budget::{Budget, RenderError};
use crate::content::{self, Input, one_line};
use crate::finish::Finish;
use crate::link::Maker;
use crate::unsubscribe::Unsubscribe;

/// The parts of one recipient's mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    pub subject: String,
    /// In the order of `multipart/alternative`.
    pub parts: Vec<Content>,
    pub reply_to: Vec<Mailbox>,
    /// Headers added by the service, beyond those of the request.
    pub headers: Vec<(String, String)>,
}

/// Makes the copy of one recipient.
///
/// # Errors
/// When the template fails with this recipient's data, substitution spoils a `reply_to`, or the
/// content outgrows its bounds.
pub fn render(input: &Input<'_>) -> Result<Rendered, RenderError> {
    let Input {
        mail,
        copy,
        settings,
        ..
    } = *input;
    let maker = input
        .links
        .map(|links| Maker::new(links, copy, mail.asm.as_ref()));
    let mut budget = Budget::default();
    let draft = content::draft(input, maker, &mut budget)?;

    let unsubscribe =
        maker.map(|maker| Unsubscribe::new(maker, mail.asm.is_some(), &settings.subscription));
    let mut finish = Finish::new(settings, maker, unsubscribe, &mut budget);
    let own = mail.merged_headers(copy.personalization);
    let has_own = own
        .keys()
        .any(|name| name.to_ascii_lowercase().starts_with("list-unsubscribe"));
    Ok(Rendered {
        subject: one_line(&draft.subject),
        parts: finish.parts(draft.parts)?,
        reply_to: draft.reply_to,
        // The caller's own unsubscribe headers take precedence.
        headers: unsubscribe
            .filter(|_| !has_own)
            .map(|unsubscribe| unsubscribe.headers())
            .unwrap_or_default(),
    })
}
