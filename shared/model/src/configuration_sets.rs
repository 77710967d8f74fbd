//! Which of the operator's SES configuration sets a mail leaves by.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Configuration sets by the `ip_pool_name` of a mail, or by the id of an account.
///
/// SES ties a set to a dedicated pool of its own, and measures the reputation of each set; a name that is not listed
/// uses the default set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationSets(BTreeMap<String, String>);

/// The text is not a list of names with sets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form name=configuration-set,…")]
pub struct InvalidConfigurationSets(String);

impl ConfigurationSets {
    /// The configuration set of a pool, or of an account.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// `news=set-of-news,bulk=set-of-bulk`. A name has 2 to 64 characters (SPEC, "Limits") and no
/// comma; a set has the letters that SES allows.
impl FromStr for ConfigurationSets {
    type Err = InvalidConfigurationSets;

    fn from_str(text: &str) -> Result<Self, InvalidConfigurationSets> {
        let pair = |pair: &str| {
            let (name, set) = pair.rsplit_once('=')?;
            let (name, set) = (name.trim(), set.trim());
            let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
            let fits = (2..=64).contains(&name.chars().count())
                && (1..=64).contains(&set.len())
                && set.bytes().all(allowed);
            fits.then(|| (name.to_owned(), set.to_owned()))
        };
        let pairs = text.split(',').map(str::trim);
        let pairs: Option<Vec<_>> = pairs.filter(|text| !text.is_empty()).map(pair).collect();
        let pairs = pairs.ok_or_else(|| InvalidConfigurationSets(text.to_owned()))?;
        let (count, sets) = (pairs.len(), BTreeMap::from_iter(pairs));
        if sets.len() == count {
            Ok(Self(sets))
        } else {
            // A duplicate name is ambiguous.
            Err(InvalidConfigurationSets(text.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_by_name() {
        let sets: ConfigurationSets = "news=set-1, Big = Pool=set_2 ,".parse().unwrap();
        assert_eq!(sets.get("news"), Some("set-1"));
        assert_eq!(sets.get("Big = Pool"), Some("set_2"));
        assert_eq!(sets.get("set-1"), None);
        assert_eq!("".parse(), Ok(ConfigurationSets::default()));
    }

    #[test]
    fn what_is_no_list_of_sets_is_refused() {
        for text in [
            "news",
            "news=",
            "=set",
            "n=set",
            "news=a b",
            "news=a,news=b",
        ] {
            let refused = text.parse::<ConfigurationSets>();
            assert_eq!(refused, Err(InvalidConfigurationSets(text.to_owned())));
        }
        let long = format!("{}=set", "x".repeat(65));
        assert!(long.parse::<ConfigurationSets>().is_err());
    }
}
