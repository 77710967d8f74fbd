//! The result of a filter, and why there is none.

/// A filter's verdict on a mail.
#[derive(Clone, Debug, PartialEq)]
pub struct SpamScore {
    pub score: f64,
    /// From this score on a mail is spam.
    pub threshold: f64,
    /// For display: the rules that matched, a line each.
    pub report: String,
}

impl SpamScore {
    /// Whether the score reaches the threshold.
    pub fn is_spam(&self) -> bool {
        self.score >= self.threshold
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum SpamError {
    #[error("the mail is larger than a spam filter is asked about")]
    TooLarge,
    #[error("the spam filter did not answer in time")]
    Timeout,
    #[error("the spam filter cannot be reached: {0}")]
    Unreachable(String),
    #[error("the spam filter answered: {0}")]
    Refused(String),
    #[error("the spam filter's answer cannot be read")]
    Garbled,
}
