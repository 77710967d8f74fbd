//! The codes of a mail: numbers and short words that its text calls a code, best first.

use std::collections::HashMap;

use linkify::{LinkFinder, LinkKind};
use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use super::code_words::{CODE_WORDS, NumberWord};
use super::lexicon::{self, WordHit};
use super::shape::{self, Candidate};
use crate::mail;

/// Bytes of each body that are read.
const READ: usize = 256 * 1024;
/// Lines of each body that are read.
const MOST_LINES: usize = 20_000;
/// Codes of a mail.
const MOST_CODES: usize = 20;
/// Letters of the line around a code.
const CONTEXT: usize = 200;

/// What a candidate must be worth.
const ENOUGH: i32 = 50;
/// How much less than the best a code may be worth.
const BEHIND: i32 = 30;

/// A code, with Mailpit's way of naming fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct MailCode {
    /// As it is typed in: without spaces, and without the dashes between digits.
    pub code: String,
    /// The line that it is on.
    pub context: String,
}

/// The codes of a mail, the likeliest first; none when nothing in it says that a number is one.
pub(crate) fn codes(mail: &ParsedMail<'_>) -> Vec<MailCode> {
    let subject = TextLines::read(&mail.text("Subject").unwrap_or_default());
    let about_code = subject.calls_code();
    let mut found = HashMap::new();
    subject.collect(about_code, &mut found);
    for body in mail::both_texts(mail) {
        let text = TextLines::read(&body);
        let about_code = about_code || text.calls_code();
        text.collect(about_code, &mut found);
    }
    let mut found: Vec<_> = found
        .into_values()
        .filter(|one| one.worth() >= ENOUGH)
        .collect();
    found.sort_by_key(|one| (-one.worth(), one.place));
    let best = found.first().map_or(0, FoundCode::worth);
    found.retain(|one| best - one.worth() <= BEHIND);
    found
        .into_iter()
        .take(MOST_CODES)
        .map(|one| one.code)
        .collect()
}

/// A code that one or more texts of a mail have.
struct FoundCode {
    code: MailCode,
    best: i32,
    /// In how many places of the mail it is.
    times: i32,
    /// Its rank in the order of the mail.
    place: usize,
}

impl FoundCode {
    /// A code that is repeated, as in the subject or in the other body, is rather one.
    fn worth(&self) -> i32 {
        self.best + 5 * (self.times.min(3) - 1)
    }
}

/// A text, line by line; empty lines are left out.
struct TextLines {
    lines: Vec<TextLine>,
}

struct TextLine {
    text: String,
    hits: Vec<WordHit<NumberWord>>,
    candidates: Vec<Candidate>,
    /// Where sentences end.
    stops: Vec<usize>,
}

impl TextLines {
    fn read(text: &str) -> Self {
        let plain = without_addresses(mail::head(text, READ));
        let mut lines: Vec<String> = Vec::new();
        let mut before_was_sign = false;
        for line in plain
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(MOST_LINES)
        {
            let is_sign =
                line.len() == 1 && line.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            match lines.last_mut() {
                // A code whose characters have a line each.
                Some(last) if is_sign && before_was_sign => {
                    last.push(' ');
                    last.push_str(line);
                }
                Some(_) | None => lines.push(line.to_owned()),
            }
            before_was_sign = is_sign;
        }
        let lines = lines.into_iter().map(TextLine::read).collect();
        Self { lines }
    }

    fn calls_code(&self) -> bool {
        let hits = |line: &TextLine| line.hits.iter().any(|hit| hit.means == NumberWord::Code);
        self.lines.iter().any(hits)
    }

    /// Adds the candidates of this text with what each is worth.
    fn collect(&self, about_code: bool, found: &mut HashMap<String, FoundCode>) {
        for (number, line) in self.lines.iter().enumerate() {
            for candidate in &line.candidates {
                let mut worth = candidate.worth() + line.worth(candidate);
                if line.is_alone(candidate) {
                    worth += 30 + self.around(number) + if about_code { 20 } else { 0 };
                }
                let place = found.len();
                let one = found
                    .entry(candidate.typed.clone())
                    .or_insert_with(|| FoundCode {
                        code: MailCode {
                            code: candidate.typed.clone(),
                            context: mail::collapse(&line.text, CONTEXT),
                        },
                        best: worth,
                        times: 0,
                        place,
                    });
                one.best = one.best.max(worth);
                one.times = one.times.saturating_add(1);
            }
        }
    }

    /// What the lines above and below say about a number that has a line of its own.
    fn around(&self, number: usize) -> i32 {
        let mut above = self.lines.iter().take(number).rev().take(2);
        let above = above.find_map(|line| line.hits.last());
        let below = self
            .lines
            .get(number + 1)
            .and_then(|line| line.hits.first());
        match (above.map(|hit| hit.means), below.map(|hit| hit.means)) {
            (Some(NumberWord::Code), _) => 45,
            (Some(NumberWord::Other | NumberWord::Discount), _) => -40,
            (None, Some(NumberWord::Code)) => 20,
            (None, _) => 0,
        }
    }
}

impl TextLine {
    fn read(text: String) -> Self {
        let candidates = shape::candidates(&text);
        let hits = CODE_WORDS.hits(&lexicon::lower(&text));
        let mut stops = Vec::new();
        let mut letters = text.char_indices().peekable();
        while let Some((at, c)) = letters.next() {
            let is_stop = match c {
                '.' | '!' | '?' => letters.peek().is_none_or(|(_, next)| next.is_whitespace()),
                '。' | '！' | '？' | '·' | '・' | '•' | '|' => true,
                _ => false,
            };
            if is_stop {
                stops.push(at);
            }
        }
        Self {
            text,
            hits,
            candidates,
            stops,
        }
    }

    /// What the sentence says about a candidate in it.
    fn worth(&self, candidate: &Candidate) -> i32 {
        /// Bytes between a label and its number.
        const NEAR: usize = 25;
        let sentence = |at: usize| self.stops.partition_point(|stop| *stop < at);
        let own = sentence(candidate.start);
        let first = self.hits.partition_point(|hit| sentence(hit.start) < own);
        let next = self.hits.partition_point(|hit| hit.start < candidate.start);
        let end = self.hits.partition_point(|hit| sentence(hit.start) <= own);
        let before = self.hits.get(first..next).unwrap_or_default();
        let after = self.hits.get(next..end).unwrap_or_default();
        let after = after.iter().find(|hit| hit.start >= candidate.end);
        let label = before.last();
        let gap_before = label.map_or(usize::MAX, |hit| candidate.start.saturating_sub(hit.end));
        let gap_after = after.map_or(usize::MAX, |hit| hit.start.saturating_sub(candidate.end));
        let is = |hit: Option<&WordHit<NumberWord>>, says| hit.is_some_and(|hit| hit.means == says);
        let code_before = is(label, NumberWord::Code);
        let other_before =
            label.is_some() && !code_before && (gap_before <= NEAR || !is(after, NumberWord::Code));
        if self.is_offer(first, end) || other_before {
            return -40;
        }
        let code_after = is(after, NumberWord::Code);
        let gap = match (code_before, code_after) {
            (true, true) => gap_before.min(gap_after),
            (true, false) => gap_before,
            (false, true) => gap_after,
            (false, false) => return 0,
        };
        if gap <= NEAR { 80 } else { 60 }
    }

    /// Whether one of these hits is of an offer.
    fn is_offer(&self, first: usize, end: usize) -> bool {
        // Few: a sentence that has many has one near its beginning.
        let hits = self.hits.get(first..end).unwrap_or_default();
        hits.iter()
            .take(100)
            .any(|hit| hit.means == NumberWord::Discount)
    }

    /// Whether the line has only this candidate, and what frames it.
    fn is_alone(&self, candidate: &Candidate) -> bool {
        let rest = [
            self.text.get(..candidate.start),
            self.text.get(candidate.end..),
        ];
        rest.into_iter().flatten().all(|rest| {
            let mut letters = rest.chars().take(100);
            letters.all(|c| !c.is_alphanumeric()) && rest.len() <= 100
        })
    }
}

/// The text with URLs and mail addresses blanked, digits and letters of other widths and scripts as ASCII, and one
/// kind of space and dash.
fn without_addresses(text: &str) -> String {
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    let mut plain = String::with_capacity(text.len());
    for span in finder.spans(text) {
        if span.kind().is_some() {
            plain.push('\u{2}');
            // The finder takes the letters of a sentence that goes on without a space for a part of the URL.
            let rest = span.as_str().trim_start_matches(|c: char| c.is_ascii());
            plain.extend(rest.chars().map(plain_letter));
        } else {
            plain.extend(span.as_str().chars().map(plain_letter));
        }
    }
    let is_part = |c: char| c.is_ascii() && !c.is_ascii_whitespace() && !"<>()[],;:\"".contains(c);
    let mut out = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while !rest.is_empty() {
        let word = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word);
        out.push_str(if word.contains('@') { "\u{2}" } else { word });
        let other = after.find(is_part).unwrap_or(after.len());
        let (other, after) = after.split_at(other);
        out.push_str(other);
        rest = after;
    }
    out
}

fn plain_letter(c: char) -> char {
    let shifted = |from: char, to: char| {
        let shift = u32::from(c).wrapping_sub(u32::from(from));
        char::from_u32(u32::from(to).wrapping_add(shift)).unwrap_or(c)
    };
    match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2010}' | '\u{2011}' => '-',
        // Full width, Arabic, Persian, Devanagari.
        '\u{ff01}'..='\u{ff5e}' => shifted('\u{ff01}', '!'),
        '\u{660}'..='\u{669}' => shifted('\u{660}', '0'),
        '\u{6f0}'..='\u{6f9}' => shifted('\u{6f0}', '0'),
        '\u{966}'..='\u{96f}' => shifted('\u{966}', '0'),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(subject: &str, body: &str) -> Vec<String> {
        let raw =
            format!("Subject: {subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}");
        let codes = codes(&ParsedMail::read(raw.as_bytes()));
        codes.into_iter().map(|code| code.code).collect()
    }

    #[test]
    fn a_number_is_a_code_when_the_text_says_so() {
        for (body, want) in [
            ("Your code is 482910", &["482910"][..]),
            ("Enter your code:\n\n  482 910  \n", &["482910"]),
            ("Order number: 48291012", &[]),
            ("Order 48291012\nYour PIN: 4711", &["4711"]),
            ("482910\nThis code expires.", &["482910"]),
            ("48291012\nThank you for your order.", &[]),
            ("Save 20% with code WINTER24.", &[]),
            ("Your code is ４８２９１０", &["482910"]),
            ("code: https://x.example/482910 x482910@code.example", &[]),
            ("Code\n4\n8\n2\n9\n1\n0\n", &["482910"]),
            (
                "Your code is 482910. © 2026 Shop, 10115 Berlin",
                &["482910"],
            ),
            ("", &[]),
        ] {
            assert_eq!(read("Hello", body), want, "{body:?}");
        }
        assert_eq!(read("482910 is your code", "Hi"), ["482910"]);
    }

    #[test]
    fn codes_of_a_large_text_are_few() {
        let body = "code 482910 ".repeat(100_000);
        assert_eq!(read("x", &body), ["482910"]);
        let body: String = (0..50_000).map(|n| format!("code {n:06}. ")).collect();
        assert_eq!(read("x", &body).len(), MOST_CODES);
    }
}
