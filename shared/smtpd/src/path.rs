//! Forward and reverse paths (RFC 5321 section 4.1.2).

/// Octets of a path with its brackets (RFC 5321 section 4.5.3.1.3 says 256; names in UTF-8 are
/// longer).
const LONGEST: usize = 1024;

/// Reads a path at the start of `text`: the address within, and what follows. Brackets may be
/// missing, as with old clients; a source route is dropped (RFC 5321 appendix C).
pub(crate) fn take(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let Some(inner) = text.strip_prefix('<') else {
        let end = text.find(' ').unwrap_or(text.len());
        let (path, rest) = text.split_at(end);
        return (!path.is_empty()).then_some((path, rest));
    };
    let end = unquoted(inner, '>')?;
    let (path, rest) = inner.split_at(end);
    let rest = rest.strip_prefix('>')?;
    let path = match path.strip_prefix('@') {
        Some(route) => route.split_once(':')?.1,
        None => path,
    };
    Some((path, rest))
}

/// The position of a character outside quotes.
fn unquoted(text: &str, wanted: char) -> Option<usize> {
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => {
                chars.next()?;
            }
            c if c == wanted && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// Whether it has the form of an address: something, `@`, something. The handler checks the rest.
pub(crate) fn is_address(path: &str) -> bool {
    let Some(at) = unquoted(path, '@') else {
        return false;
    };
    let (local, domain) = path.split_at(at);
    let domain = domain.get(1..).unwrap_or_default();
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '<' | '>' | '"' | '@' | '\\');
    let local_fits = if local.starts_with('"') {
        local.len() > 1 && unquoted_end(local)
    } else {
        !local.is_empty() && local.chars().all(plain)
    };
    path.len() <= LONGEST && local_fits && !domain.is_empty() && domain.chars().all(plain)
}

/// Whether a text that begins with a quote ends with the quote that closes it.
fn unquoted_end(local: &str) -> bool {
    let inner = local.get(1..).unwrap_or_default();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '"' => return at + 1 == inner.len(),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_out_of_their_brackets() {
        for (text, want) in [
            ("<a@b.c>", Some(("a@b.c", ""))),
            (" <a@b.c> SIZE=1", Some(("a@b.c", " SIZE=1"))),
            ("<>", Some(("", ""))),
            ("a@b.c SIZE=1", Some(("a@b.c", " SIZE=1"))),
            ("<\"a>b\"@b.c> X", Some(("\"a>b\"@b.c", " X"))),
            ("<\"a\\\">b\"@b.c>", Some(("\"a\\\">b\"@b.c", ""))),
            ("<@x.y,@z.w:a@b.c>", Some(("a@b.c", ""))),
            ("<a@b.c", None),
            ("<\"a@b.c>", None),
            ("<@x.y>", None),
            ("", None),
            (" ", None),
        ] {
            assert_eq!(take(text), want, "{text:?}");
        }
    }

    #[test]
    fn addresses_and_not() {
        for address in [
            "a@b",
            "a.b+c@d.e",
            "\"a b\"@c",
            "\"a\\\"b@x\"@c",
            "pepé@例え.jp",
            "a@[192.0.2.1]",
            "a@[IPv6:2001:db8::1]",
        ] {
            assert!(is_address(address), "{address:?}");
        }
        for other in [
            "", "a", "@", "a@", "@b", "a b@c", "a@b c", "a@b@c", "<a@b>", "a@b>", "\"a@b",
            "\"a\"b@c", "\"@c", "a\"b\"@c", "a\\@b",
        ] {
            assert!(!is_address(other), "{other:?}");
        }
        assert!(!is_address(&format!("{}@b", "a".repeat(LONGEST))));
    }
}
