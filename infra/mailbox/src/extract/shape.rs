//! The forms that a code may have, as groups of letters and digits on one line.

use super::lexicon::is_unspaced;

/// Findings on one line.
const MOST: usize = 1_000;

/// Letters and digits of a code that is spelled.
const MOST_SIGNS: usize = 12;

/// Letters and digits that may be a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Where on the line it is.
    pub(super) start: usize,
    pub(super) end: usize,
    /// As it is typed in: without the spaces, and without the dashes between digits.
    pub(super) typed: String,
}

impl Candidate {
    /// What the form alone is worth: the more of an everyday number it has, the less.
    pub(super) fn worth(&self) -> i32 {
        let is_number = self.typed.bytes().all(|b| b.is_ascii_digit());
        match self.typed.len() {
            4 if is_number && is_year(&self.typed) => -15,
            6 if is_number => 10,
            9.. if is_number => -20,
            _ => 0,
        }
    }
}

/// A group: a run of letters and digits.
#[derive(Clone, Copy, Debug)]
struct AlnumGroup<'a> {
    start: usize,
    text: &'a str,
}

impl AlnumGroup<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is_number(&self) -> bool {
        self.text.bytes().all(|b| b.is_ascii_digit())
    }
}

/// The candidates of a line.
pub(super) fn candidates(line: &str) -> Vec<Candidate> {
    let groups = groups(line);
    let mut found = Vec::new();
    let mut rest = groups.as_slice();
    let mut before: &[AlnumGroup<'_>] = &[];
    while !rest.is_empty() && found.len() < MOST {
        let single = spelled(line, rest);
        let spelled = single.typed();
        let taken = match &spelled {
            Some(_) => single.groups,
            None => chain(line, rest),
        };
        let (taken, next) = rest.split_at(taken.min(rest.len()));
        let typed = spelled.or_else(|| typed(line, taken));
        if let (Some(typed), Some(first), Some(last)) = (typed, taken.first(), taken.last())
            && is_free(line, first.start, last.end())
            && !(is_year(&typed) && follows_a_day(before))
        {
            found.push(Candidate {
                start: first.start,
                end: last.end(),
                typed,
            });
        }
        before = groups.get(..groups.len() - next.len()).unwrap_or_default();
        rest = next;
    }
    found
}

fn is_year(typed: &str) -> bool {
    typed.len() == 4 && (typed.starts_with("19") || typed.starts_with("20"))
}

/// Whether a number after these groups is the year of a date: `29 de noviembre de`, `November 29,`.
fn follows_a_day(before: &[AlnumGroup<'_>]) -> bool {
    let mut last = before.iter().rev().take(4);
    last.any(|group| group.is_number() && group.text.len() <= 2)
}

fn groups(line: &str) -> Vec<AlnumGroup<'_>> {
    let is_inner = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let mut all = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, is_inner(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let text = line.get(from..at).unwrap_or_default();
                all.push(AlnumGroup { start: from, text });
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    all
}

/// What is between two groups.
fn between<'a>(line: &'a str, left: &AlnumGroup<'_>, right: &AlnumGroup<'_>) -> &'a str {
    line.get(left.end()..right.start).unwrap_or_default()
}

/// The texts of the leading groups that spell a code letter by letter (`4 8 2 9`, `A B - 1 2`), with the dashes of
/// those that hold letters.
fn spelled<'a>(line: &'a str, groups: &[AlnumGroup<'a>]) -> Spelled<'a> {
    let mut spelled = Spelled::default();
    let mut before: Option<&AlnumGroup<'_>> = None;
    for group in groups {
        let is_sign =
            group.text.len() == 1 && group.text.bytes().all(|b| b.is_ascii_alphanumeric());
        // One more than a code has: what is longer is none, and is not read to its end at each of its letters.
        if !is_sign || spelled.groups > MOST_SIGNS {
            break;
        }
        match before.map(|before| between(line, before, group)) {
            None | Some(" " | "  ") => {}
            Some(" - " | "-") => spelled.texts.push("-"),
            Some(_) => break,
        }
        spelled.texts.push(group.text);
        spelled.groups += 1;
        before = Some(group);
    }
    spelled
}

#[derive(Default)]
struct Spelled<'a> {
    texts: Vec<&'a str>,
    /// How many groups the code takes.
    groups: usize,
}

impl Spelled<'_> {
    /// The code, unless it is too short, or letters of a sentence.
    fn typed(&self) -> Option<String> {
        let signs = || self.texts.iter().filter(|text| **text != "-");
        let is = |test: fn(&u8) -> bool| signs().all(|text| text.as_bytes().iter().all(test));
        let has_digit = signs().any(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let has_form =
            is(|b| !b.is_ascii_lowercase()) || has_digit && is(|b| !b.is_ascii_uppercase());
        if !(4..=MOST_SIGNS).contains(&self.groups) || !has_form {
            return None;
        }
        if is(u8::is_ascii_digit) {
            return Some(signs().copied().collect());
        }
        Some(self.texts.concat())
    }
}

/// How many of the leading groups belong together as parts of one number, date or name.
fn chain(line: &str, groups: &[AlnumGroup<'_>]) -> usize {
    let pairs = groups.iter().zip(groups.iter().skip(1));
    let joined = pairs.take_while(|(left, right)| {
        let numbers = left.is_number() && right.is_number();
        match between(line, left, right) {
            "-" => true,
            // A code, and the minutes for which it is valid.
            " " => numbers && !(left.text.len() >= 6 && right.text.len() <= 2),
            "." | "," | ":" | "/" | "'" | "’" => numbers,
            _ => false,
        }
    });
    joined.count() + 1
}

/// The code that the groups of a chain form, if that is one of the forms of codes.
fn typed(line: &str, chain: &[AlnumGroup<'_>]) -> Option<String> {
    let texts: Vec<&str> = chain.iter().map(|group| group.text).collect();
    let bytes = || texts.iter().flat_map(|text| text.bytes());
    let has_digit = bytes().any(|b| b.is_ascii_digit());
    let is_number = bytes().all(|b| b.is_ascii_digit());
    let has_one_case =
        !bytes().any(|b| b.is_ascii_lowercase()) || !bytes().any(|b| b.is_ascii_uppercase());
    let pairs = chain.iter().zip(chain.iter().skip(1));
    let gaps: Vec<_> = pairs
        .map(|(left, right)| between(line, left, right))
        .collect();
    if !bytes().all(|b| b.is_ascii_alphanumeric()) || !has_one_case {
        return None;
    }
    let dashed = gaps.iter().all(|gap| *gap == "-");
    let first = texts.first()?.len();
    let is_even = texts.iter().all(|text| text.len() == first);
    match texts.as_slice() {
        [one] => {
            let lengths = if is_number { 4..=10 } else { 5..=10 };
            (has_digit && lengths.contains(&one.len())).then(|| (*one).to_owned())
        }
        // Google's `G-482910`, of which the field shows the first part.
        [letter, digits] if dashed && letter.len() == 1 && (5..=8).contains(&digits.len()) => {
            let is_whole = digits.bytes().all(|b| b.is_ascii_digit());
            is_whole.then(|| (*digits).to_owned())
        }
        _ if is_number => {
            let spaced = gaps.iter().all(|gap| *gap == " ");
            let is_form =
                is_even && matches!((first, texts.len()), (3, 2 | 3) | (4, 2) | (2, 3 | 4));
            (is_form && (dashed || spaced)).then(|| texts.concat())
        }
        _ => {
            let least = if has_digit { 3 } else { 4 };
            let is_form = dashed && is_even && (least..=6).contains(&first) && texts.len() <= 4;
            is_form.then(|| texts.join("-"))
        }
    }
}

/// Whether no sign before or after makes it a price, a share, a telephone number or a date.
fn is_free(line: &str, start: usize, end: usize) -> bool {
    let before = line.get(..start).unwrap_or_default().trim_end();
    let after = line.get(end..).unwrap_or_default().trim_start();
    let taken_before = before.ends_with([
        '#', '№', '+', '$', '€', '£', '¥', '￥', '₽', '°', 'º', '•', '…', '©', '〒',
    ]);
    let taken_after = after.starts_with([
        '%', '€', '$', '£', '¥', '₽', '円', '元', '年', '月', '日', '号', '號', '°',
    ]);
    !taken_before && !taken_after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_one_of_many_forms_and_everyday_numbers_have_others() {
        for (line, want) in [
            ("Your code is 482910.", &["482910"][..]),
            ("Code:0042", &["0042"]),
            ("482 910", &["482910"]),
            ("482-910 is it", &["482910"]),
            ("1234 5678", &["12345678"]),
            ("4 8 2 9 1 0", &["482910"]),
            ("W D J B - M J H T", &["WDJB-MJHT"]),
            ("6 5 0 - 7 6 1", &["650761"]),
            ("p 0 e h 8 1", &["p0eh81"]),
            ("a b c d", &[]),
            ("1 2 3 4 5 6 7 8 9 0 1 2 3", &[]),
            ("A7K9QX or x7k2m9", &["A7K9QX", "x7k2m9"]),
            ("WDJB-MJHT", &["WDJB-MJHT"]),
            ("K4H-T2B", &["K4H-T2B"]),
            ("G-482910 is", &["482910"]),
            ("コードは482910です", &["482910"]),
            ("482910 10分", &["482910"]),
            ("29.11.2026 14:05", &[]),
            ("29 de noviembre de 2026, Nov 29, 2026", &[]),
            ("2026-11-29, 2026/11/29", &[]),
            ("1.234,56 or 1 234,56", &[]),
            ("€ 1234, 1234 €, 1234%, #1234, © 2026", &[]),
            ("+49 30 901820", &[]),
            ("030 9018-20 and 01 45 22 33 44", &[]),
            ("SW-2026-12345", &[]),
            ("203.0.113.9", &[]),
            ("sign-up opt-out e-mail check-in", &[]),
            ("iOS18 Win11 v2 MP3", &[]),
            ("2026年11月", &[]),
            ("gültig1234ä", &[]),
        ] {
            let found: Vec<_> = candidates(line).into_iter().map(|one| one.typed).collect();
            assert_eq!(found, want, "{line}");
        }
    }
}
