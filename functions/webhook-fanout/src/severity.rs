//! How bad the rates of bounces and complaints of an account are, and what is to be done about it.

use std::fmt;
use std::str::FromStr;

use posthaste_model::{BounceType, Event, EventKind};
use posthaste_store::{MailEnd, SendingRates, SuspensionCause};

/// Mails below which a rate says nothing.
const ENOUGH: i64 = 1_000;

/// What the guard does about an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReputationGuard {
    Off,
    /// It warns, and suspends no account.
    Warn,
    #[default]
    Suspend,
}

impl fmt::Display for ReputationGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Suspend => "suspend",
        })
    }
}

/// The text is not a setting of the guard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of off, warn and suspend")]
pub struct InvalidGuard(String);

impl FromStr for ReputationGuard {
    type Err = InvalidGuard;

    fn from_str(text: &str) -> Result<Self, InvalidGuard> {
        match text {
            "off" => Ok(Self::Off),
            "warn" => Ok(Self::Warn),
            "suspend" => Ok(Self::Suspend),
            _ => Err(InvalidGuard(text.to_owned())),
        }
    }
}

/// How bad the rates of an account are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Fine,
    Warning(SuspensionCause),
    Suspension(SuspensionCause),
}

impl Severity {
    /// 5 % bounces or 0.1 % complaints are a warning, 10 % or 0.5 % a suspension: where SES puts its
    /// customers under review, and where it may stop them.
    pub(crate) fn of(rates: SendingRates) -> Self {
        let SendingRates {
            mails,
            bounces,
            complaints,
        } = rates;
        if mails < ENOUGH {
            return Self::Fine;
        }
        // In thousandths.
        let reaches = |count: i64, limit: i64| count.saturating_mul(1_000) >= mails * limit;
        if reaches(complaints, 5) {
            Self::Suspension(SuspensionCause::Complaints)
        } else if reaches(bounces, 100) {
            Self::Suspension(SuspensionCause::Bounces)
        } else if reaches(complaints, 1) {
            Self::Warning(SuspensionCause::Complaints)
        } else if reaches(bounces, 50) {
            Self::Warning(SuspensionCause::Bounces)
        } else {
            Self::Fine
        }
    }
}

/// How an event ends a mail, as far as the guard counts it.
pub(crate) fn mail_end(event: &Event) -> Option<MailEnd> {
    match event.kind {
        EventKind::Delivered => Some(MailEnd::Delivered),
        EventKind::Bounce => Some(match event.bounce_type {
            Some(BounceType::Blocked | BounceType::Expired) => MailEnd::Blocked,
            Some(BounceType::Bounce) | None => MailEnd::Bounced,
        }),
        EventKind::SpamReport => Some(MailEnd::Complained),
        EventKind::Processed
        | EventKind::Deferred
        | EventKind::Dropped
        | EventKind::Open
        | EventKind::Click
        | EventKind::Unsubscribe
        | EventKind::GroupUnsubscribe
        | EventKind::GroupResubscribe
        | EventKind::AccountStatusChange => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_judged_from_a_thousand_mails_on_by_what_ses_looks_at() {
        use SuspensionCause::{Bounces, Complaints};
        for (mails, bounces, complaints, want) in [
            (999, 999, 999, Severity::Fine),
            (1_000, 49, 0, Severity::Fine),
            (1_000, 50, 0, Severity::Warning(Bounces)),
            (1_000, 99, 0, Severity::Warning(Bounces)),
            (1_000, 100, 0, Severity::Suspension(Bounces)),
            (1_000, 0, 1, Severity::Warning(Complaints)),
            (1_001, 0, 1, Severity::Fine),
            (1_000, 0, 4, Severity::Warning(Complaints)),
            (1_000, 0, 5, Severity::Suspension(Complaints)),
            (1_000, 50, 5, Severity::Suspension(Complaints)),
            (1_000, 100, 1, Severity::Suspension(Bounces)),
            (1_000_000, 99_999, 999, Severity::Warning(Bounces)),
            (1_000_000, 49_999, 999, Severity::Fine),
        ] {
            let rates = SendingRates {
                mails,
                bounces,
                complaints,
            };
            assert_eq!(Severity::of(rates), want, "{rates:?}");
        }
    }
}
