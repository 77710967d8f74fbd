//! HTML as text, for mails that have no text of their own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Tags before which a line ends.
const BLOCKS: [&str; 20] = [
    "address",
    "article",
    "blockquote",
    "div",
    "dd",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "section",
    "table",
    "td",
    "th",
    "tr",
];

/// Elements whose text is not shown.
const UNSEEN: [&str; 4] = ["head", "style", "script", "template"];

/// The longest reference: `&CounterClockwiseContourIntegral;`.
const LONGEST_REFERENCE: usize = 33;

/// The words of `html`, a line for each block, no two empty lines in a row.
///
/// One pass; a tag or a comment that never ends is left out with all that follows it.
pub(crate) fn convert(html: &str) -> String {
    let mut text = Text::default();
    // Which of the elements of `UNSEEN` are open.
    let mut unseen = [false; UNSEEN.len()];
    let mut rest = html;
    while let Some((words, tail)) = rest.split_once('<') {
        if !unseen.contains(&true) {
            text.words(words);
        }
        if let Some(comment) = tail.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let (tag, after) = tail.split_once('>').unwrap_or(("", ""));
        rest = after;
        // A `<` in the text before it begins no tag.
        let tag = tag.rsplit('<').next().unwrap_or_default();
        let (closes, tag) = match tag.strip_prefix('/') {
            Some(tag) => (true, tag),
            None => (false, tag),
        };
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric());
        let name = tag.get(..end.unwrap_or(tag.len())).unwrap_or_default();
        let is = |other: &&str| other.eq_ignore_ascii_case(name);
        if let Some(at) = UNSEEN.iter().position(is) {
            if let Some(open) = unseen.get_mut(at) {
                *open = !closes;
            }
        } else if is(&"br") || is(&"p") && closes || BLOCKS.iter().any(is) {
            text.end_line();
        }
    }
    if !unseen.contains(&true) {
        text.words(rest);
    }
    tidy(&text.out)
}

fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut was_empty = true;
    for line in text.lines().map(str::trim) {
        if !(line.is_empty() && was_empty) {
            tidy.push_str(line);
            tidy.push('\n');
        }
        was_empty = line.is_empty();
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

/// Text as it grows.
#[derive(Default)]
struct Text {
    out: String,
    /// White space was read since the last word.
    space: bool,
}

impl Text {
    fn end_line(&mut self) {
        self.out.push('\n');
        self.space = false;
    }

    fn words(&mut self, words: &str) {
        let mut rest = words;
        while let Some(c) = rest.chars().next() {
            let mut length = c.len_utf8();
            if matches!(c, ' ' | '\t' | '\r' | '\n') {
                self.space = true;
            } else {
                if self.space && !self.out.is_empty() && !self.out.ends_with('\n') {
                    self.out.push(' ');
                }
                self.space = false;
                let decoded = (c == '&').then(|| reference(rest)).flatten();
                match decoded {
                    Some((characters, end)) => {
                        self.out.push_str(&characters);
                        length = end;
                    }
                    None => self.out.push(c),
                }
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

/// The text of the character reference at the start of `text`, and its length.
fn reference(text: &str) -> Option<(Cow<'static, str>, usize)> {
    static NAMED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        let entities = entities::ENTITIES.iter();
        entities.map(|e| (e.entity, e.characters)).collect()
    });
    let near = text.as_bytes().get(..LONGEST_REFERENCE);
    let near = near.unwrap_or(text.as_bytes());
    let end = near.iter().position(|b| *b == b';')? + 1;
    let name = text.get(..end)?;
    let Some(number) = name.strip_prefix("&#").and_then(|n| n.strip_suffix(';')) else {
        return NAMED.get(name).map(|found| (Cow::Borrowed(*found), end));
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    let c = char::from_u32(code.ok()?).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((Cow::Owned(c.to_string()), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_lines_and_what_is_not_shown_is_left_out() {
        for (html, want) in [
            ("", ""),
            ("a<br>b", "a\nb"),
            ("<p>a</p><p>b</p>", "a\nb"),
            ("<h1>a</h1><div>b</div>c", "a\n\nb\nc"),
            ("<tr><td>a</td><TD>b</TD></tr>", "a\n\nb"),
            ("<head><style>x{}</style></head><b>a</b>b &amp; c", "ab & c"),
            ("<script>x</script>a < b", "a"),
            ("<style type=x>y</style>a<!-- > - b --> c", "a c"),
            ("a <b>b</b> c", "a b c"),
            (
                "&#65;&#x42;&nbsp;&euro;&none;&#xd800;&",
                "AB\u{a0}€&none;\u{fffd}&",
            ),
        ] {
            assert_eq!(convert(html), want, "{html}");
        }
    }
}
