//! The DMARC policy of a domain for mail that only claims to be from it (RFC 7489).

use posthaste_dns::Resolver;
use posthaste_model::RecordKind;

/// What the DNS says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dmarc {
    /// The policy, and the domain that has it: this one or one above it.
    Policy(String, String),
    None,
    /// No name server answered; why.
    Unknown(String),
}

impl Dmarc {
    /// For a person.
    pub(crate) fn state(&self) -> String {
        match self {
            Self::Policy(policy, domain) => format!("DMARC {policy} ({domain})"),
            Self::None => "no DMARC record".to_owned(),
            Self::Unknown(why) => format!("DMARC not known: {why}"),
        }
    }

    /// `none`, `quarantine` or `reject`; nothing when there is no record, or none was seen.
    pub(crate) fn policy(&self) -> Option<&str> {
        match self {
            Self::Policy(policy, _) => Some(policy),
            Self::None | Self::Unknown(_) => None,
        }
    }
}

/// The record of the domain, or else of the closest one above it. Where registries begin is not
/// known here (RFC 7489, section 3.2): the last label alone is not asked.
pub(crate) async fn dmarc(resolver: Option<&Resolver>, domain: &str) -> Dmarc {
    let Some(resolver) = resolver else {
        return Dmarc::Unknown("this system names no name server".to_owned());
    };
    let mut name = domain;
    while name.contains('.') {
        let host = format!("_dmarc.{name}");
        match resolver.lookup(RecordKind::Txt, &host).await {
            Err(error) => return Dmarc::Unknown(error.to_string()),
            Ok(texts) => {
                if let Some(policy) = texts.iter().find_map(|text| policy(text)) {
                    return Dmarc::Policy(policy, name.to_owned());
                }
            }
        }
        name = name.split_once('.').map_or("", |(_, above)| above);
    }
    Dmarc::None
}

/// The policy of a record (RFC 7489, section 6.3): its version comes first.
fn policy(text: &str) -> Option<String> {
    let mut tags = text.split(';').filter_map(|tag| tag.split_once('='));
    let (name, version) = tags.next()?;
    if (name.trim(), version.trim()) != ("v", "DMARC1") {
        return None;
    }
    let (_, policy) = tags.find(|(name, _)| name.trim() == "p")?;
    Some(policy.trim().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use posthaste_dns::Zone;

    use super::*;

    async fn check(zone: &Arc<Zone>, domain: &str, want: Dmarc) {
        let resolver = Resolver::Zone(Arc::clone(zone));
        assert_eq!(dmarc(Some(&resolver), domain).await, want, "{domain}");
    }

    #[tokio::test]
    async fn the_closest_record_counts() {
        let zone = Arc::new(Zone::default());
        let of = |policy: &str, domain: &str| Dmarc::Policy(policy.into(), domain.into());
        zone.publish(
            RecordKind::Txt,
            "_dmarc.example.com",
            &["site=1", "v=DMARC1; p=Reject; rua=mailto:a@example.com"],
        );
        zone.publish(
            RecordKind::Txt,
            "_dmarc.news.example.com",
            &["v=DMARC1;p=none"],
        );
        check(&zone, "example.com", of("reject", "example.com")).await;
        check(&zone, "a.example.com", of("reject", "example.com")).await;
        check(&zone, "news.example.com", of("none", "news.example.com")).await;
        check(&zone, "example.org", Dmarc::None).await;
    }

    #[tokio::test]
    async fn what_is_no_record_and_what_is_no_answer_are_told_apart() {
        let zone = Arc::new(Zone::default());
        for text in ["p=none; v=DMARC1", "v=DMARC2; p=none", "v=DMARC1", "none"] {
            zone.publish(RecordKind::Txt, "_dmarc.example.com", &[text]);
            check(&zone, "example.com", Dmarc::None).await;
        }
        zone.fail(RecordKind::Txt, "_dmarc.example.com");
        let resolver = Resolver::Zone(zone);
        for resolver in [Some(&resolver), None] {
            let seen = dmarc(resolver, "example.com").await;
            assert!(matches!(seen, Dmarc::Unknown(_)), "{seen:?}");
            assert_eq!(seen.policy(), None);
        }
    }
}
