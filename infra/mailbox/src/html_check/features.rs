//! The table of what mail clients support.

use std::sync::LazyLock;

/// The mail clients, in the order of the columns of the table: family, its name, platform, its name.
pub(super) const CLIENTS: [[&str; 4]; 14] = [
    ["apple-mail", "Apple Mail", "macos", "macOS"],
    ["apple-mail", "Apple Mail", "ios", "iOS"],
    ["gmail", "Gmail", "desktop-webmail", "Desktop Webmail"],
    ["gmail", "Gmail", "ios", "iOS"],
    ["gmail", "Gmail", "android", "Android"],
    ["outlook", "Outlook", "windows", "Windows"],
    ["outlook", "Outlook", "outlook-com", "Outlook.com"],
    ["outlook", "Outlook", "macos", "macOS"],
    ["outlook", "Outlook", "ios", "iOS"],
    ["outlook", "Outlook", "android", "Android"],
    ["yahoo", "Yahoo! Mail", "desktop-webmail", "Desktop Webmail"],
    ["samsung-email", "Samsung Email", "android", "Android"],
    ["thunderbird", "Mozilla Thunderbird", "macos", "macOS"],
    [
        "protonmail",
        "ProtonMail",
        "desktop-webmail",
        "Desktop Webmail",
    ],
];

/// A line of the table.
pub(super) struct Feature {
    /// Its name at caniemail.com.
    pub(super) slug: &'static str,
    /// A letter for each client.
    pub(super) support: &'static str,
    pub(super) kind: &'static str,
    /// What of this kind counts.
    pub(super) names: Vec<&'static str>,
}

pub(super) static FEATURES: LazyLock<Vec<Feature>> = LazyLock::new(|| {
    let lines = include_str!("support.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let features = lines.filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        Some(Feature {
            slug: words.next()?,
            support: words.next()?,
            kind: words.next()?,
            names: words.collect(),
        })
    });
    features.collect()
});

impl Feature {
    /// `display: flex`, `<video>`, `@media (hover)`.
    pub(super) fn title(&self) -> String {
        let all = self.names.join(", ");
        match (self.kind, self.names.split_first()) {
            ("value", Some((property, values))) => format!("{property}: {}", values.join(", ")),
            ("at", _) => format!("@{all}"),
            ("media", _) => format!("@media ({all})"),
            ("pseudo", _) => format!(":{all}"),
            ("function", _) => format!("{}()", self.names.join("(), ")),
            ("unit", _) => format!("{all} unit"),
            ("important", _) => "!important".to_owned(),
            ("element", _) => format!("<{}>", self.names.join(">, <")),
            ("attribute", _) => format!("{all} attribute"),
            ("image", _) => format!("{all} pictures"),
            _ => all,
        }
    }

    /// What counts as its use.
    pub(super) fn keys(&self) -> Vec<String> {
        match (self.kind, self.names.split_first()) {
            ("value", Some((property, values))) => values
                .iter()
                .map(|value| format!("value {property} {value}"))
                .collect(),
            ("important", _) => vec!["important".to_owned()],
            _ => {
                let names = self.names.iter();
                names.map(|name| format!("{} {name}", self.kind)).collect()
            }
        }
    }

    /// How many clients support it, in part, and not.
    pub(super) fn counts(&self) -> [usize; 3] {
        ['y', 'p', 'n'].map(|letter| self.support.matches(letter).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_has_a_letter_for_each_client_and_a_title() {
        assert!(FEATURES.len() > 150, "{}", FEATURES.len());
        for feature in FEATURES.iter() {
            let slug = feature.slug;
            assert_eq!(feature.support.len(), CLIENTS.len(), "{slug}");
            assert!(
                feature.support.chars().all(|c| "ypn-".contains(c)),
                "{slug}"
            );
            assert!(feature.support.contains(['p', 'n']), "{slug}");
            assert!(
                !feature.title().is_empty() && !feature.keys().is_empty(),
                "{slug}"
            );
        }
    }
}
