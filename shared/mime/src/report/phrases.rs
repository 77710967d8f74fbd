//! The fixed words of mail servers and mail programs, in lower case with straight apostrophes: what
//! a bounce calls itself, why a mail did not arrive, and what an automatic reply calls itself.
//!
//! From the sources and the message catalogues of the servers, and from public collections of
//! bounces. None of them decides alone: see the module `plain`.

mod subjects;
mod texts;

pub(super) use subjects::{AWAY, DELAYED_SUBJECTS, NOTICES, SUBJECTS, SUCCESSES};
pub(super) use texts::{BODIES, DAEMONS, DELAYED, FINAL, REASONS, SEPARATORS};

/// Whether the text, in lower case, contains one of the phrases.
pub(super) fn any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// The first place of one of the phrases.
pub(super) fn first(text: &str, phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| text.find(phrase)).min()
}
