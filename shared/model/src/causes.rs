//! An error of a library with what caused it, as one sentence.

use std::error::Error;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Told(&'static str, #[source] Option<Box<Told>>);

    #[test]
    fn each_cause_is_said_once_and_on_one_line() {
        let inner = Told("no\n  route", None);
        let same = Told("no route", Some(Box::new(inner)));
        let outer = Told("dispatch failure", Some(Box::new(same)));
        assert_eq!(causes(&outer), "dispatch failure: no route");
        assert_eq!(causes(&Told("alone", None)), "alone");
    }
}
