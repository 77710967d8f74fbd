//! Words that are looked for in a text: all of them in one pass.

use aho_corasick::AhoCorasick;

/// Where in a word of the text an entry has to be. A letter next to it continues the word, except in scripts that
/// are written without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordPosition {
    /// At its beginning: the entry is a stem.
    Start,
    /// At its beginning or its end: `Code` in `Bestätigungscode`.
    Edge,
    /// The entry is the whole word.
    Whole,
}

/// Entries with what each of them means.
pub(super) struct Lexicon<T> {
    /// `None` if the entries are too many, which none of the lists is.
    automaton: Option<AhoCorasick>,
    entries: Vec<(WordPosition, T)>,
}

/// An entry that a text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordHit<T> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) means: T,
}

impl<T: Copy> Lexicon<T> {
    /// Each list holds entries in lower case with `|` between them.
    pub(super) fn new(lists: &[(WordPosition, T, &str)]) -> Self {
        let all = lists.iter().flat_map(|(place, means, list)| {
            let words = list.split('|').map(str::trim);
            words
                .filter(|word| !word.is_empty())
                .map(move |word| (word, (*place, *means)))
        });
        let (words, entries): (Vec<_>, Vec<_>) = all.unzip();
        Self {
            automaton: AhoCorasick::new(words).ok(),
            entries,
        }
    }

    /// The entries in a text of lower case, in its order; of those that overlap, the first and longest.
    pub(super) fn hits(&self, lower: &str) -> Vec<WordHit<T>> {
        let found = self.automaton.iter();
        let found = found.flat_map(|automaton| automaton.find_overlapping_iter(lower));
        let mut all: Vec<_> = found
            .filter_map(|found| {
                let (place, means) = *self.entries.get(found.pattern().as_usize())?;
                let hit = WordHit {
                    start: found.start(),
                    end: found.end(),
                    means,
                };
                is_placed(lower, place, &hit).then_some(hit)
            })
            .collect();
        all.sort_by_key(|hit| (hit.start, usize::MAX - hit.end));
        let mut end = 0;
        all.retain(|hit| {
            let is_apart = hit.start >= end;
            if is_apart {
                end = hit.end;
            }
            is_apart
        });
        all
    }
}

fn is_placed<T>(text: &str, place: WordPosition, hit: &WordHit<T>) -> bool {
    let joins = |outer: Option<char>, inner: Option<char>| {
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !is_unspaced(c));
        is_letter(outer) && is_letter(inner)
    };
    let before = text
        .get(..hit.start)
        .and_then(|text| text.chars().next_back());
    let after = text.get(hit.end..).and_then(|text| text.chars().next());
    let within = text.get(hit.start..hit.end).unwrap_or_default();
    let begins = !joins(before, within.chars().next());
    let ends = !joins(after, within.chars().next_back());
    match place {
        WordPosition::Start => begins,
        WordPosition::Edge => begins || ends,
        WordPosition::Whole => begins && ends,
    }
}

/// Letters of scripts that put no spaces between words: Thai, Chinese, Japanese, Korean (whose endings follow a
/// word without one).
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// The text in lower case, each letter at the place that it had; a letter whose lower case is longer stays.
pub(super) fn lower(text: &str) -> String {
    let one = |c: char| {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(small), None) if small.len_utf8() == c.len_utf8() => small,
            _ => c,
        }
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_where_it_may_be_and_the_longest_of_several() {
        let lexicon = Lexicon::new(&[
            (WordPosition::Edge, 'c', "code|コード"),
            (WordPosition::Whole, 'p', "pin"),
            (WordPosition::Start, 'o', "order|postcode"),
        ]);
        let found = |text: &str| -> String {
            let hits = lexicon.hits(&lower(text));
            hits.into_iter().map(|hit| hit.means).collect()
        };
        for (text, want) in [
            ("Your Code: 1", "c"),
            ("Bestätigungscode codes", "cc"),
            ("decoded", ""),
            ("postcode", "o"),
            ("spinning pin PIN7", "pp"),
            ("reorder, orders", "o"),
            ("認証コードは", "c"),
        ] {
            assert_eq!(found(text), want, "{text}");
        }
    }

    #[test]
    fn lower_case_keeps_every_place() {
        for text in ["ÄÖß İstanbul ẞ K", "ΑΣ", "ﬀ"] {
            assert_eq!(lower(text).len(), text.len(), "{text}");
        }
    }
}
