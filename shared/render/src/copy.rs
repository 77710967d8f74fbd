//! Renders one recipient's copy from the request to the parts of the mail.

use posthaste_model::{
    AccountId, Content, InvalidAddress, Mail, Mailbox, MessageId, RecipientCopy, Timestamp,
};

use crate::content;
use crate::finish::Finish;
use crate::link::Maker;
use crate::settings::Effective;
use crate::template::Compiled;
use crate::token::KeyRing;
use crate::unsubscribe::Unsubscribe;

/// All texts of one copy together, in bytes (SPEC: 30 MB is the limit for the whole email).
pub const MAX_OUTPUT: usize = 30 << 20;

/// Tags, template nodes and loop turns of one copy.
pub(crate) const MAX_STEPS: usize = 1_000_000;

/// The inputs of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub mail: &'a Mail,
    pub copy: RecipientCopy<'a>,
    /// The active version of the mail's template, compiled.
    pub template: Option<&'a Compiled>,
    pub settings: &'a Effective,
    /// Without it nothing is tracked and no unsubscribe link is added.
    pub links: Option<Links<'a>>,
}

/// The inputs of signed links.
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    /// The tracking host with its scheme, `https://links.example.com`; a trailing slash is ignored.
    pub base: &'a str,
    pub keys: &'a KeyRing,
    pub account: &'a AccountId,
    pub message: &'a MessageId,
    pub now: Timestamp,
    /// The address that receives unsubscribe mails, if any: the second URI of List-Unsubscribe.
    pub mailbox: Option<&'a str>,
}

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

/// Why one recipient's copy cannot be rendered. Other recipients' copies are unaffected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error("the content exceeds {MAX_OUTPUT} bytes")]
    TooLarge,
    #[error("the template takes more than {MAX_STEPS} steps")]
    TooManySteps,
    #[error("the substitution tags are too many or too long")]
    TooManyTags,
    #[error("dynamic_template_data is not a JSON object of at most {MAX_STEPS} values")]
    Data,
    #[error("reply_to after substitution: {0}")]
    ReplyTo(#[from] InvalidAddress),
}

/// What may still be written and done for one copy, or for the recipients of one mail together.
#[derive(Debug)]
pub struct Budget {
    bytes: usize,
    steps: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bytes: MAX_OUTPUT,
            steps: MAX_STEPS,
        }
    }
}

impl Budget {
    /// What the unique arguments of this many recipients together may cost: as much as one copy, and a little for
    /// each.
    pub fn of_recipients(count: usize) -> Self {
        const STEPS_OF_ONE: usize = 200;
        Self {
            bytes: MAX_OUTPUT,
            steps: MAX_STEPS + STEPS_OF_ONE.saturating_mul(count),
        }
    }

    /// Appends, as long as the copy stays within its size.
    pub(crate) fn push(&mut self, out: &mut String, text: &str) -> Result<(), RenderError> {
        self.grow(text.len())?;
        out.push_str(text);
        Ok(())
    }

    /// Counts bytes that are added to the copy.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), RenderError> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or(RenderError::TooLarge)?;
        Ok(())
    }

    /// Counts steps.
    pub(crate) fn step(&mut self, count: usize) -> Result<(), RenderError> {
        self.steps = self
            .steps
            .checked_sub(count)
            .ok_or(RenderError::TooManySteps)?;
        Ok(())
    }
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

/// A text that goes into a header: line ends and other controls become spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}
