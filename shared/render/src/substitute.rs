//! Substitutions and section tags (SPEC, "Personalization object"; API facts 2.5 and 2.6).
//!
//! Keys are plain strings without implied delimiters. The longest key that matches at the leftmost
//! place wins. A value may hold further keys, four levels deep; sections are reached only through
//! values and hold no sections.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::budget::{Budget, RenderError};
use crate::longest::{Found, LongestKeys};

/// How deep values may nest (API facts 2.6).
const DEPTH: usize = 4;

/// Bytes of all tags together that are searched for at once: the automaton takes some fifty times
/// as much memory. Substitutions are limited to 10,000 bytes anyway (SPEC, "Limits"), so this
/// concerns sections.
const MOST_TAG_BYTES: usize = 256 * 1024;

/// Bytes of a value whose search for tags costs as much as one step.
const BYTES_PER_STEP: usize = 256;

/// The values with every tag in them replaced: unique arguments of a mail submitted by SMTP (API
/// facts 2.6). The budget is one for all recipients of the mail.
///
/// # Errors
/// When the tags are too many or too long, or the values exceed the budget.
pub fn substituted(
    values: &BTreeMap<String, String>,
    substitutions: &BTreeMap<String, String>,
    sections: &BTreeMap<String, String>,
    budget: &mut Budget,
) -> Result<BTreeMap<String, String>, RenderError> {
    let tags = Substitutions::new(substitutions, sections)?;
    let one = |(key, value): (&String, &String)| {
        let value = tags.apply(value, budget)?;
        Ok((key.clone(), value.into_owned()))
    };
    values.iter().map(one).collect()
}

/// The substitutions of one envelope, ready to be applied.
pub(crate) struct Substitutions<'a> {
    substitutions: Option<Finder<'a>>,
    sections: Option<Finder<'a>>,
}

struct Finder<'a> {
    keys: LongestKeys,
    values: Vec<&'a str>,
}

impl<'a> Finder<'a> {
    /// `None` when there are no tags.
    fn new(map: &'a BTreeMap<String, String>) -> Result<Option<Self>, RenderError> {
        let pairs = map.iter().filter(|(key, _)| !key.is_empty());
        let (keys, values): (Vec<_>, Vec<_>) = pairs.map(|(k, v)| (k.as_str(), v.as_str())).unzip();
        if keys.is_empty() {
            return Ok(None);
        }
        let size: usize = keys.iter().map(|key| key.len()).sum();
        if size > MOST_TAG_BYTES {
            return Err(RenderError::TooManyTags);
        }
        let keys = LongestKeys::new(&keys);
        Ok(Some(Self { keys, values }))
    }

    fn value(&self, found: Found) -> &'a str {
        self.values.get(found.key).copied().unwrap_or_default()
    }
}

impl<'a> Substitutions<'a> {
    /// Prepares the tags of an envelope and the sections of its message.
    ///
    /// # Errors
    /// When the tags are too many or too long to be searched for at once.
    pub(crate) fn new(
        substitutions: &'a BTreeMap<String, String>,
        sections: &'a BTreeMap<String, String>,
    ) -> Result<Self, RenderError> {
        let substitutions = Finder::new(substitutions)?;
        let sections = match substitutions {
            Some(_) => Finder::new(sections)?,
            None => None,
        };
        Ok(Self {
            substitutions,
            sections,
        })
    }

    /// `text` with every tag replaced.
    pub(crate) fn apply<'t>(
        &self,
        text: &'t str,
        budget: &mut Budget,
    ) -> Result<Cow<'t, str>, RenderError> {
        match &self.substitutions {
            Some(finder) if finder.keys.find_all(text).next().is_some() => {
                let mut expansion = Expansion {
                    tags: self,
                    out: String::with_capacity(text.len()),
                    budget,
                };
                expansion.expand(text, DEPTH, true)?;
                Ok(Cow::Owned(expansion.out))
            }
            Some(_) | None => Ok(Cow::Borrowed(text)),
        }
    }
}

/// A text being written with its tags replaced.
struct Expansion<'s, 'a, 'b> {
    tags: &'s Substitutions<'a>,
    out: String,
    budget: &'b mut Budget,
}

impl Expansion<'_, '_, '_> {
    /// Writes `text`; `depth` more levels of values may nest, and `sections` says whether they may
    /// name sections.
    fn expand(&mut self, text: &str, depth: usize, sections: bool) -> Result<(), RenderError> {
        let Some(finder) = self.tags.substitutions.as_ref().filter(|_| depth > 0) else {
            return self.budget.push(&mut self.out, text);
        };
        self.budget.step(text.len() / BYTES_PER_STEP)?;
        let mut rest = 0;
        for found in finder.keys.find_all(text) {
            self.budget.step(1)?;
            let before = text.get(rest..found.start).unwrap_or_default();
            self.budget.push(&mut self.out, before)?;
            rest = found.end;
            let value = finder.value(found);
            if sections {
                self.value(value, depth - 1)?;
            } else {
                self.expand(value, depth - 1, false)?;
            }
        }
        let after = text.get(rest..).unwrap_or_default();
        self.budget.push(&mut self.out, after)
    }

    /// Writes a substitution value: section tags in it become their sections.
    fn value(&mut self, value: &str, depth: usize) -> Result<(), RenderError> {
        let Some(finder) = &self.tags.sections else {
            return self.expand(value, depth, true);
        };
        self.budget.step(value.len() / BYTES_PER_STEP)?;
        let mut rest = 0;
        for found in finder.keys.find_all(value) {
            self.budget.step(1)?;
            let before = value.get(rest..found.start).unwrap_or_default();
            self.expand(before, depth, true)?;
            rest = found.end;
            // The text of a section may hold tags however deep its own tag stood.
            self.expand(finder.value(found), depth.max(1), false)?;
        }
        self.expand(value.get(rest..).unwrap_or_default(), depth, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[track_caller]
    fn check(tags: &[(&str, &str)], sections: &[(&str, &str)], text: &str, want: &str) {
        let (tags, sections) = (map(tags), map(sections));
        let got = Substitutions::new(&tags, &sections)
            .unwrap()
            .apply(text, &mut Budget::default())
            .map(Cow::into_owned);
        assert_eq!(got.as_deref(), Ok(want), "text: {text:?}");
    }

    #[test]
    fn tags_are_plain_strings() {
        check(&[], &[], "-name-", "-name-");
        check(
            &[("-name-", "Ann")],
            &[],
            "Hi -name-, -name-!",
            "Hi Ann, Ann!",
        );
        check(
            &[("{{name}}", "Ann")],
            &[],
            "Hi {{name}} {{ name }}",
            "Hi Ann {{ name }}",
        );
        check(&[("$1", "a$1")], &[], "$1", "aaaaa$1".get(1..).unwrap());
        check(&[("%a", "1"), ("%ab", "2")], &[], "%ab %a", "2 1");
        check(&[("", "x")], &[], "abc", "abc");
        check(&[("é", "ü")], &[], "caféé", "cafüü");
        check(&[("x", "")], &[], "axb", "ab");
    }

    #[test]
    fn values_nest_four_deep() {
        let chain = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "E"), ("E", "F")];
        check(&chain, &[], "A", "E");
    }

    #[test]
    fn a_section_is_reached_only_through_a_value() {
        let tags = [("-greet-", ":male"), ("-name-", "Bob")];
        let sections = [(":male", "Mr. -name- :female"), (":female", "Ms.")];
        check(
            &tags,
            &sections,
            "Dear -greet- :male",
            "Dear Mr. Bob :female :male",
        );
    }

    #[test]
    fn growth_is_bounded() {
        let bomb = "A".repeat(5_000);
        let tags = map(&[("A", &bomb)]);
        let none = BTreeMap::new();
        let tags = Substitutions::new(&tags, &none).unwrap();
        let got = tags.apply("A", &mut Budget::default());
        assert_eq!(got, Err(RenderError::TooLarge));
    }

    #[test]
    fn tags_that_overlap_are_read_once() {
        // A search that reads forward reads on to the end of the long tag at every match of the short one.
        let long = format!("{}b", "a".repeat(9_000));
        let tags = map(&[("a", ""), (&long, "x")]);
        let none = BTreeMap::new();
        let tags = Substitutions::new(&tags, &none).unwrap();
        let text = "a".repeat(900_000);
        assert_eq!(tags.apply(&text, &mut Budget::default()).unwrap(), "");
        let text = text.repeat(2);
        let got = tags.apply(&text, &mut Budget::default());
        assert_eq!(got, Err(RenderError::TooManySteps));
    }

    #[test]
    fn values_that_vanish_cost_what_is_read_of_them() {
        let gone = "b".repeat(4_900);
        let tags = map(&[("a", gone.as_str()), (&gone, "")]);
        let none = BTreeMap::new();
        let tags = Substitutions::new(&tags, &none).unwrap();
        let apply = |count: usize| {
            tags.apply(&"a".repeat(count), &mut Budget::default())
                .map(drop)
        };
        assert_eq!(apply(10_000), Ok(()));
        assert_eq!(apply(100_000), Err(RenderError::TooManySteps));
    }

    #[test]
    fn tags_have_a_size() {
        let none = BTreeMap::new();
        for (size, fits) in [(MOST_TAG_BYTES, true), (MOST_TAG_BYTES + 1, false)] {
            let sections = map(&[(&"x".repeat(size), "")]);
            let tags = map(&[("A", "B")]);
            assert_eq!(Substitutions::new(&tags, &sections).is_ok(), fits, "{size}");
            // Without substitutions no section is reached.
            assert!(Substitutions::new(&none, &sections).is_ok());
        }
    }

    proptest! {
        #[test]
        fn text_without_a_tag_is_untouched(text in "[a-z <>&]*", value in ".*") {
            let tags = map(&[("%T%", &value)]);
            let none = BTreeMap::new();
            let tags = Substitutions::new(&tags, &none).unwrap();
            let got = tags.apply(&text, &mut Budget::default()).unwrap();
            prop_assert!(matches!(got, Cow::Borrowed(_)));
        }
    }
}
