//! Text for logs and rows: errors with their causes, masked addresses, shortened text.

use std::error::Error;
use std::fmt;

/// The messages of an error and of its sources, joined by colons: what a person reads. Libraries
/// that print an error as a whole print the bytes of its answer too.
pub fn causes(error: &dyn Error) -> String {
    let mut text = one_line(error);
    let mut next = error.source();
    while let Some(source) = next {
        let more = one_line(source);
        // Some errors repeat the message of their source.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = source.source();
    }
    text
}

fn one_line(error: &dyn Error) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `ann@mail.example.com` prints as `a***@***.com`.
pub struct Masked<'a>(pub &'a str);

impl fmt::Display for Masked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((self.0, ""));
        let first = local.chars().next().unwrap_or('*');
        let tld = domain.rsplit('.').next().unwrap_or_default();
        write!(f, "{first}***@***.{tld}")
    }
}

/// The beginning of a text: at most `most` bytes, ending between characters.
pub fn cut(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Failure(&'static str, #[source] Option<Box<Failure>>);

    #[test]
    fn each_cause_is_said_once_and_on_one_line() {
        let inner = Failure("no\n  route", None);
        let same = Failure("no route", Some(Box::new(inner)));
        let outer = Failure("dispatch failure", Some(Box::new(same)));
        assert_eq!(causes(&outer), "dispatch failure: no route");
        assert_eq!(causes(&Failure("alone", None)), "alone");
    }

    #[test]
    fn a_masked_address_keeps_one_letter_and_the_last_label() {
        assert_eq!(Masked("ann@mail.example.com").to_string(), "a***@***.com");
        assert_eq!(Masked("nobody").to_string(), "n***@***.");
        assert_eq!(Masked("").to_string(), "****@***.");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        for (text, most, want) in [
            ("abc", 5, "abc"),
            ("abc", 2, "ab"),
            ("äöü", 3, "ä"),
            ("😀", 3, ""),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, most), want, "{text} {most}");
        }
    }
}
