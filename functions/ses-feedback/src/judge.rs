//! Derives the type and classification of a bounce from a delivery report.

use posthaste_mailer::{Classification, EnhancedStatus, RefusalStage, bounce_type, classify};
use posthaste_model::BounceType;

use crate::word::Bounced;

/// The number of characters of another server's response that are stored.
const LONGEST: usize = 1024;

/// Another server's response on one line, without the leading type (RFC 3464, section 2.3.6).
pub(crate) fn words(diagnostic: &str) -> String {
    let text = diagnostic.trim();
    let bare = match text.get(..5) {
        Some(kind) if kind.eq_ignore_ascii_case("smtp;") => text.get(5..).unwrap_or_default(),
        Some(_) | None => text,
    };
    let words: Vec<&str> = bare.split_whitespace().collect();
    words.join(" ").chars().take(LONGEST).collect()
}

/// Derives a failure from its enhanced code and the response of the refusing server.
///
/// `stage` is what a refusal without a stated reason is about: the address, or the mail.
pub(crate) fn bounced(
    status: Option<&str>,
    diagnostic: Option<&str>,
    stage: RefusalStage,
) -> Bounced {
    let said = words(diagnostic.unwrap_or_default());
    let code: Option<u16> = said.get(..3).and_then(|digits| digits.parse().ok());
    let code = code.filter(|code| (400..600).contains(code));
    let status = better(status.and_then(|text| text.trim().parse().ok()), &said);
    let class = status.map_or_else(|| code.unwrap_or(550) / 100, |s| u16::from(s.class));
    let code = code.unwrap_or(if class == 4 { 450 } else { 550 });
    let reason = match (said.is_empty(), status) {
        (false, _) => said,
        (true, Some(status)) => format!("{code} {status} returned to sender"),
        (true, None) => format!("{code} returned to sender"),
    };
    if class == 4 {
        // A report of failure with a temporary code: the server retried for days and gave up.
        return Bounced {
            kind: BounceType::Expired,
            class: Classification::Unclassified.as_str(),
            status: status.map_or_else(|| "4.4.7".to_owned(), |s| s.to_string()),
            reason,
        };
    }
    Bounced {
        kind: bounce_type(code, status, &reason, stage),
        class: classify(code, status, &reason).as_str(),
        status: status.map_or_else(|| "5.0.0".to_owned(), |s| s.to_string()),
        reason,
    }
}

/// The code of the report, unless it is unspecific (`5.0.0`) and the server's response has a better
/// one.
fn better(reported: Option<EnhancedStatus>, said: &str) -> Option<EnhancedStatus> {
    let vague = |status: EnhancedStatus| (status.subject, status.detail) == (0, 0);
    if let Some(status) = reported
        && !vague(status)
    {
        return reported;
    }
    let mut words = said.split([' ', '-']);
    let own: Option<EnhancedStatus> = words.nth(1).and_then(|word| {
        let bare = word.trim_matches(|c| matches!(c, '#' | '[' | ']' | '(' | ')' | ':'));
        bare.parse().ok()
    });
    own.or(reported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::BounceType::{Blocked, Bounce, Expired};

    #[test]
    fn reports_are_read_like_the_refusals_they_are_about() {
        for (status, said, kind, class, code) in [
            (
                "5.1.1",
                "smtp; 550 5.1.1 user unknown",
                Bounce,
                "Invalid Address",
                "5.1.1",
            ),
            (
                "5.0.0",
                "smtp;550 5.1.1 <a@b.c>: unknown",
                Bounce,
                "Invalid Address",
                "5.1.1",
            ),
            (
                "5.0.0",
                "550-5.7.1 blocked using zen.spamhaus.org",
                Blocked,
                "Reputation",
                "5.7.1",
            ),
            (
                "5.2.2",
                "552 mailbox full",
                Blocked,
                "Mailbox Unavailable",
                "5.2.2",
            ),
            ("5.2.1", "", Bounce, "Mailbox Unavailable", "5.2.1"),
            (
                "4.4.7",
                "smtp; 550 4.4.7 Message expired",
                Expired,
                "Unclassified",
                "4.4.7",
            ),
            ("", "451 4.3.0 gave up", Expired, "Unclassified", "4.3.0"),
            ("", "", Blocked, "Unclassified", "5.0.0"),
            (
                "nonsense",
                "no code at all",
                Blocked,
                "Unclassified",
                "5.0.0",
            ),
        ] {
            let status = (!status.is_empty()).then_some(status);
            let got = bounced(status, Some(said), RefusalStage::Data);
            assert_eq!((got.kind, got.class), (kind, class), "{status:?} {said}");
            assert_eq!(got.status, code, "{said}");
            assert!(!got.reason.is_empty() && !got.reason.contains("smtp;"));
        }
        let unknown = bounced(None, None, RefusalStage::Rcpt);
        assert_eq!(unknown.kind, Blocked);
    }

    #[test]
    fn long_and_folded_words_become_one_line() {
        assert_eq!(
            words("smtp; 550 5.1.1\r\n  no\tsuch  user "),
            "550 5.1.1 no such user"
        );
        assert_eq!(words(&"ü".repeat(5_000)).chars().count(), LONGEST);
        assert_eq!(words("SMTP;"), "");
        assert_eq!(words("üü"), "üü");
    }
}
