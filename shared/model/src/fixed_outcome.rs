//! Addresses whose mail always ends the same way, so that a program can be tested with every end.

/// The outcome of an address at `outcome.test`, a domain that is reserved for tests (RFC 6761), and of those of Amazon's
/// mailbox simulator and of Resend that mean the same.
///
/// They have it where mail does not leave: for keys marked as test, and for every key on the local host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedOutcome {
    Delivered,
    /// Refused for the address.
    Bounced,
    /// Refused for the content.
    Blocked,
    /// Refused for the moment, at every attempt.
    Deferred,
    /// Delivered, and reported as spam.
    Complained,
    /// Delivered, and answered by unsubscribing.
    Unsubscribed,
    /// Delivered and read.
    Opened,
    /// Delivered and read, and its first link followed.
    Clicked,
}

impl FixedOutcome {
    /// The outcome of an address, if it has one. A tag (`bounced+1@…`) makes no difference.
    pub fn of(address: &str) -> Option<Self> {
        let (local, domain) = address.rsplit_once('@')?;
        let (local, domain) = (local.to_ascii_lowercase(), domain.to_ascii_lowercase());
        let name = local.split('+').next().unwrap_or_default();
        Some(match (domain.as_str(), name) {
            ("outcome.test" | "resend.dev", "delivered")
            | ("simulator.amazonses.com", "success" | "ooto") => Self::Delivered,
            ("outcome.test" | "resend.dev", "bounced")
            | ("simulator.amazonses.com", "bounce" | "suppressionlist") => Self::Bounced,
            ("outcome.test" | "resend.dev", "complained")
            | ("simulator.amazonses.com", "complaint") => Self::Complained,
            ("outcome.test", "blocked") => Self::Blocked,
            ("outcome.test", "deferred") => Self::Deferred,
            ("outcome.test", "unsubscribed") => Self::Unsubscribed,
            ("outcome.test", "opened") => Self::Opened,
            ("outcome.test", "clicked") => Self::Clicked,
            _ => return None,
        })
    }

    /// The refusal of a relay, as code, enhanced code and words; `None` where it takes the mail.
    pub fn refusal(self) -> Option<(u16, &'static str, &'static str)> {
        Some(match self {
            Self::Delivered
            | Self::Complained
            | Self::Unsubscribed
            | Self::Opened
            | Self::Clicked => return None,
            Self::Bounced => (550, "5.1.1", "user unknown (an address of tests)"),
            Self::Blocked => (
                550,
                "5.7.1",
                "message rejected as spam (an address of tests)",
            ),
            Self::Deferred => (451, "4.3.2", "try again later (an address of tests)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_tests_have_their_outcome_and_others_none() {
        for (address, code) in [
            ("delivered@outcome.test", None),
            ("Bounced+7@Outcome.Test", Some(550)),
            ("blocked@outcome.test", Some(550)),
            ("deferred@outcome.test", Some(451)),
            ("complained@outcome.test", None),
            ("unsubscribed@outcome.test", None),
            ("opened@outcome.test", None),
            ("clicked+a+b@outcome.test", None),
            ("bounce@simulator.amazonses.com", Some(550)),
            ("suppressionlist@simulator.amazonses.com", Some(550)),
            ("success@simulator.amazonses.com", None),
            ("ooto@simulator.amazonses.com", None),
            ("complaint@simulator.amazonses.com", None),
            ("bounced@resend.dev", Some(550)),
            ("delivered@resend.dev", None),
            ("complained@resend.dev", None),
        ] {
            let outcome = FixedOutcome::of(address).expect(address);
            let refusal = outcome.refusal();
            assert_eq!(refusal.map(|(code, ..)| code), code, "{address}");
        }
        for address in [
            "ann@outcome.test",
            "bounced@example.com",
            "bounced",
            "opened@resend.dev",
            "complained@simulator.amazonses.com",
            "bounced@sub.outcome.test",
        ] {
            assert_eq!(FixedOutcome::of(address), None, "{address}");
        }
    }
}
