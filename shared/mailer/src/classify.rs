//! Classifies a refusal as one of the seven kinds of bounce of API facts 3.3, and decides whether
//! it suppresses the address.
//!
//! Servers agree on little. The order is: unambiguous enhanced codes, then the phrases servers use,
//! then the remaining enhanced codes, then the reply code.

use posthaste_model::BounceType;

use crate::{EnhancedStatus, RefusalStage, phrases};

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

use Classification::{
    Content, InvalidAddress, MailboxUnavailable, Reputation, Technical, Unclassified, Volume,
};

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

    /// The word in an event. (The classification list of the API says `Technical Failure`.)
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
}

/// Reads a refusal: reply code, enhanced code if any, text.
pub fn classify(code: u16, status: Option<EnhancedStatus>, text: &str) -> Classification {
    let status = status.map(|s| (s.subject, s.detail));
    status
        .and_then(certain)
        .or_else(|| by_words(&text.to_lowercase()))
        .or_else(|| status.and_then(likely))
        .unwrap_or_else(|| by_code(code))
}

/// Whether the refusal is of the address for good (`bounce`, which suppresses it) or of this mail
/// only (`blocked`).
pub fn bounce_type(
    code: u16,
    status: Option<EnhancedStatus>,
    text: &str,
    stage: RefusalStage,
) -> BounceType {
    match classify(code, status, text) {
        InvalidAddress => BounceType::Bounce,
        MailboxUnavailable if is_full(code, status, text) => BounceType::Blocked,
        MailboxUnavailable => BounceType::Bounce,
        // A refused recipient is a bounce; a refused mail says nothing about the address.
        Unclassified if stage == RefusalStage::Rcpt => BounceType::Bounce,
        Unclassified | Technical | Content | Reputation | Volume => BounceType::Blocked,
    }
}

/// A mailbox that can be emptied.
fn is_full(code: u16, status: Option<EnhancedStatus>, text: &str) -> bool {
    let text = text.to_lowercase();
    code == 552
        || status == Some(EnhancedStatus::new(5, 2, 2))
        || phrases::FULL.iter().any(|w| says(&text, w))
}

/// RFC 3463 sections 3.2 to 3.7 and the registry of RFC 5248.
fn certain(status: (u16, u16)) -> Option<Classification> {
    match status {
        // Bad mailbox, system or syntax; mailbox moved; null MX (RFC 7505).
        (1, 1 | 2 | 3 | 6 | 10) => Some(InvalidAddress),
        // Disabled; full.
        (2, 1 | 2) => Some(MailboxUnavailable),
        // Too long for the mailbox or the system.
        (2 | 3, 3 | 4) if status != (3, 3) => Some(Content),
        // Media and conversion; but not 5.6.7, an address that needs SMTPUTF8.
        (6, 7) => Some(Technical),
        (6, _) => Some(Content),
        // Failed or missing authentication of the sender (RFC 7372).
        (7, 20..=27) => Some(Reputation),
        _ => None,
    }
}

fn likely(status: (u16, u16)) -> Option<Classification> {
    match status {
        (1, 7 | 8) => Some(Technical),
        (1, _) => Some(InvalidAddress),
        (2, _) => Some(MailboxUnavailable),
        (5, 3) => Some(Volume),
        (3..=5, 1..) => Some(Technical),
        (7, 1..) => Some(Reputation),
        _ => None,
    }
}

/// RFC 5321 section 4.2.3, where a reply has only a code.
fn by_code(code: u16) -> Classification {
    match code {
        551 | 553 => InvalidAddress,
        450 | 452 | 552 => MailboxUnavailable,
        421 | 451 | 500..=504 | 521 | 555 | 556 => Technical,
        _ => Unclassified,
    }
}

/// The first list that matches decides.
fn by_words(text: &str) -> Option<Classification> {
    const LISTS: [(&[&str], Classification); 8] = [
        (phrases::FULL, MailboxUnavailable),
        (phrases::INVALID, InvalidAddress),
        (phrases::GONE, MailboxUnavailable),
        (phrases::VOLUME, Volume),
        (phrases::REPUTATION, Reputation),
        (phrases::CONTENT, Content),
        (phrases::UNAVAILABLE, MailboxUnavailable),
        (phrases::TECHNICAL, Technical),
    ];
    let has = |words: &[&str]| words.iter().any(|word| says(text, word));
    let hit = LISTS.into_iter().find(|(words, _)| has(words));
    hit.map(|(_, classification)| classification)
}

/// Whether the phrase begins a word of the text: `rbl` is not in `marble`.
fn says(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::BounceType::{Blocked, Bounce};

    #[track_caller]
    fn check(stage: RefusalStage, line: &str, class: Classification, kind: BounceType) {
        let (code, text) = line.split_once(' ').unwrap_or((line, ""));
        let code = code.parse().unwrap();
        let status = EnhancedStatus::of_reply(code, text);
        assert_eq!(classify(code, status, text), class, "{line}");
        assert_eq!(bounce_type(code, status, text, stage), kind, "{line}");
    }

    #[test]
    fn refusals_of_the_address() {
        for (line, class, kind) in [
            (
                "550 5.1.1 The email account that you tried to reach does not exist.",
                InvalidAddress,
                Bounce,
            ),
            (
                "550 5.1.1 <a@b.c>: Recipient address rejected: User unknown in virtual mailbox table",
                InvalidAddress,
                Bounce,
            ),
            (
                "550 5.4.1 Recipient address rejected: Access denied. user not found",
                InvalidAddress,
                Bounce,
            ),
            (
                "554 delivery error: dd This user doesn't have a b.c account",
                InvalidAddress,
                Bounce,
            ),
            ("550 No such user here", InvalidAddress, Bounce),
            (
                "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found",
                InvalidAddress,
                Bounce,
            ),
            (
                "556 5.1.10 Recipient address has null MX",
                InvalidAddress,
                Bounce,
            ),
            ("551 5.1.6 The user has moved", InvalidAddress, Bounce),
            ("553 sorry", InvalidAddress, Bounce),
            (
                "550 5.2.1 The email account that you tried to reach is disabled",
                MailboxUnavailable,
                Bounce,
            ),
            (
                "550 Requested action not taken: mailbox unavailable",
                MailboxUnavailable,
                Bounce,
            ),
            ("550 This account is inactive", MailboxUnavailable, Bounce),
            (
                "552 5.2.2 The recipient's inbox is out of storage space",
                MailboxUnavailable,
                Blocked,
            ),
            ("550 Mailbox full", MailboxUnavailable, Blocked),
            ("554 5.2.2 mailbox full", MailboxUnavailable, Blocked),
            ("552 sorry", MailboxUnavailable, Blocked),
            ("550", Unclassified, Bounce),
            ("550 Go away", Unclassified, Bounce),
            ("550 5.0.0 Rejected", Unclassified, Bounce),
        ] {
            check(RefusalStage::Rcpt, line, class, kind);
        }
    }

    #[test]
    fn refusals_of_us_or_the_mail_leave_the_address_alone() {
        for (line, class) in [
            (
                "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
                Reputation,
            ),
            (
                "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. part of their network is on our block list",
                Reputation,
            ),
            ("550 5.7.26 This mail is unauthenticated", Reputation),
            ("550 SPF check failed", Reputation),
            ("550 5.7.1 Message refused", Reputation),
            (
                "550 5.7.1 Our system has detected an unusual rate of unsolicited mail",
                Volume,
            ),
            (
                "421 4.7.0 Messages temporarily deferred due to unexpected volume",
                Volume,
            ),
            ("550 Too many messages from you", Volume),
            ("452 4.5.3 Too many recipients", Volume),
            ("550 High probability of spam", Content),
            ("554 5.6.0 Message contains invalid header", Content),
            ("552 5.3.4 Message size exceeds fixed limit", Content),
            ("552 5.2.3 too long", Content),
            ("550 5.7.0 Virus found", Content),
            ("550 5.4.4 Host not found", Technical),
            (
                "554 5.4.6 Hop count exceeded - possible mail loop",
                Technical,
            ),
            ("553 5.6.7 needs SMTPUTF8", Technical),
            ("521 Does not accept mail", Technical),
            ("550 marble verbl tasks", Unclassified),
        ] {
            check(RefusalStage::Data, line, class, Blocked);
        }
    }

    #[test]
    fn the_words_are_those_of_the_events() {
        let words: Vec<_> = Classification::ALL.iter().map(|c| c.as_str()).collect();
        assert_eq!(
            words,
            [
                "Invalid Address",
                "Technical",
                "Content",
                "Reputation",
                "Frequency or Volume Too High",
                "Mailbox Unavailable",
                "Unclassified"
            ]
        );
    }
}
