//! Questions of the sweep about copies without news, on the feedback queue.

use posthaste_model::{AccountId, MessageId};
use serde::{Deserialize, Serialize};

use crate::JobError;

/// A question to SES: what became of this copy?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsightsQuestion {
    /// Form of this record; 1.
    pub v: u8,
    pub account: AccountId,
    pub message: MessageId,
    pub recipient: u32,
    /// The id that SES gave the mail.
    pub ses_message: String,
}

impl InsightsQuestion {
    /// The question as a message of the queue.
    pub fn to_text(&self) -> Result<String, JobError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a message of the queue.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        let question: Self = serde_json::from_str(text)?;
        match question.v {
            1 => Ok(question),
            newer => Err(JobError::TooNew(newer)),
        }
    }
}
