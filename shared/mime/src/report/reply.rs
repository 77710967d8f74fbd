//! Finds a server's reply in a line: its code (RFC 5321, section 4.2) and its enhanced status (RFC
//! 3463). Reports quote replies in many ways, so both are distinguished from other numbers by what is
//! beside them.

/// A quoted reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotedReply<'a> {
    /// From the code on; all of the text without a code.
    pub words: &'a str,
    pub code: Option<u16>,
    /// `5.1.1`, as the server itself states it.
    pub status: Option<&'a str>,
}

/// The first reply in a text. What follows it is its own: `421 try again later [505]`.
pub fn reply(text: &str) -> QuotedReply<'_> {
    let found = codes(text).next();
    let words = found.and_then(|(at, _)| text.get(at..)).unwrap_or(text);
    QuotedReply {
        words,
        code: found.map(|(_, code)| code),
        status: statuses(words).next(),
    }
}

/// The class of refusal that a line quotes: 4 or 5.
pub(super) fn class(line: &str) -> Option<u8> {
    let reply = reply(line);
    let of_code = reply.code.map(|code| if code < 500 { 4 } else { 5 });
    let of_status = reply.status.map(|s| if s.starts_with('4') { 4 } else { 5 });
    of_code.max(of_status)
}

/// Words after which a number is no reply code, and those that make it an amount.
const BEFORE: [&str; 18] = [
    "port", "line", "size", "of", "for", "than", "after", "over", "room", "box", "suite", "id",
    "day", "past", "tel", "phone", "fax", "last",
];
const AFTER: [&str; 15] = [
    "bytes",
    "byte",
    "octets",
    "kb",
    "mb",
    "k",
    "lines",
    "seconds",
    "hours",
    "days",
    "minutes",
    "recipients",
    "messages",
    "emails",
    "%",
];

/// Reply codes of refusals: three digits, neither part of a word, an address or a number, nor an
/// amount.
fn codes(text: &str) -> impl Iterator<Item = (usize, u16)> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'4', b'5', bytes).filter_map(move |at| {
        let digits = bytes.get(at..at + 3)?;
        let [_, b'0'..=b'7', b'0'..=b'9'] = digits else {
            return None;
        };
        let is_edge = |byte: u8| !byte.is_ascii_alphanumeric() && !b"_.-/+@$".contains(&byte);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let after = bytes.get(at + 3).copied();
        let ends = after.is_none_or(|byte| b" \t-:.,;<])'\"".contains(&byte));
        let decimal = after == Some(b'.') && bytes.get(at + 4).is_some_and(u8::is_ascii_digit);
        if !before.is_none_or(is_edge) || !ends || decimal {
            return None;
        }
        let head = text.get(..at)?;
        let tail = text.get(at + 3..)?;
        let is_one =
            |words: &[&str], word: &str| words.iter().any(|w| word.eq_ignore_ascii_case(w));
        if is_one(&BEFORE, last_word(head)) || is_one(&AFTER, first_word(tail)) {
            return None;
        }
        let code = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some((at, code))
    })
}

/// The longest word that is looked at, in bytes, so that each number costs the same.
const WORD: usize = 16;

fn first_word(text: &str) -> &str {
    let text = text.as_bytes();
    let head = text.get(..WORD * 2).unwrap_or(text);
    let head = head.trim_ascii_start();
    let end = head
        .iter()
        .position(|b| b" \t,.;)]".contains(b))
        .unwrap_or(head.len());
    let word = head.get(..end).unwrap_or_default();
    std::str::from_utf8(word).unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    let text = text.as_bytes();
    let from = text.len().saturating_sub(WORD * 2);
    let tail = text.get(from..).unwrap_or_default().trim_ascii_end();
    let from = tail
        .iter()
        .rposition(|b| b" \t(".contains(b))
        .map_or(0, |at| at + 1);
    let word = tail.get(from..).unwrap_or_default();
    std::str::from_utf8(word)
        .unwrap_or_default()
        .trim_end_matches(['.', ':'])
}

/// Enhanced status codes of refusals that a server states: at the start, after a reply code, or
/// marked (`#5.1.1`, `[5.7.1]`, `said: 5.1.1`). Others are versions or addresses.
fn statuses(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'4', b'5', bytes).filter_map(move |at| {
        let tail = bytes.get(at..)?;
        let digit = |b: &u8| b.is_ascii_digit();
        let end = tail
            .iter()
            .take(10)
            .position(|b| !digit(b) && *b != b'.')
            .unwrap_or(tail.len().min(10));
        let word = text.get(at..at + end)?.trim_end_matches('.');
        let mut numbers = word.split('.');
        let class = numbers.next()?;
        let mut rest = 0;
        for number in numbers {
            if !(1..=3).contains(&number.len()) {
                return None;
            }
            rest += 1;
        }
        let next = tail.get(word.len()).copied();
        if class.len() != 1 || rest != 2 || next.is_some_and(|b| b.is_ascii_alphanumeric()) {
            return None;
        }
        is_stated(bytes.get(..at)?).then_some(word)
    })
}

/// Whether what precedes a status marks it as one.
fn is_stated(head: &[u8]) -> bool {
    let near = head.get(head.len().saturating_sub(WORD)..).unwrap_or(head);
    let bare = near.trim_ascii_end();
    match bare.last() {
        None => head.trim_ascii().is_empty(),
        Some(b'#' | b'(' | b'[' | b':' | b'<' | b'>' | b'-' | b'"' | b'\'') => true,
        // After a code, which may be followed by a hyphen.
        Some(b'0'..=b'9') => {
            let run = bare.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let first = bare.len().checked_sub(3).and_then(|at| bare.get(at));
            run == 3 && bare.len() < near.len() && first.is_some_and(|b| b"45".contains(b))
        }
        Some(_) => false,
    }
}
