//! The form of user names.

/// The longest user name, in bytes. A longer name matches no account and is never used as a key.
pub const LONGEST_USERNAME: usize = 64;

/// Reserved: in a path these appear where a user name could.
const RESERVED: [&str; 4] = [".", "..", "reputations", "stats"];

/// Whether a user name is valid.
///
/// It appears in the on-behalf-of header and in paths, where clients
/// resolve dots, and AWS's gateway ends at a decoded `?` and decodes `%25` twice: the path of
/// another account.
pub fn is_username(name: &str) -> bool {
    let visible = |b: u8| b.is_ascii_graphic() && !matches!(b, b'/' | b'?' | b'%');
    (1..=LONGEST_USERNAME).contains(&name.len())
        && name.bytes().all(visible)
        && !RESERVED.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_valid_in_a_header_and_in_a_path() {
        for good in ["a", "ann@example.com", "A.b-c_1", "...", &"x".repeat(64)] {
            assert!(is_username(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "",
            "a b",
            " a",
            "ä",
            "a/b",
            "a?b",
            "a%41",
            "a\n",
            ".",
            "..",
            "Stats",
            "REPUTATIONS",
            &long,
        ] {
            assert!(!is_username(bad), "{bad:?}");
        }
    }
}
