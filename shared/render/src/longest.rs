//! Finds the longest of many keys at the leftmost place, repeatedly, in time that grows with the text alone.
//!
//! A search that reads forward has to read on for the longest key and, when that fails, reads the same bytes again:
//! with the keys `a` and `aaa…b` the time grows with the square of their lengths. Read backwards, an automaton (Aho and
//! Corasick, 1975) knows at every byte the longest key that begins there. It is written here because `aho-corasick` 1
//! takes the square of a key's length to build it where one key is found inside of another.

use std::collections::HashMap;

/// Bytes of a text whose matches are known at a time, unless a key is longer.
const BLOCK: usize = 64 * 1024;

/// The state before any byte of a key.
const START: usize = 0;

/// Keys, none of them empty.
#[derive(Debug)]
pub(crate) struct LongestKeys {
    backwards: Automaton,
    lengths: Vec<usize>,
    longest: usize,
}

/// Of the keys, each read backwards. A state is what has been read of keys, as far as one could go on.
#[derive(Debug, Default)]
struct Automaton {
    states: Vec<KeyState>,
    /// Where the first byte of a key leads.
    first: Vec<usize>,
    /// Further bytes that lead on from a state, beside the one that it has itself.
    more: HashMap<(usize, u8), usize>,
}

#[derive(Clone, Debug, Default)]
struct KeyState {
    /// The byte that leads on, and where to.
    next: Option<(u8, usize)>,
    /// The longest end of this state that is a state too.
    fallback: usize,
    /// The longest key that ends here, which begins here in the text.
    key: Option<usize>,
    depth: usize,
}

impl Automaton {
    fn new(keys: &[&str]) -> Self {
        let mut automaton = Self {
            states: vec![KeyState::default()],
            first: vec![START; 256],
            more: HashMap::new(),
        };
        let mut edges = Vec::new();
        for (number, key) in keys.iter().enumerate() {
            let mut state = START;
            for byte in key.bytes().rev() {
                state = match automaton.follow(state, byte) {
                    Some(next) => next,
                    None => automaton.add(state, byte, &mut edges),
                };
            }
            if let Some(last) = automaton.states.get_mut(state) {
                last.key = Some(number);
            }
        }
        // A state falls back to a shorter one, which must know where it falls back to itself.
        edges.sort_by_key(|(parent, _, _)| automaton.depth(*parent));
        for (parent, byte, child) in edges {
            let fallback = match parent {
                START => START,
                _ => automaton.step(automaton.fallback(parent), byte),
            };
            let inherited = automaton.key(fallback);
            if let Some(state) = automaton.states.get_mut(child) {
                state.fallback = fallback;
                state.key = state.key.or(inherited);
            }
        }
        automaton
    }

    fn add(&mut self, from: usize, byte: u8, edges: &mut Vec<(usize, u8, usize)>) -> usize {
        let child = self.states.len();
        let depth = self.depth(from) + 1;
        self.states.push(KeyState {
            depth,
            ..KeyState::default()
        });
        edges.push((from, byte, child));
        if from == START {
            if let Some(first) = self.first.get_mut(usize::from(byte)) {
                *first = child;
            }
        } else if let Some(state) = self.states.get_mut(from).filter(|one| one.next.is_none()) {
            state.next = Some((byte, child));
        } else {
            self.more.insert((from, byte), child);
        }
        child
    }

    fn depth(&self, state: usize) -> usize {
        self.states.get(state).map_or(0, |state| state.depth)
    }

    fn fallback(&self, state: usize) -> usize {
        self.states.get(state).map_or(START, |state| state.fallback)
    }

    fn key(&self, state: usize) -> Option<usize> {
        self.states.get(state)?.key
    }

    /// Where a byte leads on to from a state.
    fn follow(&self, state: usize, byte: u8) -> Option<usize> {
        if state == START {
            let first = self.first.get(usize::from(byte)).copied();
            return first.filter(|next| *next != START);
        }
        match self.states.get(state)?.next {
            Some((own, next)) if own == byte => Some(next),
            Some(_) if !self.more.is_empty() => self.more.get(&(state, byte)).copied(),
            Some(_) | None => None,
        }
    }

    /// The state after one more byte. What it falls back it has read before: over a text, that is once for a byte.
    fn step(&self, mut state: usize, byte: u8) -> usize {
        loop {
            match self.follow(state, byte) {
                Some(next) => return next,
                None if state == START => return START,
                None => state = self.fallback(state),
            }
        }
    }
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
    pub(crate) fn new(keys: &[&str]) -> Self {
        Self {
            backwards: Automaton::new(keys),
            lengths: keys.iter().map(|key| key.len()).collect(),
            longest: keys.iter().map(|key| key.len()).max().unwrap_or_default(),
        }
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
        let mut state = START;
        let bytes = text.get(from..end).unwrap_or_default();
        for (at, byte) in (from..end).zip(bytes).rev() {
            state = self.backwards.step(state, *byte);
            if at < to
                && let Some(key) = self.backwards.key(state)
            {
                begins.push((at, key));
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
    use aho_corasick::{AhoCorasick, MatchKind};
    use proptest::prelude::*;

    use super::*;

    fn found(keys: &[&str], text: &str) -> Vec<(usize, usize)> {
        let keys = LongestKeys::new(keys);
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
            keys in prop::collection::btree_set("[ab]{1,6}|[a-dé]{1,4}", 1..12),
            text in "[abc]{0,200}|[a-dé ]{0,200}",
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
