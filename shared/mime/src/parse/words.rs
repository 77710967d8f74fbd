//! Header text for display: UTF-8, encoded words decoded (RFC 2047).

use std::borrow::Cow;

use encodify::qp;

use super::charset;
use super::fields::unfolded;
use super::transfer::base64;

/// Longest header text that is decoded, in bytes. More is a mistake or an attack; the raw header
/// still contains all of it.
pub(crate) const LONGEST: usize = 1 << 20;

/// Longest encoded word, in bytes. RFC 2047 limits them to 75; without a limit, each of many
/// unterminated words would be searched to the end of the header.
const LONGEST_WORD: usize = 4096;

/// The kind of text, which decides how a decoded word may appear in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordContext {
    /// A subject: free text.
    Text,
    /// A list of addresses: a decoded name that would parse as more than a name is quoted.
    Addresses,
}

/// Decodes a header's value. `fallback` names the charset of bytes that are neither ASCII nor
/// UTF-8. The result is one line: control characters become spaces.
pub(crate) fn text(value: &[u8], place: WordContext, fallback: &str) -> String {
    let value = value.get(..LONGEST).unwrap_or(value);
    let value = unfolded(value);
    let mut out = String::with_capacity(value.len());
    let mut rest: &[u8] = &value;
    let mut quoted = false;
    while let Some(start) = memchr::memmem::find(rest, b"=?") {
        let (plain, tail) = rest.split_at_checked(start).unwrap_or((rest, b""));
        let Some((words, next)) = run(tail) else {
            let (plain, next) = rest.split_at_checked(start + 2).unwrap_or((rest, b""));
            push_plain(&mut out, plain, &mut quoted, fallback);
            rest = next;
            continue;
        };
        push_plain(&mut out, plain, &mut quoted, fallback);
        push_words(&mut out, &words, place, quoted);
        rest = next;
    }
    push_plain(&mut out, rest, &mut quoted, fallback);
    out.trim().to_owned()
}

/// The text of each run of encoded words in a header's value, with every character it decodes to.
pub(crate) fn encoded(value: &[u8]) -> impl Iterator<Item = String> {
    let mut rest = value.get(..LONGEST).unwrap_or(value);
    std::iter::from_fn(move || {
        while let Some(start) = memchr::memmem::find(rest, b"=?") {
            let tail = rest.get(start..)?;
            if let Some((words, next)) = run(tail) {
                rest = next;
                return Some(words);
            }
            rest = tail.get(2..)?;
        }
        None
    })
}

fn push_plain(out: &mut String, plain: &[u8], quoted: &mut bool, fallback: &str) {
    let mut escaped = false;
    for &byte in plain {
        match byte {
            b'"' if !escaped => *quoted = !*quoted,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
    }
    let text = match std::str::from_utf8(plain) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => charset::decode(fallback, plain),
    };
    out.extend(text.chars().map(visible));
}

fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

fn push_words(out: &mut String, words: &str, place: WordContext, quoted: bool) {
    let escape = |out: &mut String| {
        for c in words.chars().map(visible) {
            if matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
    };
    match place {
        WordContext::Addresses if quoted => escape(out),
        // RFC 5322 `specials`: outside quotes they would split the name.
        WordContext::Addresses if words.contains(|c| "()<>[]:;@\\,.\"".contains(c)) => {
            out.push('"');
            escape(out);
            out.push('"');
        }
        WordContext::Addresses | WordContext::Text => out.extend(words.chars().map(visible)),
    }
}

/// A run of encoded words with only white space between them, and what follows it. The bytes of
/// neighbours in one charset are joined first: some writers cut inside a character.
fn run(text: &[u8]) -> Option<(String, &[u8])> {
    let mut out = String::new();
    let (mut word, mut rest) = word(text)?;
    loop {
        let gap = rest.len() - rest.trim_ascii_start().len();
        let Some((next, after)) = self::word(rest.get(gap..)?) else {
            out.push_str(&charset::decode(word.charset, &word.bytes));
            return Some((out, rest));
        };
        rest = after;
        if next.charset.eq_ignore_ascii_case(word.charset) {
            word.bytes.extend_from_slice(&next.bytes);
        } else {
            out.push_str(&charset::decode(word.charset, &word.bytes));
            word = next;
        }
    }
}

struct EncodedWord<'a> {
    charset: &'a str,
    bytes: Vec<u8>,
}

/// `=?charset?Q?text?=` at the start. Spaces in the text, which RFC 2047 forbids, are accepted,
/// and so is a language after the charset (RFC 2231).
fn word(text: &[u8]) -> Option<(EncodedWord<'_>, &[u8])> {
    let all = text.strip_prefix(b"=?")?;
    let text = all.get(..LONGEST_WORD).unwrap_or(all);
    let mark = memchr::memchr(b'?', text)?;
    let charset = std::str::from_utf8(text.get(..mark)?).ok()?;
    let charset = charset.split('*').next().unwrap_or_default();
    let legal = charset.bytes().all(|b| b.is_ascii_graphic());
    if charset.is_empty() || charset.len() > 64 || !legal {
        return None;
    }
    let encoding = text.get(mark + 1)?;
    if text.get(mark + 2) != Some(&b'?') {
        return None;
    }
    let data = text.get(mark + 3..)?;
    let end = memchr::memmem::find(data, b"?=")?;
    let data = data.get(..end)?;
    let rest = all.get(mark + 3 + end + 2..)?;
    let bytes = match encoding {
        b'b' | b'B' => base64(data),
        // The library refuses a `=` that begins no escape; then the text is used unchanged.
        b'q' | b'Q' => match qp::Q_TEXT.decode(data) {
            Ok(bytes) => bytes.into_owned(),
            Err(_) => data.to_vec(),
        },
        _ => return None,
    };
    Some((EncodedWord { charset, bytes }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(value: &[u8], want: &str) {
        assert_eq!(text(value, WordContext::Text, "koi8-r"), want, "{value:?}");
    }

    #[test]
    fn words_are_decoded() {
        check(b"plain text", "plain text");
        check(b"=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus?= K", "Grüße aus K");
        check(b"=?UTF-8?b?8J+OiQ==?=", "🎉");
        check(b"a =?utf-8?Q?b?= =?utf-8?Q?c?= d", "a bc d");
        check(b"=?utf-8?Q?b?=\r\n =?iso-8859-1?Q?=E4?=", "bä");
        check(b"=?utf-8?Q?a_?= x", "a  x");
        check(b"=?utf-8*en?Q?a?=", "a");
        check(b"=?utf-8?Q?with space?=", "with space");
        check(b"x=?utf-8?Q?=C3=A4?=y", "xäy");
        check(b"=?utf-8?Q??=", "");
    }

    #[test]
    fn words_cut_inside_a_character_are_joined() {
        check(b"=?utf-8?Q?=C3?= =?utf-8?Q?=A4?=", "ä");
        check(
            b"=?utf-8?B?w6Q=?=\r\n =?UTF-8?B?w7zD?= =?utf-8?B?n3g=?=",
            "äüßx",
        );
        check(b"=?shift_jis?B?k/qW?= =?shift_jis?B?ew==?=", "日本");
    }

    #[test]
    fn what_is_no_word_stays() {
        check(b"=?", "=?");
        check(b"=?utf-8?X?a?=", "=?utf-8?X?a?=");
        check(b"=?utf-8?Q?a", "=?utf-8?Q?a");
        check(b"=??Q?a?=", "=??Q?a?=");
        check(b"1 =? 2", "1 =? 2");
        check(b"=?utf-8?Q?50=off?=", "50=off");
    }

    #[test]
    fn raw_bytes_are_utf8_or_the_mails_own_charset() {
        check("Grüße".as_bytes(), "Grüße");
        check(b"\xf0\xd2\xc9", "При");
    }

    #[test]
    fn the_text_stays_on_its_line() {
        check(b"a\r\n b", "a b");
        check(b"=?utf-8?Q?a=0D=0ABcc:_x=00?=", "a  Bcc: x");
    }

    #[test]
    fn a_decoded_name_stays_one_name() {
        let check = |value: &str, want: &str| {
            let got = text(value.as_bytes(), WordContext::Addresses, "");
            assert_eq!(got, want, "{value}");
        };
        check("=?utf-8?Q?J=C3=B6rg?= <a@b>", "Jörg <a@b>");
        check(
            "=?utf-8?Q?M=C3=BCller=2C_Max?= <a@b>",
            "\"Müller, Max\" <a@b>",
        );
        check(
            "=?utf-8?Q?a_=22b=22_=3Cc=40d=3E?= <a@b>",
            "\"a \\\"b\\\" <c@d>\" <a@b>",
        );
        check("\"=?utf-8?Q?a=22=2C_b?=\" <a@b>", "\"a\\\", b\" <a@b>");
        check("\"x\\\"y\" =?utf-8?Q?=2C?= <a@b>", "\"x\\\"y\" \",\" <a@b>");
        check("\"Smith, John\" <a@b>, c@d", "\"Smith, John\" <a@b>, c@d");
    }

    proptest! {
        #[test]
        fn any_bytes_become_one_line(value: Vec<u8>) {
            for place in [WordContext::Text, WordContext::Addresses] {
                prop_assert!(!text(&value, place, "").contains(char::is_control));
            }
        }

        #[test]
        fn word_like_bytes_do_not_panic(value in "(=\\?|utf-8|\\?Q\\?|\\?b\\?|\\?=|=[0-9A-F]{2}|[ -~]|\r\n ){0,40}") {
            text(value.as_bytes(), WordContext::Addresses, "x");
        }
    }
}
