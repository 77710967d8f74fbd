//! The part of a bounce that is written for people: the text before the returned mail, the lines of
//! it that quote the refusing server, and the fields of a report that stand in it.

mod lines;

use super::fields::{self, Delivery};
use super::{is_original, phrases, reply};
use crate::parse::charset;
use crate::read::{Disposition, MailPart, ParsedMail};

use lines::{WIDE, closed, is_mark, is_recipient, is_result, joined, recipient, without_tags};

/// How much of the text is read, in bytes. The reason comes before the returned mail.
const LONGEST: usize = 1 << 16;

/// Longest line that may end the text, in bytes: a separator is short.
const LONGEST_SEPARATOR: usize = 120;

/// The text for people, up to the returned mail.
pub(super) struct Human {
    text: String,
    /// Of the first text.
    charset: Option<String>,
}

impl Human {
    /// Reads the texts before the first returned mail; the HTML ones when there is no other.
    pub(super) fn read(mail: &ParsedMail<'_>) -> Self {
        let (mut plain, mut html, mut charset) = (String::new(), String::new(), None);
        for part in mail.parts() {
            if plain.len() >= LONGEST {
                break;
            }
            match part.media_type.as_str() {
                kind if is_original(kind) && !(plain.is_empty() && html.is_empty()) => break,
                _ if part.disposition == Disposition::Attachment => continue,
                "text/plain" => add(&mut plain, part),
                "text/html" if html.len() < LONGEST => add(&mut html, part),
                _ => continue,
            }
            charset = charset.or_else(|| part.charset.clone());
        }
        if plain.trim().is_empty() {
            plain = without_tags(&html);
        }
        plain.truncate(end(&plain));
        Self {
            text: plain,
            charset,
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// The text on one line, in lower case, for a search of phrases.
    pub(super) fn folded(&self) -> String {
        let words: Vec<_> = self.text.split_whitespace().collect();
        words.join(" ").to_lowercase().replace('\u{2019}', "'")
    }

    /// A machine-readable part as text. Its fields are ASCII by RFC 3464 and its charset undeclared;
    /// what is in another is in that of the text (bytes above 127, or the escapes of ISO 2022).
    pub(super) fn decoded(&self, part: &MailPart<'_>) -> String {
        let bytes = part.bytes();
        let foreign =
            memchr::memchr(0x1b, &bytes).is_some() || std::str::from_utf8(&bytes).is_err();
        let declared = part.charset.as_deref();
        let label = match (foreign, self.charset.as_deref()) {
            (true, Some(text)) => Some(text),
            _ => declared,
        };
        let name = charset::name(label, &bytes);
        charset::decode(&name, &bytes).into_owned()
    }

    /// The report whose fields stand in the text (RFC 3464, section 2.3): some gateways turn every
    /// part into text.
    pub(super) fn fields(&self) -> Option<Delivery> {
        let is_field = |line: &str| {
            let name = line.split_once(':').map_or("", |(name, _)| name);
            let first = [
                "Reporting-MTA",
                "Original-Recipient",
                "Final-Recipient",
                "Action",
            ];
            first.iter().any(|field| name.eq_ignore_ascii_case(field))
        };
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            if is_field(line) {
                let delivery = fields::delivery(self.text.get(at..)?.as_bytes());
                return (!delivery.recipients.is_empty()).then_some(delivery);
            }
            at += line.len();
        }
        None
    }

    /// What the refusing server said: the first line with the code of a refusal for good, or else
    /// with any code, or else the first that gives a known reason, or else what follows the address.
    pub(super) fn diagnostic(&self) -> Option<String> {
        let lines: Vec<&str> = self.lines().collect();
        let class = |line: &&str| reply::class(line).filter(|_| !is_result(line));
        let classes: Vec<Option<u8>> = lines.iter().map(class).collect();
        let of = |class| classes.iter().position(|found| *found == Some(class));
        if let Some(at) = of(5).or_else(|| of(4)) {
            let text = joined(lines.get(at..)?);
            return Some(closed(&text, reply(&text).words).to_owned());
        }
        let gives_reason = |line: &&str| phrases::any(&line.to_lowercase(), phrases::REASONS);
        let follows = || {
            let named = lines.iter().position(|line| recipient(line).is_some())?;
            let more = recipient(lines.get(named)?).is_some_and(|(_, rest)| !rest.is_empty());
            if more {
                return Some(named);
            }
            let says_more =
                |line: &&str| !line.trim().is_empty() && !is_mark(line) && !is_result(line);
            let next = lines.iter().skip(named + 1).position(says_more)?;
            Some(named + 1 + next)
        };
        let at = lines.iter().position(gives_reason).or_else(follows)?;
        let text = joined(lines.get(at..)?);
        let said = recipient(&text).map_or(text.as_str(), |(_, rest)| rest);
        let said = if said.is_empty() { &text } else { said };
        Some(said.trim().to_owned()).filter(|said| !said.is_empty())
    }

    /// The address that the text is about: one that begins a line, or else the first.
    pub(super) fn recipient(&self) -> Option<String> {
        let begins = self
            .lines()
            .find_map(|line| recipient(line).map(|(who, _)| who));
        let first = || {
            let apart =
                |c: char| c.is_whitespace() || WIDE.contains(&c) || "<>()[]\"',;:".contains(c);
            let mut words = self
                .text
                .split(apart)
                .map(|word| word.trim_end_matches('.'));
            words.find(|word| is_recipient(word))
        };
        begins.or_else(first).map(str::to_owned)
    }
}

fn add(text: &mut String, part: &MailPart<'_>) {
    let more = part.text();
    let room = LONGEST.saturating_sub(text.len());
    text.push_str(
        more.get(..more.floor_char_boundary(room))
            .unwrap_or_default(),
    );
    text.push('\n');
}

/// Where the returned mail begins: at a line that says so, or at its header.
fn end(text: &str) -> usize {
    let (mut at, mut begun) = (0, false);
    for line in text.split_inclusive('\n') {
        if begun && (is_separator(line.trim()) || is_trace(line)) {
            return at;
        }
        begun |= !line.trim().is_empty();
        at += line.len();
    }
    text.len()
}

/// Whether a line announces the returned mail. Marks or its end distinguish it from a sentence that speaks
/// of the mail, and Sendmail's `The original message was received at` is none.
fn is_separator(line: &str) -> bool {
    let marked =
        line.starts_with(['-', '=', '*', '_', '|', '#']) || line.ends_with([':', '.', '-']);
    if !marked || line.len() > LONGEST_SEPARATOR || reply::class(line).is_some() {
        return false;
    }
    let line = line.to_lowercase();
    !line.contains("received at") && phrases::any(&line, phrases::SEPARATORS)
}

/// The header fields that a mail in transit begins with.
fn is_trace(line: &str) -> bool {
    let name = line.split_once(':').map_or("", |(name, _)| name);
    let trace = ["Received", "Return-Path", "DKIM-Signature", "X-Received"];
    trace.iter().any(|field| name.eq_ignore_ascii_case(field))
}
