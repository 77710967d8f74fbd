//! Applies the operator's spam filter to a mail before it is sent.
//!
//! A mail is scored at its first attempt, as it would be sent. The account may be stricter than the
//! filter (`mail_settings/spam_check`), never laxer: the operator is responsible for outgoing mail.
//! A failing filter blocks no mail; the failure is logged, and the filter is skipped for ten
//! seconds so that mails do not wait for it in turn.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_model::{MessageId, Millis};
use posthaste_spam::{Filter, SpamError, SpamScore};
use posthaste_store::{AccountSettings, SpamCheck};

/// The filter, and whether it is failing.
#[derive(Clone, Debug)]
pub struct SpamFilter {
    filter: Filter,
    recent_failure: Arc<Cache<(), ()>>,
}

impl SpamFilter {
    /// Uses this filter.
    pub fn new(filter: Filter) -> Self {
        let recent_failure = Arc::default();
        Self {
            filter,
            recent_failure,
        }
    }

    /// Whether the mail is blocked as spam.
    pub(crate) async fn blocks(
        &self,
        message: &MessageId,
        mail: &[u8],
        settings: &AccountSettings,
        now: Millis,
    ) -> bool {
        if self.recent_failure.get(&(), now).is_some() {
            return false;
        }
        match self.filter.score(mail).await {
            Ok(verdict) => reaches(&verdict, settings.spam_check),
            Err(error @ SpamError::TooLarge) => {
                tracing::debug!(message.id = %message, "message {message} is not checked for spam: {error}");
                false
            }
            Err(
                error @ (SpamError::Timeout
                | SpamError::Unreachable(_)
                | SpamError::Refused(_)
                | SpamError::Garbled),
            ) => {
                self.recent_failure.put((), (), now);
                tracing::error!(error = %error, "mails leave unchecked for spam for now: {error}");
                false
            }
        }
    }
}

fn reaches(verdict: &SpamScore, own: SpamCheck) -> bool {
    verdict.is_spam() || (own.enabled && verdict.score >= f64::from(own.max_score))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_may_be_stricter_than_the_filter_and_never_laxer() {
        let verdict = |score| SpamScore {
            score,
            threshold: 6.0,
            report: String::new(),
        };
        let own = |enabled, max_score| SpamCheck { enabled, max_score };
        for (score, own, want) in [
            (5.9, own(false, 3), false),
            (6.0, own(false, 3), true),
            (3.0, own(true, 3), true),
            (2.9, own(true, 3), false),
            (6.0, own(true, 10), true),
        ] {
            assert_eq!(reaches(&verdict(score), own), want, "{score} {own:?}");
        }
    }
}
