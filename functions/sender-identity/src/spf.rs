//! What the operator has owners of domains publish as SPF.

use std::str::FromStr;

/// Part of a record between `v=spf1` and `~all`: one mechanism, or several with a space between.
#[derive(Debug)]
pub(crate) struct SpfMechanism(String);

/// The longest, in characters: with `v=spf1` and `~all` it fits into one string of a TXT record,
/// which has 255.
const LONGEST: usize = 243;

impl FromStr for SpfMechanism {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() <= LONGEST && text.split(' ').all(is_mechanism) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "it is an SPF mechanism such as include:spf.example.net, or several with one space \
             between, in at most {LONGEST} visible ASCII characters, without v=spf1 and all"
        ))
    }
}

/// A word of RFC 7208, section 4.6.1. `all` and the version are the frame's.
fn is_mechanism(word: &str) -> bool {
    let name = word.trim_start_matches(['+', '-', '?', '~']);
    let end = name.find([':', '/', '=']).unwrap_or(name.len());
    let (name, _) = name.split_at_checked(end).unwrap_or_default();
    word.bytes()
        .all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\' | b';'))
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["all", "v"].contains(&name.to_ascii_lowercase().as_str())
}

impl From<SpfMechanism> for String {
    fn from(mechanism: SpfMechanism) -> Self {
        mechanism.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_record_can_hold_is_refused() {
        for good in [
            "include:spf.example.net",
            "ip4:192.0.2.0/24 ip6:2001:db8::/32",
            "?a mx/24",
            "redirect=spf.example.net",
        ] {
            assert!(good.parse::<SpfMechanism>().is_ok(), "{good}");
        }
        let long = format!("include:{}.example", "a".repeat(LONGEST));
        for bad in [
            "include:spf.example.net\n",
            "include:a\nv=spf1",
            "v=spf1 include:a ~all",
            "~all",
            "include:a  include:b",
            " include:a",
            "include:\"a\"",
            "include:m\u{e4}il",
            ":a",
            &long,
        ] {
            assert!(bad.parse::<SpfMechanism>().is_err(), "{bad:?}");
        }
    }
}
