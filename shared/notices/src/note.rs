//! A caller's note inside a mail of the service: quoted, short, and without anything that a mail
//! program turns into a link.
//!
//! The text goes through NFKC first, so that a full-width or small form of a dot, colon, slash or
//! at sign becomes the plain one. Links are then broken up rather than detected: a dot or a colon
//! is kept only before a space, an at sign and a double slash never are, and digits that could be a
//! telephone number are hidden.

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

/// The most characters of a note.
pub const LONGEST_NOTE: usize = 300;

/// Characters of a quoted line.
const LINE: usize = 70;

/// The shortest run of digits that a phone turns into a number to call.
const TELEPHONE: usize = 7;

/// Marks above or below one letter; more of them spill over other lines.
const MARKS: usize = 2;

/// The note as lines that begin with `> `; `None` when no text is left.
pub fn quoted(note: &str) -> Option<String> {
    let short: String = note.chars().take(LONGEST_NOTE).collect();
    let plain = ComposingNormalizerBorrowed::new_nfkc().normalize(&short);
    // Compatibility forms expand: one letter may become eighteen.
    let plain: String = plain.chars().take(LONGEST_NOTE).collect();
    let words = broken_up(&visible(&plain));
    let text = without_numbers(words.trim());
    (!text.is_empty()).then(|| lines(&text))
}

/// Letters, digits and punctuation on one line; any other character becomes a space or is removed.
fn visible(text: &str) -> String {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        use GeneralCategory as G;
        let category = categories.get(c);
        marks = match category {
            G::NonspacingMark | G::EnclosingMark => marks + 1,
            _ => 0,
        };
        match (c, category) {
            // Directions, joiners, tags: they only change how other characters look.
            (_, G::Format) => {}
            (_, G::NonspacingMark | G::EnclosingMark) if marks > MARKS => {}
            // The full stops that a host name may be written with (UTS 46), and one more.
            ('\u{3002}' | '\u{6d4}', _) => out.push('.'),
            // Markup, paths, and the brackets that the service itself adds.
            ('<' | '>' | '[' | ']' | '{' | '}' | '\\' | '`', _) => space(&mut out),
            (
                _,
                G::Control
                | G::Surrogate
                | G::PrivateUse
                | G::Unassigned
                | G::LineSeparator
                | G::ParagraphSeparator
                | G::SpaceSeparator,
            ) => space(&mut out),
            _ => out.push(c),
        }
    }
    out
}

fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

/// Breaks up everything that makes a link.
fn broken_up(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends = rest.peek().is_none_or(|next| *next == ' ');
        match c {
            '.' | ':' if !ends => out.extend(['[', c, ']']),
            '@' => out.push_str("[at]"),
            '/' if rest.peek() == Some(&'/') => out.push_str("/ "),
            c => out.push(c),
        }
    }
    out
}

/// Hides the digits of everything that could be a telephone number: digits without a letter between
/// them.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run: Vec<char> = Vec::new();
    let flush = |run: &mut Vec<char>, out: &mut String| {
        let digits = run.iter().filter(|c| c.is_numeric()).count();
        let hide = |c: char| {
            if c.is_numeric() && digits >= TELEPHONE {
                '#'
            } else {
                c
            }
        };
        out.extend(run.drain(..).map(hide));
    };
    for c in text.chars() {
        if c.is_alphabetic() && !c.is_numeric() {
            flush(&mut run, &mut out);
            out.push(c);
        } else {
            run.push(c);
        }
    }
    flush(&mut run, &mut out);
    out
}

fn lines(text: &str) -> String {
    let mut out = String::from(">");
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut letters = word.chars().peekable();
        if used > 0 && used + 1 + word.chars().count() > LINE {
            out.push_str("\n>");
            used = 0;
        }
        out.push(' ');
        used += 1;
        while let Some(letter) = letters.next() {
            out.push(letter);
            used += 1;
            if used > LINE && letters.peek().is_some() {
                out.push_str("\n> ");
                used = 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{LINE, LONGEST_NOTE, quoted};

    #[track_caller]
    fn check(note: &str, want: &str) {
        assert_eq!(quoted(note).as_deref(), Some(want), "{note:?}");
    }

    #[test]
    fn plain_words_stay_as_they_are() {
        check("Please add these, thanks!", "> Please add these, thanks!");
        check(
            "Bitte bis Freitag. Grüße, Ünal",
            "> Bitte bis Freitag. Grüße, Ünal",
        );
        check(
            "A and/or B (see ticket 4711)",
            "> A and/or B (see ticket 4711)",
        );
        check("日本語 ありがとう", "> 日本語 ありがとう");
        check("e\u{301}", "> é");
    }

    #[test]
    fn no_form_of_a_link_is_left() {
        for (note, want) in [
            ("http://evil.com/x", "> http[:]/ /evil[.]com/x"),
            ("HTTPS://EVIL.COM", "> HTTPS[:]/ /EVIL[.]COM"),
            ("www.evil.com.", "> www[.]evil[.]com."),
            ("evil.com", "> evil[.]com"),
            ("mailto:a@evil.com", "> mailto[:]a[at]evil[.]com"),
            ("a @ evil.com", "> a [at] evil[.]com"),
            (
                "evil。com evil．com evil｡com evil․com",
                "> evil[.]com evil[.]com evil[.]com evil[.]com",
            ),
            ("ｈｔｔｐ：／／ｅｖｉｌ．ｃｏｍ", "> http[:]/ /evil[.]com"),
            ("http://localhost///x", "> http[:]/ /localhost/ / /x"),
            ("\\\\server\\share file:\\\\x", "> server share file: x"),
            ("ev\u{200b}il.c\u{ad}om", "> evil[.]com"),
            ("evil\u{feff}.\u{200d}com", "> evil[.]com"),
            ("http:\u{200b}//3232235777", "> http[:]/ /##########"),
            ("http://[::1]/", "> http[:]/ / [:][:]1 /"),
            ("javascript:alert(1)", "> javascript[:]alert(1)"),
            ("[click](http://evil.com)", "> click (http[:]/ /evil[.]com)"),
            (
                "<a href='http://evil.com'>x</a>",
                "> a href='http[:]/ /evil[.]com' x /a",
            ),
        ] {
            check(note, want);
        }
    }

    #[test]
    fn nothing_leaves_the_line_or_turns_it_round() {
        check("a\r\n.\r\nb", "> a . b");
        check("a\n\nFrom: us\n> quoted", "> a From: us quoted");
        check("a\u{2028}b\u{2029}c\u{85}d\0e\u{7f}f\tg", "> a b c d e f g");
        check("\u{202e}moc.live\u{202c}", "> moc[.]live");
        check("\u{2066}x\u{2069}\u{e0041}\u{e000}y", "> x y");
        check(
            "a\u{301}\u{302}\u{303}\u{304}\u{305}b",
            "> á\u{302}\u{303}b",
        );
        for empty in ["", " \n\t", "\u{200b}", "<>"] {
            assert_eq!(quoted(empty), None, "{empty:?}");
        }
    }

    #[test]
    fn no_number_can_be_called() {
        check("call +1 (800) 555-0199", "> call +# (###) ###-####");
        check("tel:0800.1234567", "> tel[:]####[.]#######");
        check("１２３ ４５６７", "> ### ####");
        check(
            "12345, 67 and 123456 are short",
            "> #####, ## and 123456 are short",
        );
    }

    #[test]
    fn a_note_is_short_whatever_it_grows_to() {
        for one in ["\u{fdfa}", "a ", "@", "//", "x", ".x", "\u{1f600}", "ﬃ"] {
            let text = quoted(&one.repeat(100_000)).unwrap();
            assert!(text.chars().count() <= 5 * LONGEST_NOTE, "{one}");
            for line in text.lines() {
                assert!(line.starts_with("> "), "{line}");
                assert!(line.chars().count() <= LINE + 4, "{line}");
            }
        }
    }
}
