//! Derives the type and classification of a bounce from a delivery report.

use posthaste_mailer::{EnhancedStatus, RefusalStage, bounce_type, classify};
use posthaste_mime::report;
use posthaste_model::{BounceType, Classification};

use crate::feedback::Bounced;

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

/// Derives a failure from the enhanced code of the report and the response of the refusing server.
///
/// Where the two disagree, the response decides: reporting servers fill in `5.1.1` or `5.0.0` for
/// what they do not know, and the code of the report suppresses an address only when the response
/// gives no other reason. Either of them may say that the refusal was temporary.
///
/// `stage` is what a refusal without a stated reason is about: the address, or the mail.
pub(crate) fn bounced(
    status: Option<&str>,
    diagnostic: Option<&str>,
    stage: RefusalStage,
) -> Bounced {
    let said = words(diagnostic.unwrap_or_default());
    let reply = report::reply(&said);
    let reported = status.and_then(|text| text.trim().parse().ok());
    let own = reply.status.and_then(|text| text.parse().ok());
    let status = own.filter(|own| !is_vague(*own)).or(reported).or(own);
    let class = class(own, reply.code).or(reported.map(|status| u16::from(status.class)));
    let is_temporary = class == Some(4);
    let code = reply.code.unwrap_or(if is_temporary { 450 } else { 550 });
    let reason = match (said.is_empty(), status) {
        (false, _) => reply.words.to_owned(),
        (true, Some(status)) => format!("{code} {status} returned to sender"),
        (true, None) => format!("{code} returned to sender"),
    };
    if is_temporary {
        // A report of failure with a temporary code: the server retried for days and gave up.
        let temporary = status.filter(|status| status.class == 4);
        return Bounced {
            kind: BounceType::Expired,
            class: Classification::Unclassified.as_str(),
            status: temporary.map_or_else(|| "4.4.7".to_owned(), |s| s.to_string()),
            reason,
        };
    }
    // Of the codes that are about an address, 551 and 553 are used for the sender's as well (RFC
    // 5321, section 4.2.3), and a report does not say after which command they came.
    let code = if matches!(code, 551 | 553) { 550 } else { code };
    // The words alone, when they give a reason; else with the code that is known.
    let unstated = own.is_none_or(is_vague) && !said.is_empty();
    let alone = classify(code, None, &reason) != Classification::Unclassified;
    let by = if unstated && alone { None } else { status };
    Bounced {
        kind: bounce_type(code, by, &reason, stage),
        class: classify(code, by, &reason).as_str(),
        status: status.map_or_else(|| "5.0.0".to_owned(), |s| s.to_string()),
        reason,
    }
}

/// `5.0.0`: no reason.
fn is_vague(status: EnhancedStatus) -> bool {
    (status.subject, status.detail) == (0, 0)
}

/// The class that the refusing server stated: temporary if its code or its enhanced code is.
fn class(own: Option<EnhancedStatus>, code: Option<u16>) -> Option<u16> {
    let of_status = own.map(|status| u16::from(status.class));
    let of_code = code.map(|code| code / 100);
    of_status.into_iter().chain(of_code).min()
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
        // The report's own code disagrees with what the server said.
        for (status, said) in [
            ("5.1.1", "smtp; 552 5.2.2 Over quota"),
            ("5.1.1", "smtp; 552 Mailbox full"),
            ("5.1.1", "550 5.7.1 IP address blacklisted"),
            (
                "5.1.1",
                "X-Unix; host a[192.0.2.1] said: 550 SPF check failed",
            ),
            ("5.1.1", "451 4.3.0 gave up"),
            ("5.1.1", "421 gave up"),
            ("5.1.1", "550 4.4.7 expired"),
            ("5.0.0", "551 Server access forbidden by your record"),
        ] {
            let got = bounced(Some(status), Some(said), RefusalStage::Data);
            assert_ne!(got.kind, Bounce, "{status} {said}: {got:?}");
        }
        let own = bounced(
            Some("5.7.1"),
            Some("host a said: 550 5.1.1 User unknown"),
            RefusalStage::Data,
        );
        assert_eq!((own.kind, own.status.as_str()), (Bounce, "5.1.1"));
        assert_eq!(own.reason, "550 5.1.1 User unknown");
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
