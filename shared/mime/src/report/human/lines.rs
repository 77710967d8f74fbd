//! The lines of a bounce: which begin with an address, and which go on with what a server said; and
//! the text of a bounce in HTML.

use crate::report::reply;

/// Longest diagnostic that is put together, in bytes.
const LONGEST_REASON: usize = 1_000;

/// Punctuation of East Asian scripts, which is beside an address without a space.
pub(super) const WIDE: [char; 4] = ['：', '，', '、', '。'];

/// The first of these lines and those that continue it, on one line.
pub(super) fn joined(lines: &[&str]) -> String {
    let mut text = String::new();
    let Some((first, rest)) = lines.split_first() else {
        return text;
    };
    push(&mut text, first);
    // `550-` announces more lines with a code of their own (RFC 5321, section 4.2.1).
    let several = reply(first).words.get(3..4) == Some("-");
    for line in rest {
        let bare = line.trim_start();
        let is_deeper = indent(line) > indent(first);
        let is_reply = reply(bare).words.len() == bare.len() && reply::class(bare).is_some();
        let is_next = bare.is_empty()
            || is_mark(bare)
            || (is_about_another(line) && !is_deeper)
            || (is_reply && !several)
            || (is_label(bare) && !is_deeper && !text.ends_with(':'));
        if is_next || text.len() >= LONGEST_REASON {
            break;
        }
        push(&mut text, line);
    }
    text
}

/// Adds the words of a line, as far as they have room.
fn push(text: &mut String, line: &str) {
    for word in line.split_whitespace() {
        if text.len() >= LONGEST_REASON {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        let end = word.floor_char_boundary(LONGEST_REASON);
        let visible = |c: &char| !c.is_control();
        text.extend(word.get(..end).unwrap_or_default().chars().filter(visible));
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// `Remote system: dns; …`: a line about something else.
fn is_label(line: &str) -> bool {
    let name = line.split_once(':').map_or("", |(name, _)| name);
    line.starts_with(|c: char| c.is_ascii_uppercase())
        && (3..=30).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || b == b'-' || b == b' ')
}

/// Whether a line is a rule, or a line of a transcript.
pub(super) fn is_mark(line: &str) -> bool {
    let line = line.trim_start();
    let marks = ["<<<", ">>>", "--", "==", "**", "Out:", "In:", "..."];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// A field of a report that says what the report makes of it, not what a server said.
pub(super) fn is_result(line: &str) -> bool {
    let name = line.split_once(':').map_or("", |(name, _)| name);
    let result = ["Action", "Status", "Final-Recipient", "Original-Recipient"];
    result.iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// The words without a bracket or quote that closes what was cut off before them.
pub(super) fn closed<'a>(text: &str, words: &'a str) -> &'a str {
    let count = |c| words.matches(c).count();
    let cut = words.len() < text.len();
    match words.chars().next_back() {
        Some(')') if cut && count(')') > count('(') => words.trim_end_matches(')'),
        Some(']') if cut && count(']') > count('[') => words.trim_end_matches(']'),
        Some('\'') if cut && count('\'') == 1 => words.trim_end_matches('\''),
        _ => words,
    }
}

/// The address that begins a line, as qmail and Exim write one before its reason, and the rest of
/// the line.
pub(super) fn recipient(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['*', '-', ' ', '"']);
    let (who, rest) = match line.strip_prefix('<') {
        Some(tail) => tail.split_once('>')?,
        None => line.split_at_checked(line.find(char::is_whitespace).unwrap_or(line.len()))?,
    };
    let bare = who.trim_end_matches([':', ',', '.', ';', '"']);
    let rest = rest.trim_start_matches([':', '"', ' ']).trim();
    is_recipient(bare).then_some((bare, rest))
}

/// Whether a line begins the text about another recipient: an address alone, or before a colon.
fn is_about_another(line: &str) -> bool {
    recipient(line).is_some_and(|(who, rest)| {
        let mut tail = line.split(who).nth(1).unwrap_or_default().chars();
        rest.is_empty() || tail.by_ref().find(|c| !">\"".contains(*c)) == Some(':')
    })
}

/// Whether a word is an address, and not one that every bounce names.
pub(super) fn is_recipient(word: &str) -> bool {
    let Some((local, domain)) = word.rsplit_once('@') else {
        return false;
    };
    let fits = |b: u8| b >= 0x80 || (b.is_ascii_graphic() && !b"<>()[],;:\"@".contains(&b));
    let legal = |part: &str, most| (1..=most).contains(&part.len()) && part.bytes().all(fits);
    let role = ["mailer-daemon", "postmaster", "abuse", "support"];
    legal(local, 64)
        && legal(domain, 255)
        && !word.contains(|c: char| c.is_control() || WIDE.contains(&c))
        && domain.contains('.')
        && !role.iter().any(|role| local.eq_ignore_ascii_case(role))
}

/// The text of an HTML part: each tag is a space or a line end, styles and scripts are left out.
///
/// A bounce is read line by line for what servers said, so every tag that is not inline ends a line,
/// also a cell of a table; `posthaste-render` converts HTML for people, with the targets of links
/// among the words.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (shown, tag) = rest.split_at(at);
        text.push_str(shown);
        let name = tag.trim_start_matches(['<', '/']);
        let is = |names: &[&str]| {
            let same = |n: &&str| {
                name.get(..n.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(n))
            };
            names.iter().any(same)
        };
        let hidden = if is(&["style"]) {
            "</style"
        } else {
            "</script"
        };
        let from = if is(&["style", "script"]) && !tag.starts_with("</") {
            tag.find(hidden)
                .or_else(|| tag.find(&hidden.to_uppercase()))
        } else {
            Some(0)
        };
        let inline = is(&[
            "a ", "a>", "b>", "i>", "u>", "span", "font", "strong", "em>",
        ]);
        text.push(if inline { ' ' } else { '\n' });
        let Some(close) = from
            .and_then(|from| tag.get(from..))
            .and_then(|tag| tag.split_once('>'))
        else {
            return text;
        };
        rest = close.1;
    }
    text.push_str(rest);
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
    ];
    let text = named
        .iter()
        .fold(text, |text, (name, c)| text.replace(name, c));
    text.replace("&amp;", "&")
}
