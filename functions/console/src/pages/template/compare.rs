//! Two versions line by line.

use similar::{ChangeTag, TextDiff};

use super::editor::{self, VersionAnswer};
use crate::texts;
use crate::visit::PageVisit;

/// Lines of a text that is compared. The work grows with the lines times the differences.
const MOST_LINES: usize = 2_000;

/// Lines that a page shows, and characters of a line: it has 15 KB compressed.
const MOST_SHOWN: usize = 300;
const LONGEST_LINE: usize = 300;

/// Unchanged lines around a change.
const AROUND: usize = 3;

/// The differences of two versions.
pub(super) struct Comparison {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) parts: Vec<ComparedPart>,
}

/// One text of both.
pub(super) struct ComparedPart {
    pub(super) label: &'static str,
    pub(super) lines: Vec<ComparedLine>,
    /// Why not all lines are there.
    pub(super) cut: Option<&'static str>,
}

/// A line of one of them or of both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ComparedLine {
    /// The class: `added`, `removed`, `gap`, or none for a line of both.
    pub(super) class: &'static str,
    pub(super) mark: &'static str,
    /// In words, for readers who do not see the mark.
    pub(super) about: &'static str,
    pub(super) text: String,
}

/// The versions of these ids.
///
/// # Errors
/// Why one of them cannot be read, in words.
pub(super) async fn of(
    visit: &PageVisit,
    template: &str,
    (from, to): &(String, String),
) -> Result<Comparison, String> {
    let from = editor::read(visit, template, from).await?;
    let to = editor::read(visit, template, to).await?;
    let parts = [
        (texts::SUBJECT, from.subject.as_str(), to.subject.as_str()),
        (texts::HTML, &from.html_content, &to.html_content),
        (texts::PLAIN_TEXT, &from.plain_content, &to.plain_content),
        (texts::TEST_DATA, &from.test_data, &to.test_data),
    ];
    let parts = parts
        .into_iter()
        .filter(|(_, from, to)| from != to)
        .map(|(label, from, to)| compared(label, from, to))
        .collect();
    let name = |version: VersionAnswer| version.name;
    Ok(Comparison {
        parts,
        from: name(from),
        to: name(to),
    })
}

fn compared(label: &'static str, from: &str, to: &str) -> ComparedPart {
    let is_long = |text: &str| text.lines().nth(MOST_LINES).is_some();
    if is_long(from) || is_long(to) {
        return ComparedPart {
            label,
            lines: Vec::new(),
            cut: Some(texts::TOO_LONG_TO_COMPARE),
        };
    }
    let diff = TextDiff::from_lines(from, to);
    let mut lines = Vec::new();
    for (i, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if i > 0 {
            lines.push(ComparedLine {
                class: "gap",
                mark: "⋯",
                about: texts::SAME_LINES,
                text: String::new(),
            });
        }
        let changes = group.iter().flat_map(|op| diff.iter_changes(op));
        lines.extend(changes.map(|change| line(change.tag(), change.value())));
    }
    let cut = (lines.len() > MOST_SHOWN).then_some(texts::MORE_LINES);
    lines.truncate(MOST_SHOWN);
    ComparedPart { label, lines, cut }
}

fn line(tag: ChangeTag, text: &str) -> ComparedLine {
    let (class, mark, about) = match tag {
        ChangeTag::Equal => ("", " ", ""),
        ChangeTag::Delete => ("removed", "−", texts::REMOVED_LINE),
        ChangeTag::Insert => ("added", "+", texts::ADDED_LINE),
    };
    let text = text.trim_end_matches(['\r', '\n']);
    let mut text = text.to_owned();
    if let Some((end, _)) = text.char_indices().nth(LONGEST_LINE) {
        text.truncate(end);
        text.push('…');
    }
    ComparedLine {
        class,
        mark,
        about,
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_have_three_of_both_around_them() {
        let from: String = (0..20).map(|n| format!("line {n}\n")).collect();
        let to = from.replace("line 9\n", "line nine\n");
        let part = compared(texts::HTML, &from, &to);
        let lines: Vec<_> = part
            .lines
            .iter()
            .map(|line| format!("{}{}", line.mark, line.text))
            .collect();
        let want = [
            " line 6",
            " line 7",
            " line 8",
            "−line 9",
            "+line nine",
            " line 10",
            " line 11",
            " line 12",
        ];
        assert_eq!(lines, want);
        assert_eq!(part.cut, None);
    }

    #[test]
    fn a_long_text_is_not_compared_and_long_differences_are_cut() {
        let text = |lines: usize, word: &str| format!("{word}\n").repeat(lines);
        let most = compared("HTML", &text(MOST_LINES, "a"), &text(MOST_LINES, "b"));
        assert_eq!(most.lines.len(), MOST_SHOWN);
        assert_eq!(most.cut, Some(texts::MORE_LINES));
        let more = compared("HTML", "", &text(MOST_LINES + 1, "b"));
        assert_eq!(more.lines, []);
        assert_eq!(more.cut, Some(texts::TOO_LONG_TO_COMPARE));
    }
}
