//! The answers of mail/send as SMTP replies.

use posthaste_http::Rejection;
use posthaste_smtpd::SmtpReply;

/// The first reason of a refusal, on one line.
fn reason(rejection: &Rejection) -> String {
    let first = rejection.problems.first();
    first.map_or_else(String::new, |problem| problem.message.clone())
}

/// A login that was refused.
pub(super) fn of_login(rejection: Rejection) -> SmtpReply {
    let reason = reason(&rejection);
    match rejection.status.as_u16() {
        429 => SmtpReply::new(421, "4.7.0", reason),
        500.. => SmtpReply::new(454, "4.7.0", "the login cannot be checked, try again later"),
        _ => SmtpReply::new(535, "5.7.8", format!("Authentication failed: {reason}")),
    }
}

/// A login under another user name. The name is no secret, and most often the whole mistake.
pub(super) fn of_user(refused: SmtpReply) -> SmtpReply {
    match refused.code {
        535 => SmtpReply::new(
            535,
            "5.7.8",
            "Authentication failed: the user name is apikey, the password is an API key",
        ),
        _ => refused,
    }
}

/// A step that is refused on purpose.
pub(super) fn of_fault(code: u16) -> SmtpReply {
    let status = if code < 500 { "4.0.0" } else { "5.0.0" };
    SmtpReply::new(code, status, "refused on purpose (chaos)")
}

/// A mail that could not be made durable.
pub(super) fn not_stored() -> SmtpReply {
    SmtpReply::new(
        451,
        "4.3.0",
        "the mail could not be stored, try again later",
    )
}

/// A mail that was refused.
pub(super) fn of_mail(rejection: Rejection) -> SmtpReply {
    let reason = reason(&rejection);
    match rejection.status.as_u16() {
        429 => SmtpReply::new(451, "4.7.1", reason),
        500.. => not_stored(),
        413 => SmtpReply::new(552, "5.3.4", reason),
        401 | 403 => SmtpReply::new(550, "5.7.1", reason),
        _ => SmtpReply::new(550, "5.6.0", reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_code() {
        let of = |status: u16, to_reply: fn(Rejection) -> SmtpReply| {
            let status = axum::http::StatusCode::from_u16(status).unwrap();
            to_reply(Rejection::plain(status, "why"))
        };
        for (status, login, mail) in [
            (400, 535, 550),
            (401, 535, 550),
            (403, 535, 550),
            (413, 535, 552),
            (429, 421, 451),
            (500, 454, 451),
            (503, 454, 451),
        ] {
            assert_eq!(of(status, of_login).code, login, "{status}");
            assert_eq!(of(status, of_mail).code, mail, "{status}");
        }
        let other = |status| of_user(of(status, of_login)).text;
        assert!(other(401).contains("the user name is apikey"));
        assert!(!other(429).contains("apikey") && !other(503).contains("apikey"));
        assert_eq!(of(403, of_mail).text, "why");
        assert!(!of(500, of_mail).text.contains("why"), "causes stay inside");
    }
}
