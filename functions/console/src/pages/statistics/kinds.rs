//! What statistics are by, and the calls of the API that count it.

use crate::api::encoded;
use crate::texts::statistics::{self as texts, KindText};

/// What is counted apart.
pub(crate) struct StatsKind {
    /// In the address; empty for the account as a whole.
    pub(crate) name: &'static str,
    /// In the choice and as the heading of its column; and what is counted.
    pub(crate) text: KindText,
    /// The scope of its call.
    pub(super) scope: &'static str,
    /// The path of the call for all names, with a query that begins.
    sums: &'static str,
    /// The path of the call by day, and the parameter that names one; none where it answers all.
    days: &'static str,
    parameter: Option<&'static str>,
    /// The counter that comes first.
    pub(super) main: &'static str,
}

/// In the order of the choice.
pub(crate) static KINDS: [StatsKind; 7] = [
    StatsKind {
        name: "",
        text: texts::DAYS,
        scope: "stats.read",
        sums: "",
        days: "/v3/stats",
        parameter: None,
        main: "delivered",
    },
    StatsKind {
        name: "categories",
        text: texts::CATEGORIES,
        scope: "categories.stats.sums.read",
        sums: "/v3/categories/stats/sums?limit=500&",
        days: "/v3/categories/stats",
        parameter: Some("categories"),
        main: "delivered",
    },
    StatsKind {
        name: "providers",
        text: texts::PROVIDERS,
        scope: "mailbox_providers.stats.read",
        sums: "/v3/mailbox_providers/stats?aggregated_by=month&",
        days: "/v3/mailbox_providers/stats",
        parameter: Some("mailbox_providers"),
        main: "delivered",
    },
    StatsKind {
        name: "clients",
        text: texts::CLIENTS,
        scope: "clients.stats.read",
        sums: "/v3/clients/stats?aggregated_by=month&",
        days: "/v3/clients/stats",
        parameter: None,
        main: "opens",
    },
    StatsKind {
        name: "devices",
        text: texts::DEVICES,
        scope: "devices.stats.read",
        sums: "/v3/devices/stats?aggregated_by=month&",
        days: "/v3/devices/stats",
        parameter: None,
        main: "opens",
    },
    StatsKind {
        name: "browsers",
        text: texts::BROWSERS,
        scope: "browsers.stats.read",
        sums: "/v3/browsers/stats?aggregated_by=month&",
        days: "/v3/browsers/stats",
        parameter: Some("browsers"),
        main: "clicks",
    },
    StatsKind {
        name: "subusers",
        text: texts::SUBUSERS,
        scope: "subusers.stats.sums.read",
        sums: "/v3/subusers/stats/sums?limit=500&",
        days: "/v3/subusers/stats",
        parameter: Some("subusers"),
        main: "delivered",
    },
];

impl StatsKind {
    /// By its name in the address; the account as a whole for another.
    pub(super) fn named(name: &str) -> &'static Self {
        let [whole, ..] = &KINDS;
        KINDS.iter().find(|kind| kind.name == name).unwrap_or(whole)
    }

    /// Whether mails are counted, and not opens or clicks.
    pub(crate) fn is_of_mails(&self) -> bool {
        self.main == "delivered"
    }

    /// The call for all names in this span.
    pub(super) fn sums_path(&self, span: &str) -> String {
        format!("{}{span}", self.sums)
    }

    /// The call for each day of this span, of this name.
    pub(super) fn days_path(&self, span: &str, name: &str) -> String {
        let days = format!("{}?aggregated_by=day&{span}", self.days);
        match self.parameter {
            Some(parameter) => format!("{days}&{parameter}={}", encoded(name)),
            None => days,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_asked_for_by_name_where_the_api_takes_one() {
        for (by, want) in [
            ("", "/v3/stats?aggregated_by=day&s"),
            ("clients", "/v3/clients/stats?aggregated_by=day&s"),
            (
                "categories",
                "/v3/categories/stats?aggregated_by=day&s&categories=a%20%26%20b",
            ),
        ] {
            assert_eq!(StatsKind::named(by).days_path("s", "a & b"), want);
        }
        assert_eq!(StatsKind::named("nothing").text.label, "Day");
    }
}
