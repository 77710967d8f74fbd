//! What statistics are split by: mailbox providers, mail clients, devices and browsers
//! (`/v3/mailbox_providers/stats` and its siblings).
//!
//! The sender's recipients choose domains, and strangers write user agents. So the names come from fixed tables, and
//! what no table has is [`OTHER`]: whatever is sent, a day has a bounded number of counters.
//!
//! A provider is known by the domains that it gives addresses in, and by the hosts that its customers' MX records name.

mod agents;
mod providers;

pub use agents::{ClientType, is_machine};

/// The name of everything that no table has.
pub const OTHER: &str = "Other";

/// What statistics are split by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segmentation {
    /// The company that holds the recipient's mailbox.
    MailboxProvider,
    /// The program that a mail was opened in.
    Client,
    /// What that program runs on.
    Device,
    /// The program that a link was opened in.
    Browser,
}

impl Segmentation {
    /// Every one.
    pub const ALL: [Self; 4] = [
        Self::MailboxProvider,
        Self::Client,
        Self::Device,
        Self::Browser,
    ];

    /// The `type` in the v3 API.
    pub fn kind(self) -> &'static str {
        match self {
            Self::MailboxProvider => "mailbox_provider",
            Self::Client => "client",
            Self::Device => "device",
            Self::Browser => "browser",
        }
    }

    /// The counters of each of its segments (API facts, stats; the schemas of advanced statistics).
    pub fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::MailboxProvider => &[
                "blocks",
                "bounces",
                "clicks",
                "deferred",
                "delivered",
                "drops",
                "opens",
                "processed",
                "requests",
                "spam_reports",
                "unique_clicks",
                "unique_opens",
            ],
            Self::Client | Self::Device => &["opens", "unique_opens"],
            Self::Browser => &["clicks", "unique_clicks"],
        }
    }

    /// Every segment, [`OTHER`] last.
    pub fn segments(self) -> Vec<Segment> {
        let segment = |(code, name)| Segment {
            by: self,
            code,
            name,
        };
        let mut all: Vec<_> = match self {
            Self::MailboxProvider => providers::names().map(segment).collect(),
            Self::Client => agents::client_names().map(segment).collect(),
            Self::Device => agents::DEVICES.into_iter().map(segment).collect(),
            Self::Browser => agents::browser_names().map(segment).collect(),
        };
        all.push(Segment::other(self));
        all
    }
}

/// One of the names that a segmentation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// What it is one of.
    pub by: Segmentation,
    /// Two letters that rows have; unique within the segmentation, and never used for another name.
    pub code: &'static str,
    /// The name in the v3 API.
    pub name: &'static str,
}

impl Segment {
    fn other(by: Segmentation) -> Self {
        Self {
            by,
            code: "zz",
            name: OTHER,
        }
    }

    /// Whether no table has it.
    pub fn is_other(&self) -> bool {
        self.name == OTHER
    }

    fn named(by: Segmentation, found: Option<(&'static str, &'static str)>) -> Self {
        found.map_or(Self::other(by), |(code, name)| Self { by, code, name })
    }

    /// The provider that a recipient's address belongs to, by its domain.
    pub fn provider(address: &str) -> Self {
        let domain = address.rsplit_once('@').map_or("", |(_, domain)| domain);
        Self::named(Segmentation::MailboxProvider, providers::of_domain(domain))
    }

    /// The provider that has the mailboxes of a domain, by the hosts of its MX records.
    pub fn mailbox_host(exchanges: &[String]) -> Self {
        let found = providers::of_exchanges(exchanges);
        Self::named(Segmentation::MailboxProvider, found)
    }

    /// The mail client that opened a mail, by its user agent.
    pub fn client(agent: &str) -> Self {
        Self::named(Segmentation::Client, agents::client(agent))
    }

    /// What the mail client runs on.
    pub fn device(agent: &str) -> Self {
        Self::named(Segmentation::Device, agents::device(agent))
    }

    /// The browser that followed a link.
    pub fn browser(agent: &str) -> Self {
        Self::named(Segmentation::Browser, agents::browser(agent))
    }

    /// The type of a mail client; `None` where its user agent does not say it, and for the other segmentations.
    pub fn client_type(&self) -> Option<ClientType> {
        agents::type_of_client(self.code).filter(|_| self.by == Segmentation::Client)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_segment_has_a_code_and_a_name_of_its_own() {
        for by in Segmentation::ALL {
            let all = by.segments();
            let codes: BTreeSet<_> = all.iter().map(|segment| segment.code).collect();
            let names: BTreeSet<_> = all.iter().map(|segment| segment.name).collect();
            assert_eq!((codes.len(), names.len()), (all.len(), all.len()), "{by:?}");
            assert!(codes.iter().all(|code| code.len() == 2), "{by:?}");
            assert_eq!(all.last().map(|segment| segment.name), Some(OTHER));
        }
    }

    /// The codes are in rows for 400 days.
    #[test]
    fn the_codes_are_those_in_rows() {
        for (by, want) in [
            (
                Segmentation::MailboxProvider,
                "gm ms yh ap cc at pm gx wd tn or fe li mr yx qq ne nv uo fm zo bt zz",
            ),
            (
                Segmentation::Client,
                "gm yh om ou tb ai nt an at ip ia am pr wb zz",
            ),
            (Segmentation::Device, "de we ph ta zz"),
            (Segmentation::Browser, "ed op sa vi ya uc dd ff ch ie sf zz"),
        ] {
            let codes: Vec<_> = by.segments().iter().map(|segment| segment.code).collect();
            assert_eq!(codes.join(" "), want, "{by:?}");
        }
    }

    #[test]
    fn only_clients_have_a_client_type() {
        assert_eq!(
            Segment::client("YahooMailProxy").client_type(),
            Some(ClientType::Webmail)
        );
        assert_eq!(Segment::client("").client_type(), None);
        assert_eq!(Segment::provider("a@gmail.com").client_type(), None);
    }
}
