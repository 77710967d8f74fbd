//! Why a mail bounced, in seven classes (API facts 3.3).

/// The `bounce_classification` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Classification {
    InvalidAddress,
    Technical,
    Content,
    Reputation,
    Volume,
    MailboxUnavailable,
    Unclassified,
}

impl Classification {
    /// Every classification.
    pub const ALL: [Self; 7] = [
        Self::InvalidAddress,
        Self::Technical,
        Self::Content,
        Self::Reputation,
        Self::Volume,
        Self::MailboxUnavailable,
        Self::Unclassified,
    ];

    /// The word in an event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidAddress => "Invalid Address",
            Self::Technical => "Technical",
            Self::Content => "Content",
            Self::Reputation => "Reputation",
            Self::Volume => "Frequency or Volume Too High",
            Self::MailboxUnavailable => "Mailbox Unavailable",
            Self::Unclassified => "Unclassified",
        }
    }
    /// The name in the API's list of classifications (API facts 3.3).
    pub fn list_name(self) -> &'static str {
        match self {
            Self::Technical => "Technical Failure",
            other => other.as_str(),
        }
    }
}
