//! The words of a refusal, in a form in which the same sentence of two servers is the same.

use crate::EnhancedStatus;

/// Characters of a refusal that are read: one of a thousand is read whole (see `reply`).
const LONGEST: usize = 1024;

/// Bytes between two parts of a phrase: a name, or a few words.
const GAP: usize = 32;

/// What a server that returns a mail says of every mail.
const RETURNED: &str = " to sender ";

/// The refusal in lower case, its words parted and enclosed by one space each.
///
/// An address is no word of the server, whatever it is called (`<spam@example.com>`), and neither
/// is the path of a link; the host of a link often names a blocklist.
pub(super) fn words(text: &str) -> String {
    let bounded: String = text.chars().take(LONGEST).collect();
    let mut words = String::with_capacity(bounded.len() + 2);
    words.push(' ');
    for token in bounded.split_whitespace() {
        let token = host_of_link(token);
        let token = without_name(&without_addresses(token));
        for c in token.chars().flat_map(char::to_lowercase) {
            match c {
                '\'' | '’' => {}
                c if c.is_alphanumeric() => words.push(c),
                _ if words.ends_with(' ') => {}
                _ => words.push(' '),
            }
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    words.replace(RETURNED, " ")
}

/// Whether the phrase is in words of [`words`]: whole words, `~` at the end for the beginning of
/// one, and ` * ` for up to 32 bytes of others, or none.
pub(super) fn says(words: &str, phrase: &str) -> bool {
    let Some((head, tail)) = phrase.split_once(" * ") else {
        return ends(words, phrase).next().is_some();
    };
    ends(words, head).any(|end| {
        let reach = words.floor_char_boundary(end + GAP + tail.len());
        words.get(end..reach).is_some_and(|next| says(next, tail))
    })
}

/// Where the phrase ends in the words, each time.
fn ends<'a>(words: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let (phrase, whole) = match phrase.strip_suffix('~') {
        Some(beginning) => (beginning, false),
        None => (phrase, true),
    };
    let bytes = words.as_bytes();
    words.match_indices(phrase).filter_map(move |(at, _)| {
        let end = at + phrase.len();
        let starts = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b' ');
        let stops = !whole || bytes.get(end).is_none_or(|after| *after == b' ');
        (starts && stops).then_some(end)
    })
}

/// The enhanced code that qmail and others write within their sentence: `(#5.1.1)`.
pub(super) fn embedded(text: &str) -> Option<EnhancedStatus> {
    let (_, rest) = text.split_once("#5.")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let rest = rest.get(..end.unwrap_or(rest.len()))?;
    format!("5.{}", rest.trim_end_matches('.')).parse().ok()
}

/// `spamhaus.org` of `(https://spamhaus.org/query?ip=192.0.2.1)`.
fn host_of_link(token: &str) -> &str {
    let Some((_, link)) = token.split_once("://") else {
        return token;
    };
    let end = link.find(['/', '?', '#']);
    link.get(..end.unwrap_or(link.len())).unwrap_or_default()
}

/// Leaves out `ann@example.com`, and keeps what encloses it.
fn without_addresses(token: &str) -> String {
    let is_local = |c: char| c.is_alphanumeric() || "!#$%&*+-/=?^_`{|}~.'".contains(c);
    let is_domain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let mut pieces = token.split('@');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        kept.truncate(kept.trim_end_matches(is_local).len());
        kept.push_str(piece.trim_start_matches(is_domain));
    }
    kept
}

/// Leaves out what angle brackets enclose: a name.
fn without_name(token: &str) -> String {
    match token
        .split_once('<')
        .and_then(|(before, rest)| Some((before, rest.split_once('>')?.1)))
    {
        Some((before, after)) => format!("{before} {after}"),
        None => token.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_the_server_says() {
        for (text, want) in [
            ("", " "),
            ("User  unknown", " user unknown "),
            ("User\r\nUNKNOWN.", " user unknown "),
            ("<spam@blocked.example>: No_such-user!", " no such user "),
            ("[a@b.c]:x (a@b.c:blocked)", " x blocked "),
            ("mailto:a@b.c", " mailto "),
            ("a@b@c@d x", " x "),
            ("<postmaster>... unknown", " unknown "),
            ("Doesn't, don’t exist (#5.1.1)", " doesnt dont exist 5 1 1 "),
            (
                "see https://spamhaus.org/blocked/rate?x=y.",
                " see spamhaus org ",
            ),
            ("5.1.1 returned to sender", " 5 1 1 returned "),
            ("Empfänger ÜBER", " empfänger über "),
        ] {
            assert_eq!(words(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_phrase_is_whole_words_beginnings_and_gaps() {
        for (text, phrase, want) in [
            ("marble verbl", "rbl", false),
            ("rbl", "rbl", true),
            ("an rbl list", "rbl", true),
            ("throttled", "throttl~", true),
            ("unthrottled", "throttl~", false),
            ("user ann unknown", "user * unknown", true),
            ("user unknown", "user * unknown", true),
            (
                "user this and that and whatever else there is unknown",
                "user * unknown",
                false,
            ),
            (
                "user who may have gone long ago: user ann unknown",
                "user * unknown",
                true,
            ),
            ("user ann is not known", "user * is * known", true),
            ("über user ünknöwn ü", "user * ü", true),
        ] {
            assert_eq!(says(&words(text), phrase), want, "{text:?} {phrase:?}");
        }
    }

    #[test]
    fn a_hostile_refusal_is_read_to_a_limit() {
        for part in ["a", "@", "<", "ü", "user ", "://", "#5.", "a@b>"] {
            let text = part.repeat(100_000);
            assert!(words(&text).len() <= 2 * LONGEST + 2, "{part}");
            assert!(!says(&words(&text), "user * user * user * rate"), "{part}");
            embedded(&text);
        }
    }

    #[test]
    fn an_embedded_code_has_its_mark() {
        for (text, want) in [
            ("sorry (#5.1.1)", Some(EnhancedStatus::new(5, 1, 1))),
            ("no (#5.1.1 - chkuser)", Some(EnhancedStatus::new(5, 1, 1))),
            ("#5.1.0.", Some(EnhancedStatus::new(5, 1, 0))),
            ("host 5.1.1", None),
            ("#5.1.1.1", None),
            ("#5.", None),
        ] {
            assert_eq!(embedded(text), want, "{text}");
        }
    }
}
