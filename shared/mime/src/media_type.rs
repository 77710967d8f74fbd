//! Media types in callers' spelling: `text/calendar; method=REQUEST`, or only `gif`.

/// A media type taken apart (RFC 2045, section 5.1), leniently: the slash may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MediaType<'a> {
    /// `text/calendar`, in the caller's spelling.
    pub essence: &'a str,
    pub params: Vec<(&'a str, String)>,
}

impl<'a> MediaType<'a> {
    /// Parses a type; `None` when a character is not allowed in an unencoded header, or a parameter
    /// is not `name=value`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (essence, rest) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim_matches(WHITE);
        if essence.is_empty() || !essence.split('/').all(is_token) {
            return None;
        }
        let mut params = Vec::new();
        let mut rest = rest.trim_matches(WHITE);
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=')?;
            let name = name.trim_matches(WHITE);
            let (value, after) = value(after.trim_start_matches(WHITE))?;
            if !is_token(name) {
                return None;
            }
            params.push((name, value));
            let after = after.trim_start_matches(WHITE);
            rest = match after.strip_prefix(';') {
                Some(next) => next.trim_start_matches(WHITE),
                None if after.is_empty() => after,
                None => return None,
            };
        }
        Some(Self { essence, params })
    }

    pub(crate) fn is(&self, essence: &str) -> bool {
        self.essence.eq_ignore_ascii_case(essence)
    }

    /// Whether this belongs to a top-level type such as `multipart`.
    pub(crate) fn under(&self, top: &str) -> bool {
        self.essence
            .split('/')
            .next()
            .is_some_and(|t| t.eq_ignore_ascii_case(top))
    }

    /// Whether readers show this as text. A type without a slash is text to them: RFC 2045,
    /// section 5.2, says so of a type that cannot be read.
    pub(crate) fn is_text(&self) -> bool {
        self.under("text") || !self.essence.contains('/')
    }

    pub(crate) fn has(&self, param: &str) -> bool {
        self.params
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(param))
    }

    /// Replaces a parameter, or adds it.
    pub(crate) fn set(&mut self, param: &'a str, value: String) {
        self.unset(param);
        self.params.push((param, value));
    }

    pub(crate) fn unset(&mut self, param: &str) {
        self.params
            .retain(|(name, _)| !name.eq_ignore_ascii_case(param));
    }
}

const WHITE: [char; 2] = [' ', '\t'];

/// Whether this is `type/subtype`, with at most 127 characters on either side of the slash (RFC
/// 6838, section 4.2).
pub(crate) fn is_type(essence: &str) -> bool {
    let mut names = essence.split('/');
    names.clone().count() == 2 && names.all(|name| name.len() <= 127 && is_token(name))
}

/// RFC 2045 `token`.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b))
}

/// A token or a quoted string, and what follows it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ' ', '\t']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return is_token(value).then(|| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\\' => value.push(chars.next().map(|(_, c)| c).filter(|c| !c.is_control())?),
            c if c.is_control() => return None,
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<(&str, &[(&str, &str)])>) {
        let got = MediaType::parse(text);
        let got = got.as_ref().map(|t| {
            let params: Vec<_> = t.params.iter().map(|(n, v)| (*n, v.as_str())).collect();
            (t.essence, params)
        });
        let want = want.map(|(essence, params)| (essence, params.to_vec()));
        assert_eq!(got, want, "{text:?}");
    }

    #[test]
    fn types_are_taken_apart() {
        check("text/html", Some(("text/html", &[])));
        check("gif", Some(("gif", &[])));
        check(
            "text/calendar; method=REQUEST",
            Some(("text/calendar", &[("method", "REQUEST")])),
        );
        check(
            " text/calendar ;method=\"RE\\\"Q\" ; charset = utf-8;",
            Some((
                "text/calendar",
                &[("method", "RE\"Q"), ("charset", "utf-8")],
            )),
        );
        check(
            "application/vnd.ms-excel.sheet.macroEnabled.12",
            Some(("application/vnd.ms-excel.sheet.macroEnabled.12", &[])),
        );
    }

    #[test]
    fn what_could_end_the_header_is_no_type() {
        for text in [
            "",
            ";",
            "/",
            "text/",
            "text/html\r\nBcc: a@example.com",
            "text/html; a=\"b\r\nc\"",
            "text/html; a=\"b",
            "text/html; a",
            "text/html; a b=c",
            "text/html; a=b c",
            "text/html; =b",
            "text/html; a=b\0",
            "text/häml",
            "text html",
            "text/html, text/plain",
        ] {
            check(text, None);
        }
    }
}
