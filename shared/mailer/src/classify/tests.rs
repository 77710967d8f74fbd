mod table;

use super::*;

#[test]
fn the_words_are_those_of_the_events() {
    let words: Vec<_> = Classification::ALL.iter().map(|c| c.as_str()).collect();
    assert_eq!(
        words,
        [
            "Invalid Address",
            "Technical",
            "Content",
            "Reputation",
            "Frequency or Volume Too High",
            "Mailbox Unavailable",
            "Unclassified"
        ]
    );
}

#[test]
fn rows_and_phrases_are_named_once_and_written_as_they_are_matched() {
    let mut names = std::collections::BTreeSet::new();
    let mut phrases = std::collections::BTreeSet::new();
    for row in rows::all() {
        assert!(names.insert(row.name), "{} is named twice", row.name);
        for phrase in row.says {
            assert!(phrases.insert(*phrase), "{phrase} is there twice");
            for part in phrase.split(" * ") {
                let part = part.strip_suffix('~').unwrap_or(part);
                assert_eq!(text::words(part), format!(" {part} "), "{phrase}");
            }
        }
    }
}

#[test]
fn the_row_that_decides_is_named() {
    let of = |line: &str| {
        let (code, text) = line.split_once(' ').unwrap();
        let code = code.parse().unwrap();
        let status = EnhancedStatus::of_reply(code, text);
        let meaning = meaning(code, status, text, RefusalStage::Rcpt);
        (meaning.row, meaning.phrase)
    };
    for (line, row, phrase) in [
        (
            "550 5.1.1 User Unknown",
            "recipient-unknown",
            Some("user unknown"),
        ),
        ("550 5.1.1 sorry", "status-bad-mailbox", None),
        ("550 sorry (#5.1.1)", "status-bad-mailbox", None),
        ("552 sorry", "code-storage", None),
        ("550 sorry", "unknown", None),
    ] {
        assert_eq!(of(line), (row, phrase), "{line}");
    }
}

#[test]
fn a_refusal_of_any_length_and_form_is_read() {
    for part in ["a", "@", "<", "\u{fffd}", "user ", "://", "5.1.1 "] {
        meaning(550, None, &part.repeat(200_000), RefusalStage::Rcpt);
    }
}
