//! The boundaries of a mail, and whether a text contains one of them.

use std::collections::{BTreeSet, HashSet};

/// Bytes of a boundary that are compared: RFC 2046, section 5.1.1, limits boundaries to 70. For a
/// longer one the beginning is enough, because false positives are harmless.
const COMPARED: usize = 70;

/// The boundaries of a mail's multiparts.
#[derive(Debug, Default)]
pub(super) struct Boundaries {
    /// The compared beginning of each.
    starts: HashSet<Vec<u8>>,
    /// How long those are.
    lengths: BTreeSet<usize>,
}

impl Boundaries {
    pub(super) fn add(&mut self, boundary: &[u8]) {
        let start = boundary.get(..COMPARED).unwrap_or(boundary);
        self.lengths.insert(start.len());
        self.starts.insert(start.to_vec());
    }

    /// Whether a line of the text begins with two hyphens and a boundary. Readers differ on what
    /// may follow. The text is read once, however many boundaries there are.
    pub(super) fn delimit(&self, text: &[u8]) -> bool {
        let mut rest = text;
        loop {
            if let Some(line) = rest.strip_prefix(b"--")
                && self.begin(line)
            {
                return true;
            }
            match memchr::memchr(b'\n', rest) {
                Some(end) => rest = rest.get(end + 1..).unwrap_or_default(),
                None => return false,
            }
        }
    }

    fn begin(&self, line: &[u8]) -> bool {
        let mut starts = self.lengths.iter().map_while(|length| line.get(..*length));
        starts.any(|start| self.starts.contains(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_like_a_boundary_delimits() {
        let mut boundaries = Boundaries::default();
        assert!(!boundaries.delimit(b"--"));
        boundaries.add(b"ab");
        boundaries.add(&[b'x'; 100]);
        for (text, want) in [
            ("", false),
            ("--a", false),
            ("--ab", true),
            ("one\r\n--abc", true),
            ("one --ab", false),
            ("--\nab", false),
            (&format!("--{}", "x".repeat(69)), false),
            (&format!("--{}", "x".repeat(70)), true),
        ] {
            assert_eq!(boundaries.delimit(text.as_bytes()), want, "{text:?}");
        }
    }
}
