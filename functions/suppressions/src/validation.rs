//! `POST /v3/validations/email`: whether an address can get mail, by what is known of it here.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, ClientIp, JsonBody, Rejection};
use posthaste_model::EmailAddress;
use posthaste_store::SuppressionList;
use serde::{Deserialize, Serialize};

use crate::App;

/// Domains of throw-away mailboxes, in lower case and sorted: those of
/// <https://github.com/disposable-email-domains/disposable-email-domains> of 2026-08-21 (CC0 1.0).
static DISPOSABLE: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("validation/disposable.txt").lines().collect());

/// Local parts of groups and functions: those of RFC 2142, and others in common use.
const ROLES: [&str; 42] = [
    "abuse",
    "accounting",
    "accounts",
    "admin",
    "administrator",
    "billing",
    "contact",
    "customerservice",
    "devnull",
    "dns",
    "enquiries",
    "feedback",
    "ftp",
    "hello",
    "help",
    "helpdesk",
    "hostmaster",
    "hr",
    "info",
    "inquiries",
    "it",
    "jobs",
    "legal",
    "mailer-daemon",
    "marketing",
    "media",
    "news",
    "no-reply",
    "noc",
    "noreply",
    "office",
    "orders",
    "postmaster",
    "press",
    "privacy",
    "root",
    "sales",
    "security",
    "spam",
    "support",
    "usenet",
    "webmaster",
];

/// Domains of large mailbox services, whose misspellings are worth a suggestion; the last ones are right as they are.
const WELL_KNOWN: [&str; 16] = [
    "gmail.com",
    "googlemail.com",
    "hotmail.com",
    "outlook.com",
    "yahoo.com",
    "icloud.com",
    "aol.com",
    "live.com",
    "msn.com",
    "proton.me",
    "protonmail.com",
    "gmx.de",
    "gmx.net",
    "ymail.com",
    "mail.com",
    "email.com",
];

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ValidationRequest {
    email: Option<String>,
    /// A word for where the address is from; the answer repeats it.
    source: Option<String>,
}

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Validation {
    result: ValidationResult,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ValidationResult {
    email: String,
    verdict: AddressVerdict,
    score: f64,
    local: String,
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'static str>,
    checks: Checks,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// That of the caller.
    ip_address: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum AddressVerdict {
    Valid,
    Risky,
    Invalid,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Checks {
    domain: DomainChecks,
    local_part: LocalPartChecks,
    additional: AdditionalChecks,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DomainChecks {
    has_valid_address_syntax: bool,
    has_mx_or_a_record: bool,
    is_suspected_disposable_address: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LocalPartChecks {
    is_suspected_role_address: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AdditionalChecks {
    /// Whether it is among the bounces or the invalid addresses of the account.
    has_known_bounces: bool,
    /// Whether it is among the blocks of the account.
    has_suspected_bounces: bool,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Findings {
    is_address: bool,
    /// None where the DNS of the domain gives no answer.
    takes_mail: Option<bool>,
    is_disposable: bool,
    is_role: bool,
    has_bounced: bool,
    was_blocked: bool,
    /// It complained, or unsubscribed from everything.
    left: bool,
}

impl Findings {
    fn verdict(self) -> AddressVerdict {
        if !self.is_address || self.takes_mail == Some(false) || self.has_bounced {
            return AddressVerdict::Invalid;
        }
        if self.takes_mail.is_none()
            || self.is_disposable
            || self.is_role
            || self.was_blocked
            || self.left
        {
            return AddressVerdict::Risky;
        }
        AddressVerdict::Valid
    }

    /// 1 where nothing is against the address, 0 where it is invalid; each risk takes a part of what is left.
    fn score(self) -> f64 {
        if self.verdict() == AddressVerdict::Invalid {
            return 0.0;
        }
        let risks = [
            (self.takes_mail.is_none(), 0.5),
            (self.is_disposable, 0.3),
            (self.is_role, 0.6),
            (self.was_blocked, 0.5),
            (self.left, 0.2),
        ];
        let met = risks.into_iter().filter(|(is_met, _)| *is_met);
        met.map(|(_, left)| left).product()
    }
}

/// `POST /v3/validations/email`.
pub(crate) async fn validate(
    State(app): State<App>,
    caller: Caller,
    ClientIp(ip): ClientIp,
    JsonBody(body): JsonBody<ValidationRequest>,
) -> Result<Json<Validation>, Rejection> {
    let Some(resolver) = &app.resolver else {
        let message =
            "this deployment asks no DNS, without which it cannot tell whether a domain takes mail";
        return Err(Rejection::plain(StatusCode::NOT_IMPLEMENTED, message));
    };
    let email = body.email.unwrap_or_default().trim().to_owned();
    if email.is_empty() {
        return Err(Rejection::on("email", "email is required"));
    }
    let (local, host) = email.rsplit_once('@').unwrap_or((&email, ""));
    let mut findings = Findings::default();
    let mut suggestion = None;
    if let Ok(address) = EmailAddress::parse(&email) {
        let domain = address.ascii_domain();
        let takes_mail = resolver.takes_mail(&domain).await;
        let folded = address.folded();
        let lists = app.store.suppressed(caller.id(), &folded).await?;
        let is_on = |list| lists.on(list).is_some();
        findings = Findings {
            is_address: true,
            takes_mail: takes_mail.ok(),
            is_disposable: is_disposable(&domain),
            is_role: is_role(address.local()),
            has_bounced: is_on(SuppressionList::Bounces) || is_on(SuppressionList::InvalidEmails),
            was_blocked: is_on(SuppressionList::Blocks),
            left: is_on(SuppressionList::SpamReports) || is_on(SuppressionList::Unsubscribes),
        };
        suggestion = suggested(&domain);
    }
    let result = ValidationResult {
        verdict: findings.verdict(),
        score: findings.score(),
        local: local.to_owned(),
        host: host.to_owned(),
        suggestion,
        checks: Checks {
            domain: DomainChecks {
                has_valid_address_syntax: findings.is_address,
                has_mx_or_a_record: findings.takes_mail == Some(true),
                is_suspected_disposable_address: findings.is_disposable,
            },
            local_part: LocalPartChecks {
                is_suspected_role_address: findings.is_role,
            },
            additional: AdditionalChecks {
                has_known_bounces: findings.has_bounced,
                has_suspected_bounces: findings.was_blocked,
            },
        },
        source: body.source,
        ip_address: ip.map(|ip| ip.to_string()).unwrap_or_default(),
        email,
    };
    Ok(Json(Validation { result }))
}

/// Whether the domain, or one above it, is of throw-away mailboxes.
fn is_disposable(domain: &str) -> bool {
    let mut rest = Some(domain);
    while let Some(name) = rest {
        if DISPOSABLE.binary_search(&name).is_ok() {
            return true;
        }
        rest = name.split_once('.').map(|(_, above)| above);
    }
    false
}

/// Whether the local part, without its tag, names a group or a function.
fn is_role(local: &str) -> bool {
    let name = local.split_once('+').map_or(local, |(name, _)| name);
    ROLES.contains(&name.to_ascii_lowercase().as_str())
}

/// The well-known domain that this one is a misspelling of, by one letter.
fn suggested(domain: &str) -> Option<&'static str> {
    if WELL_KNOWN.contains(&domain) {
        return None;
    }
    let is_near = |known: &&&str| {
        known.len().abs_diff(domain.len()) <= 1 && strsim::osa_distance(known, domain) == 1
    };
    WELL_KNOWN.iter().find(is_near).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_be_searched() {
        assert!(DISPOSABLE.len() > 8_000);
        assert!(DISPOSABLE.is_sorted());
        let is_name = |name: &&str| {
            name.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b))
        };
        assert!(DISPOSABLE.iter().all(is_name));
    }

    #[test]
    fn domains_of_throw_away_mailboxes_are_known_and_so_are_those_below_them() {
        for (domain, want) in [
            ("mailinator.com", true),
            ("inbox.mailinator.com", true),
            ("mailinator.com.example", false),
            ("gmail.com", false),
            ("com", false),
        ] {
            assert_eq!(is_disposable(domain), want, "{domain}");
        }
    }

    #[test]
    fn roles_are_known_by_their_names_alone() {
        for (local, want) in [
            ("info", true),
            ("Postmaster", true),
            ("support+orders", true),
            ("information", false),
            ("ann", false),
            ("ann+info", false),
        ] {
            assert_eq!(is_role(local), want, "{local}");
        }
    }

    #[test]
    fn a_misspelt_domain_is_corrected_and_a_right_one_is_not() {
        for (domain, want) in [
            ("gmial.com", Some("gmail.com")),
            ("gmai.com", Some("gmail.com")),
            ("hotmial.com", Some("hotmail.com")),
            ("outlok.com", Some("outlook.com")),
            ("gmail.com", None),
            ("ymail.com", None),
            ("example.com", None),
        ] {
            assert_eq!(suggested(domain), want, "{domain}");
        }
    }

    #[test]
    fn the_verdict_follows_from_what_is_known_and_the_score_from_the_verdict() {
        let good = Findings {
            is_address: true,
            takes_mail: Some(true),
            ..Findings::default()
        };
        let with = |change: fn(&mut Findings)| {
            let mut findings = good;
            change(&mut findings);
            findings
        };
        let bounced_role = with(|it| (it.has_bounced, it.is_role) = (true, true));
        let blocked_role = with(|it| (it.was_blocked, it.is_role) = (true, true));
        let is_left = with(|it| it.left = true);
        let no_mail = with(|it| it.takes_mail = Some(false));
        for (findings, verdict, score) in [
            (good, AddressVerdict::Valid, 1.0),
            (Findings::default(), AddressVerdict::Invalid, 0.0),
            (no_mail, AddressVerdict::Invalid, 0.0),
            (with(|it| it.takes_mail = None), AddressVerdict::Risky, 0.5),
            (bounced_role, AddressVerdict::Invalid, 0.0),
            (with(|it| it.is_role = true), AddressVerdict::Risky, 0.6),
            (blocked_role, AddressVerdict::Risky, 0.3),
            (is_left, AddressVerdict::Risky, 0.2),
        ] {
            assert_eq!(findings.verdict(), verdict, "{findings:?}");
            assert!((findings.score() - score).abs() < 1e-9, "{findings:?}");
        }
    }
}
