//! Why a copy is dropped: never handed to a relay.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The `reason` of a dropped event.
///
/// The first seven are the v3 API's (SPEC, "Events"): clients look for their words. The others are
/// our own. In rows, jobs and events a reason is its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum DropReason {
    InvalidSmtpapiHeader,
    SpamContent,
    UnsubscribedAddress,
    BouncedAddress,
    SpamReportingAddress,
    /// The address is on the list of invalid ones, or the relay cannot transport it.
    Invalid,
    OverQuota,
    /// Its batch or the mail itself was cancelled.
    Cancelled,
    /// It was paused for too long.
    Expired,
    AccountSuspended,
    AccountDisabled,
    AccountDeleted,
    /// The table refuses its row for good.
    CannotBeRecorded,
    /// SES could not render or send it, and named no reason.
    RenderingFailure,
    /// This copy cannot be composed: the words say why.
    Unsendable(String),
}

impl DropReason {
    /// Every reason with fixed words.
    pub const FIXED: [Self; 14] = [
        Self::InvalidSmtpapiHeader,
        Self::SpamContent,
        Self::UnsubscribedAddress,
        Self::BouncedAddress,
        Self::SpamReportingAddress,
        Self::Invalid,
        Self::OverQuota,
        Self::Cancelled,
        Self::Expired,
        Self::AccountSuspended,
        Self::AccountDisabled,
        Self::AccountDeleted,
        Self::CannotBeRecorded,
        Self::RenderingFailure,
    ];

    /// The words of the dropped event.
    pub fn words(&self) -> &str {
        match self {
            Self::InvalidSmtpapiHeader => "Invalid SMTPAPI header",
            Self::SpamContent => "Spam Content",
            Self::UnsubscribedAddress => "Unsubscribed Address",
            Self::BouncedAddress => "Bounced Address",
            Self::SpamReportingAddress => "Spam Reporting Address",
            Self::Invalid => "Invalid",
            Self::OverQuota => "Recipient List over Package Quota",
            Self::Cancelled => "Cancelled",
            Self::Expired => "Expired",
            Self::AccountSuspended => "Account Suspended",
            Self::AccountDisabled => "Account Disabled",
            Self::AccountDeleted => "Account Deleted",
            Self::CannotBeRecorded => "Cannot Be Recorded",
            Self::RenderingFailure => "Rendering Failure",
            Self::Unsendable(why) => why,
        }
    }
}

impl DropReason {
    /// Whether the v3 API does not have it.
    pub fn is_extension(&self) -> bool {
        match self {
            Self::InvalidSmtpapiHeader
            | Self::SpamContent
            | Self::UnsubscribedAddress
            | Self::BouncedAddress
            | Self::SpamReportingAddress
            | Self::Invalid
            | Self::OverQuota => false,
            Self::Cancelled
            | Self::Expired
            | Self::AccountSuspended
            | Self::AccountDisabled
            | Self::AccountDeleted
            | Self::CannotBeRecorded
            | Self::RenderingFailure
            | Self::Unsendable(_) => true,
        }
    }

    /// What has happened, for the API reference. A sentence in Markdown.
    pub fn meaning(&self) -> &'static str {
        match self {
            Self::InvalidSmtpapiHeader => {
                "The `X-SMTPAPI` header of a submitted mail is not JSON, or breaks a rule."
            }
            Self::SpamContent => {
                "The filter for outgoing mail, or SES, took the copy for spam or malware."
            }
            Self::UnsubscribedAddress => {
                "The recipient is on the list of unsubscribes, or has left the group of the mail."
            }
            Self::BouncedAddress => "The recipient is on the list of bounces, or on that of SES.",
            Self::SpamReportingAddress => "The recipient is on the list of spam reports.",
            Self::Invalid => {
                "The recipient is on the list of invalid addresses, or the relay cannot transport \
                 the address."
            }
            Self::OverQuota => "The account has no credit left.",
            Self::Cancelled => "The scheduled mail, or its batch, was cancelled.",
            Self::Expired => "The mail was still paused 72 hours after its time.",
            Self::AccountSuspended => "The account, or one above it, is suspended.",
            Self::AccountDisabled => "The account, or one above it, is disabled.",
            Self::AccountDeleted => "The account was deleted after it sent the mail.",
            Self::CannotBeRecorded => {
                "The table refuses the row of the copy: a fault of the service, of which its log \
                 has the cause."
            }
            Self::RenderingFailure => "SES could not render the mail, and named no reason.",
            Self::Unsendable(_) => {
                "The copy cannot be composed, or SES refused it, for the reason that the words say: \
                 its template is gone or cannot be rendered, or the mail is too large."
            }
        }
    }
}

impl From<String> for DropReason {
    fn from(words: String) -> Self {
        let mut fixed = Self::FIXED.into_iter();
        fixed
            .find(|reason| reason.words() == words)
            .unwrap_or(Self::Unsendable(words))
    }
}

impl From<DropReason> for String {
    fn from(reason: DropReason) -> Self {
        match reason {
            DropReason::Unsendable(why) => why,
            fixed => fixed.words().to_owned(),
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_reason_are_read_back_as_the_reason() {
        let own = DropReason::Unsendable("attachment 0 is not base64".to_owned());
        for reason in DropReason::FIXED.into_iter().chain([own]) {
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, format!("\"{reason}\""));
            assert_eq!(serde_json::from_str::<DropReason>(&json).unwrap(), reason);
        }
    }

    #[test]
    fn the_first_seven_are_those_of_the_v3_api() {
        let words = DropReason::FIXED.map(|reason| reason.to_string());
        let contract = [
            "Invalid SMTPAPI header",
            "Spam Content",
            "Unsubscribed Address",
            "Bounced Address",
            "Spam Reporting Address",
            "Invalid",
            "Recipient List over Package Quota",
        ];
        assert_eq!(words[..7], contract);
        let own = DropReason::FIXED
            .iter()
            .filter(|reason| reason.is_extension());
        assert!(own.eq(&DropReason::FIXED[7..]));
    }
}
