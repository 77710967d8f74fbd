//! Lists of addresses as headers write them (RFC 5322, section 3.4), leniently and in one pass.

use crate::parse::{WordContext, text};

/// Most addresses of one list.
const MOST: usize = 1_000;

/// Longest encoded word that stays in one piece, in bytes; RFC 2047 limits them to 75.
const LONGEST_WORD: usize = 512;

/// A name and an address, either of which may be empty in a bad list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailAddress {
    /// The display name, or else the comment; decoded, on one line.
    pub name: String,
    /// The address itself, unchecked.
    pub address: String,
}

/// The state of one address.
#[derive(Default)]
struct AddressEntry {
    /// Words outside the angle brackets, without their quotes; the second identifies an address.
    words: Vec<(Vec<u8>, bool)>,
    angle: Option<Vec<u8>>,
    comment: Vec<u8>,
}

/// The current word.
#[derive(Default)]
struct AddressWord {
    bytes: Vec<u8>,
    begun: bool,
    has_at: bool,
}

/// Adds the addresses of an unfolded list to `found`.
pub(super) fn read(list: &[u8], found: &mut Vec<MailAddress>) {
    let (mut entry, mut word) = (AddressEntry::default(), AddressWord::default());
    let mut at = 0;
    while let Some(&byte) = list.get(at) {
        if found.len() >= MOST {
            return;
        }
        at += 1;
        let rest = list.get(at..).unwrap_or_default();
        match byte {
            b'"' => at += quoted(rest, &mut word),
            b'(' => {
                entry.push(&mut word);
                at += comment(rest, &mut entry.comment);
            }
            b'<' => {
                entry.push(&mut word);
                let end = memchr::memchr(b'>', rest).unwrap_or(rest.len());
                entry.angle = rest.get(..end).map(<[u8]>::to_vec);
                at += end + 1;
            }
            b',' | b';' => {
                entry.push(&mut word);
                found.extend(std::mem::take(&mut entry).finish());
            }
            // The text before it is the name of a group.
            b':' if entry.angle.is_none() && !word.has_at => {
                (entry, word) = (AddressEntry::default(), AddressWord::default());
            }
            b' ' | b'\t' | b'\r' | b'\n' => entry.push(&mut word),
            b'=' if !word.begun && rest.starts_with(b"?") => {
                let end = encoded(rest);
                word.add(byte);
                word.bytes.extend(rest.get(..end).unwrap_or_default());
                at += end;
                // The next word needs no space, and must not be joined to its neighbour.
                if end > 0 {
                    entry.push(&mut word);
                }
            }
            b'@' => {
                word.has_at = true;
                word.add(byte);
            }
            byte => word.add(byte),
        }
    }
    entry.push(&mut word);
    found.extend(entry.finish());
}

impl AddressWord {
    fn add(&mut self, byte: u8) {
        self.begun = true;
        self.bytes.push(byte);
    }
}

impl AddressEntry {
    fn push(&mut self, word: &mut AddressWord) {
        let word = std::mem::take(word);
        if word.begun {
            self.words.push((word.bytes, word.has_at));
        }
    }

    fn finish(mut self) -> Option<MailAddress> {
        let lossy = |bytes: &[u8]| text(bytes, WordContext::Text, "");
        let mut address = self.angle.take();
        if address.is_none() {
            let at = self.words.iter().position(|(_, has_at)| *has_at);
            address = at.map(|at| self.words.remove(at).0);
        }
        let words: Vec<_> = self.words.iter().map(|(word, _)| word.as_slice()).collect();
        let is_one_word = words.len() == 1;
        let name = lossy(&words.join(&b' '));
        let comment = lossy(&self.comment);
        let address = address.as_deref().map(lossy);
        let (name, address) = match address {
            // `root (Cron Daemon)`.
            None if is_one_word && !comment.is_empty() => (comment, name),
            address => {
                let name = match (name.as_str(), comment.as_str()) {
                    ("", _) => comment,
                    (_, "") => name,
                    (name, comment) => format!("{name} ({comment})"),
                };
                (name, address.unwrap_or_default())
            }
        };
        let some = !(name.is_empty() && address.is_empty());
        some.then_some(MailAddress { name, address })
    }
}

/// Reads a quoted string after its first quote; returns its length with the last quote.
fn quoted(rest: &[u8], word: &mut AddressWord) -> usize {
    word.begun = true;
    let mut bytes = rest.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'"' => return at + 1,
            b'\\' => word.bytes.extend(bytes.next().map(|(_, byte)| *byte)),
            byte => word.bytes.push(byte),
        }
    }
    rest.len()
}

/// Reads a comment after its first parenthesis, with nested ones; returns its length.
fn comment(rest: &[u8], into: &mut Vec<u8>) -> usize {
    let mut depth = 1_usize;
    let mut bytes = rest.iter().enumerate();
    if !into.is_empty() {
        into.push(b' ');
    }
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'\\' => {
                into.extend(bytes.next().map(|(_, byte)| *byte));
                continue;
            }
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
        into.push(byte);
    }
    rest.len()
}

/// How much of `rest`, which begins with the question mark of `=?`, belongs to an encoded word,
/// whose text may contain characters that would otherwise end the name. 0 when it is not one.
fn encoded(rest: &[u8]) -> usize {
    let text = rest.get(..LONGEST_WORD).unwrap_or(rest);
    let mut marks = memchr::memchr_iter(b'?', text).skip(1);
    let (Some(charset), Some(encoding)) = (marks.next(), marks.next()) else {
        return 0;
    };
    if encoding != charset + 2 {
        return 0;
    }
    let data = text.get(encoding + 1..).unwrap_or_default();
    memchr::memmem::find(data, b"?=").map_or(0, |end| encoding + 1 + end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(list: &str, want: &[(&str, &str)]) {
        let mut found = Vec::new();
        read(list.as_bytes(), &mut found);
        let got: Vec<_> = found
            .iter()
            .map(|a| (a.name.as_str(), a.address.as_str()))
            .collect();
        assert_eq!(got, want, "{list}");
    }

    #[test]
    fn names_and_addresses_are_told_apart() {
        check("", &[]);
        check("a@b", &[("", "a@b")]);
        check("<a@b>", &[("", "a@b")]);
        check("Ann Lee <a@b>, c@d,,", &[("Ann Lee", "a@b"), ("", "c@d")]);
        check("\"Lee, \\\"A\\\"\" <a@b>", &[("Lee, \"A\"", "a@b")]);
        check("x@y <a@b>", &[("x@y", "a@b")]);
        check("a@b (Ann (the 1st))", &[("Ann (the 1st)", "a@b")]);
        check("Ann (x) <a@b>", &[("Ann (x)", "a@b")]);
        check("root (Cron)", &[("Cron", "root")]);
        check("just words", &[("just words", "")]);
        check("Ann <a@b", &[("Ann", "a@b")]);
        check("\"open", &[("open", "")]);
    }

    #[test]
    fn groups_are_their_members() {
        check(
            "All: a@b, C <c@d>; e@f",
            &[("", "a@b"), ("C", "c@d"), ("", "e@f")],
        );
        check("undisclosed-recipients:;", &[]);
    }

    #[test]
    fn encoded_words_are_decoded_whatever_they_hold() {
        check("=?utf-8?q?Zo=C3=AB?= <z@y>", &[("Zoë", "z@y")]);
        check(
            "=?utf-8?q?a,_(b)?= <z@y>, c@d",
            &[("a, (b)", "z@y"), ("", "c@d")],
        );
        check("=?utf-8?q?a?= =?utf-8?q?b?= <z@y>", &[("ab", "z@y")]);
        check("\"=?utf-8?q?a?=\" <z@y>", &[("a", "z@y")]);
        check("=?utf-8?x <z@y>", &[("=?utf-8?x", "z@y")]);
    }

    #[test]
    fn a_list_ends_at_a_thousand() {
        let mut found = Vec::new();
        read("a@b,".repeat(5_000).as_bytes(), &mut found);
        assert_eq!(found.len(), MOST);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_list_of_lines(list: Vec<u8>, like in "(\"|<|>|\\(|\\)|,|:|;|@|=\\?|\\?q\\?|\\?=|\\\\| |[a-z]){0,40}") {
            for list in [list.as_slice(), like.as_bytes()] {
                let mut found = Vec::new();
                read(list, &mut found);
                for one in found {
                    prop_assert!(!one.name.contains(char::is_control));
                    prop_assert!(!one.address.contains(char::is_control));
                }
            }
        }
    }
}
