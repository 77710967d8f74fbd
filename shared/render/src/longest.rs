//! Finds the longest of many keys at the leftmost place, again and again, in time that grows with the text alone.
//!
//! A search that reads forward has to read on for the longest key and, when that fails, reads the same bytes again:
//! with the keys `a` and `aaa…b` the time grows with the square of their lengths. Read backwards, an automaton knows at
//! every byte the longest key that begins there.

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

/// Bytes of a text whose matches are known at a time, unless a key is longer.
const BLOCK: usize = 64 * 1024;

/// Keys, none of them empty.
#[derive(Debug)]
pub(crate) struct LongestKeys {
    /// Of the keys, each read backwards.
    backwards: NFA,
    start: StateID,
    lengths: Vec<usize>,
    longest: usize,
}

/// A key in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its position among the keys.
    pub(crate) key: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl LongestKeys {
    /// `None` when the automaton would be too large.
    pub(crate) fn new(keys: &[&str]) -> Option<Self> {
        let reversed = |key: &&str| key.bytes().rev().collect::<Vec<u8>>();
        let reversed: Vec<Vec<u8>> = keys.iter().map(reversed).collect();
        let mut builder = NFA::builder();
        let backwards = builder
            .match_kind(MatchKind::Standard)
            .build(reversed)
            .ok()?;
        Some(Self {
            start: backwards.start_state(Anchored::No).ok()?,
            backwards,
            lengths: keys.iter().map(|key| key.len()).collect(),
            longest: keys.iter().map(|key| key.len()).max().unwrap_or_default(),
        })
    }

    /// The keys in a text that do not overlap, from its start.
    pub(crate) fn find_all<'k, 't>(&'k self, text: &'t str) -> FindAll<'k, 't> {
        FindAll {
            keys: self,
            text: text.as_bytes(),
            at: 0,
            known: 0,
            begins: Vec::new(),
        }
    }

    /// The longest key that begins at each byte from `from` to `to`, the first of them last.
    fn begins(&self, text: &[u8], from: usize, to: usize, begins: &mut Vec<(usize, usize)>) {
        // What begins before `to` ends before this.
        let end = text.len().min(to.saturating_add(self.longest));
        let mut state = self.start;
        for (at, byte) in (from..end)
            .zip(text.get(from..end).unwrap_or_default())
            .rev()
        {
            state = self.backwards.next_state(Anchored::No, state, *byte);
            if at < to && self.backwards.is_match(state) {
                // The keys of a state are in the order of their lengths, the longest first.
                let key = self.backwards.match_pattern(state, 0);
                begins.push((at, key.as_usize()));
            }
        }
    }
}

/// The iterator of [`LongestKeys::find_all`].
pub(crate) struct FindAll<'k, 't> {
    keys: &'k LongestKeys,
    text: &'t [u8],
    /// The end of the last key that was found.
    at: usize,
    /// Up to here `begins` knows every key.
    known: usize,
    begins: Vec<(usize, usize)>,
}

impl Iterator for FindAll<'_, '_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            while let Some((start, key)) = self.begins.pop() {
                if start >= self.at {
                    let end = start + self.keys.lengths.get(key)?;
                    self.at = end;
                    return Some(Found { key, start, end });
                }
            }
            let from = self.known.max(self.at);
            if from >= self.text.len() {
                return None;
            }
            let to = from.saturating_add(BLOCK.max(self.keys.longest));
            self.known = to.min(self.text.len());
            let (keys, text) = (self.keys, self.text);
            keys.begins(text, from, self.known, &mut self.begins);
        }
    }
}

#[cfg(test)]
mod tests {
    use aho_corasick::AhoCorasick;
    use proptest::prelude::*;

    use super::*;

    fn found(keys: &[&str], text: &str) -> Vec<(usize, usize)> {
        let keys = LongestKeys::new(keys).unwrap();
        keys.find_all(text)
            .map(|one| (one.key, one.start))
            .collect()
    }

    #[test]
    fn the_longest_key_at_the_leftmost_place_is_found() {
        assert_eq!(found(&["a", "ab", "abc"], "abxabc"), [(1, 0), (2, 3)]);
        assert_eq!(found(&["abcd", "bc"], "abcx"), [(1, 1)]);
        assert_eq!(found(&["ab", "b"], "aab"), [(0, 1)]);
        assert_eq!(found(&["x"], ""), []);
        assert_eq!(found(&["é", "éé"], "éééa"), [(1, 0), (0, 4)]);
    }

    #[test]
    fn keys_are_found_across_blocks() {
        let long = "k".repeat(BLOCK + 1);
        let text = format!("{}{long}{}ab", "x".repeat(BLOCK - 3), "x".repeat(BLOCK));
        let at = BLOCK - 3;
        let ab = text.len() - 2;
        assert_eq!(found(&["ab", &long], &text), [(1, at), (0, ab)]);
    }

    proptest! {
        #[test]
        fn any_keys_are_found_as_a_search_that_reads_forward_finds_them(
            keys in prop::collection::btree_set("[ab]{1,6}", 1..8),
            text in "[abc]{0,200}",
        ) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let forward = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&keys)
                .unwrap();
            let want: Vec<_> = forward
                .find_iter(&text)
                .map(|one| (one.pattern().as_usize(), one.start()))
                .collect();
            prop_assert_eq!(found(&keys, &text), want);
        }
    }
}
