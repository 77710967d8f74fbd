//! The names of tags: categories of sends, the `X-Tags` header, and what the REST calls set.

use std::collections::HashSet;

use crate::mail::{collapse, head};

/// Letters of a name.
pub(crate) const LONGEST: usize = 100;

/// Tags of one mail.
pub(crate) const MOST: usize = 100;

/// Bytes of an `X-Tags` header that are read.
const LONGEST_HEADER: usize = 16 * 1024;

/// The tags that a header names, between commas.
pub(crate) fn of_header(value: &str) -> Vec<String> {
    let names: Vec<_> = head(value, LONGEST_HEADER).split(',').collect();
    cleaned(&names)
}

/// Names without empty ones and repetitions, at most [`MOST`].
pub(crate) fn cleaned(names: &[impl AsRef<str>]) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = names.iter().map(|name| clean(name.as_ref()));
    names
        .filter(|name| !name.is_empty() && seen.insert(name.to_ascii_lowercase()))
        .take(MOST)
        .collect()
}

/// A name of letters and digits of any alphabet and ` - _ . @`, as Mailpit has it for those of ASCII: other characters
/// become spaces, of which one is left between words.
pub(crate) fn clean(name: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
    let spaced = head(name, LONGEST_HEADER)
        .chars()
        .map(|c| if fits(c) { c } else { ' ' });
    collapse(&spaced.collect::<String>(), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_digits_and_four_marks() {
        for (name, want) in [
            ("welcome", "welcome"),
            ("  Order   #42 ", "Order 42"),
            ("a,b", "a b"),
            ("größe.neu_1-2@x", "größe.neu_1-2@x"),
            ("<script>", "script"),
            ("\u{202e}\0", ""),
        ] {
            assert_eq!(clean(name), want, "{name:?}");
        }
        assert_eq!(clean(&"ä".repeat(500)).chars().count(), LONGEST);
    }

    #[test]
    fn a_header_names_each_tag_once() {
        assert_eq!(
            of_header("One, two,, ONE ,two,three"),
            ["One", "two", "three"]
        );
        assert_eq!(of_header(""), [""; 0]);
        let many: Vec<_> = (0..500).map(|n| n.to_string()).collect();
        assert_eq!(of_header(&many.join(",")).len(), MOST);
    }
}
