//! The bounds on what is written and done for one copy.

use posthaste_model::InvalidAddress;

/// All texts of one copy together, in bytes (SPEC: 30 MB is the limit for the whole email).
pub const MAX_OUTPUT: usize = 30 << 20;

/// Tags, template nodes and loop turns of one copy.
pub(crate) const MAX_STEPS: usize = 1_000_000;

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
