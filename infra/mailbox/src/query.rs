//! The search language: words, quoted phrases and `field:value` terms, as in Mailpit.
//!
//! Every term must match; a leading `-` or `!` negates one. Beyond Mailpit, `rcpt:` searches the
//! envelope, and `to:` of a mail that the service made does too: each recipient of a send gets a copy
//! of its own, and this finds the right one. `is:` with the name of a state finds what is in it, and
//! `request:` the copies of one request.

use posthaste_model::Millis;

use crate::copies::DeliveryStatus;
use crate::mail::collapse;

/// The field a text is searched in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    From,
    To,
    Cc,
    Bcc,
    ReplyTo,
    /// Any of the five above.
    Addressed,
    Recipient,
    Subject,
    MessageId,
    /// Everything above, names of files and the text of the body.
    All,
}

/// One condition on a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// The field holds this text, which is in lower case.
    Holds(SearchField, String),
    Read,
    Files,
    Inlines,
    Before(Millis),
    After(Millis),
    Larger(i64),
    Smaller(i64),
    /// The mail has a tag.
    Tagged,
    /// The mail has this tag, in any letter case of ASCII.
    Tag(String),
    /// The bytes of the mail are here.
    Recorded,
    /// The mail arrived after the one at this place in the order of arrival.
    ArrivedAfter(i64),
    Has(DeliveryStatus),
    /// The copy is of this request, which is in lower case.
    Request(String),
}

/// A condition, or its negation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub not: bool,
    pub test: Test,
}

/// Terms of one search. Each is checked against every mail.
const MOST: usize = 100;

/// A search of more terms than the limit. None of them may be ignored: a search also selects mails
/// to delete.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("Error: a search has at most {MOST} terms")]
pub(crate) struct TooManyTerms;

/// The terms of a search; a meaningless one (such as an invalid date) is ignored.
pub(crate) fn parse(search: &str) -> Result<Vec<Term>, TooManyTerms> {
    let terms: Vec<_> = words(search).iter().filter_map(|word| term(word)).collect();
    (terms.len() <= MOST).then_some(terms).ok_or(TooManyTerms)
}

/// The copies of the request of this name.
pub(crate) fn request(name: &str) -> Vec<Term> {
    let test = Test::Request(name.to_lowercase());
    vec![Term { not: false, test }]
}

/// Splits at white space outside double quotes, and drops the quotes.
fn words(search: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in search.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.trim().is_empty());
    words
}

fn term(word: &str) -> Option<Term> {
    let lower = word.to_lowercase();
    let (not, rest) = match lower.strip_prefix(['-', '!']) {
        Some(rest) if !rest.is_empty() => (true, rest),
        Some(_) | None => (false, lower.as_str()),
    };
    let test = match rest {
        "is:read" => Test::Read,
        "is:unread" => {
            let test = Test::Read;
            return Some(Term { not: !not, test });
        }
        "is:tagged" => Test::Tagged,
        "is:recorded" => Test::Recorded,
        "has:attachment" | "has:attachments" => Test::Files,
        "has:inline" | "has:inlines" => Test::Inlines,
        rest => match rest.strip_prefix("is:").and_then(DeliveryStatus::of_word) {
            Some(status) => Test::Has(status),
            None if rest.starts_with("tag:") => {
                let (_, name) = word.split_once(':')?;
                let name = collapse(name, usize::MAX);
                (!name.is_empty()).then_some(Test::Tag(name))?
            }
            None => named(rest)?,
        },
    };
    Some(Term { not, test })
}

/// `field:value`, or a text without a known field.
fn named(rest: &str) -> Option<Test> {
    let (name, value) = rest.split_once(':').unwrap_or((rest, ""));
    let value = collapse(value, usize::MAX);
    let field = match name {
        "from" => SearchField::From,
        "to" => SearchField::To,
        "cc" => SearchField::Cc,
        "bcc" => SearchField::Bcc,
        "reply-to" => SearchField::ReplyTo,
        "addressed" => SearchField::Addressed,
        "rcpt" => SearchField::Recipient,
        "subject" => SearchField::Subject,
        "message-id" => SearchField::MessageId,
        "request" => return (!value.is_empty()).then_some(Test::Request(value)),
        "before" => return instant(&value).map(Test::Before),
        "after" => return instant(&value).map(Test::After),
        "larger" => return bytes(&value).map(Test::Larger),
        "smaller" => return bytes(&value).map(Test::Smaller),
        _ => {
            let text = collapse(rest, usize::MAX);
            return Some(Test::Holds(SearchField::All, text));
        }
    };
    (!value.is_empty()).then_some(Test::Holds(field, value))
}

/// A day, a day and a time (both UTC), RFC 3339, or Unix seconds or milliseconds.
pub(crate) fn instant(text: &str) -> Option<Millis> {
    if let Ok(number) = text.parse::<i64>() {
        // As Mailpit: more than 10^12 can only be milliseconds.
        let scale = if number > 1_000_000_000_000 { 1 } else { 1000 };
        return number.checked_mul(scale).map(Millis);
    }
    let text = text.to_uppercase();
    let utc = |civil: jiff::civil::DateTime| {
        let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(zoned.timestamp())
    };
    let found = text
        .parse::<jiff::Timestamp>()
        .ok()
        .or_else(|| utc(text.parse::<jiff::civil::DateTime>().ok()?))
        .or_else(|| utc(text.parse::<jiff::civil::Date>().ok()?.into()))?;
    Some(Millis(found.as_millisecond()))
}

/// `1500`, `2k`, `1.5mb`: bytes, in units of 1024.
fn bytes(text: &str) -> Option<i64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let scale = match text.get(number.len()..)?.trim() {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        _ => return None,
    };
    let size = number.parse::<f64>().ok()? * scale;
    let sane = (0.0..1e15).contains(&size);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range is checked, and a fraction of a byte means nothing"
    )]
    sane.then_some(size as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(field: SearchField, text: &str) -> Test {
        Test::Holds(field, text.to_owned())
    }

    #[track_caller]
    fn check(search: &str, want: &[(bool, Test)]) {
        let got: Vec<_> = parse(search)
            .unwrap()
            .into_iter()
            .map(|t| (t.not, t.test))
            .collect();
        assert_eq!(got, want, "search: {search:?}");
    }

    #[test]
    fn words_phrases_and_fields_are_distinguished() {
        check("", &[]);
        check(" \t \"\" ", &[]);
        check(
            "Hello  wörld",
            &[
                (false, holds(SearchField::All, "hello")),
                (false, holds(SearchField::All, "wörld")),
            ],
        );
        check(
            "\"Hello  World\"",
            &[(false, holds(SearchField::All, "hello world"))],
        );
        check(
            "\"open end",
            &[(false, holds(SearchField::All, "open end"))],
        );
        check(
            "To:Ann@x.co from:\"Bob B\" -subject:\"a b\" !rcpt:c",
            &[
                (false, holds(SearchField::To, "ann@x.co")),
                (false, holds(SearchField::From, "bob b")),
                (true, holds(SearchField::Subject, "a b")),
                (true, holds(SearchField::Recipient, "c")),
            ],
        );
        check(
            "is:read is:unread -is:unread",
            &[(false, Test::Read), (true, Test::Read), (false, Test::Read)],
        );
        check(
            "-has:attachments has:inline tag:x",
            &[
                (true, Test::Files),
                (false, Test::Inlines),
                (false, Test::Tag("x".to_owned())),
            ],
        );
        check("to: tag: before:never larger:x", &[]);
        check(
            "http://x.co - 🎉",
            &[
                (false, holds(SearchField::All, "http://x.co")),
                (false, holds(SearchField::All, "-")),
                (false, holds(SearchField::All, "🎉")),
            ],
        );
    }

    #[test]
    fn a_search_of_too_many_terms_is_none() {
        let terms = |n: usize| parse(&"a ".repeat(n)).map(|terms| terms.len());
        assert_eq!(terms(MOST), Ok(MOST));
        assert_eq!(terms(MOST + 1), Err(TooManyTerms));
    }

    #[test]
    fn times_and_sizes_are_read_in_their_usual_forms() {
        let noon = Some(Millis(1_795_780_800_000));
        for text in [
            "1795780800",
            "1795780800000",
            "2026-11-27t12:00:00z",
            "2026-11-27 12:00",
            "2026-11-27T14:00:00+02:00",
        ] {
            assert_eq!(instant(text), noon, "{text}");
        }
        let midnight = Some(Millis(1_795_737_600_000));
        assert_eq!(instant("2026-11-27"), midnight);
        assert_eq!(instant("yesterday"), None);
        assert_eq!(instant("-9223372036854775808"), None);
        for (text, want) in [
            ("10", Some(10)),
            ("2k", Some(2048)),
            ("1.5 mb", Some(1_572_864)),
            ("-1", None),
            ("1e300", None),
            ("nan", None),
            ("", None),
            ("k", None),
        ] {
            assert_eq!(bytes(text), want, "{text:?}");
        }
    }
}
