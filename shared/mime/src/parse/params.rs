//! `Content-Type` and `Content-Disposition` as they occur in practice: RFC 2045 and RFC 2231, and
//! the deviations of mail programs.

use std::borrow::Cow;

use super::charset;
use super::fields::unfolded;
use super::words::{self, WordContext};

/// Most parameters that are read from one header.
const MOST: usize = 100;

/// Longest header that is read, in bytes.
const LONGEST: usize = 1 << 16;

/// A value with parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameterised {
    /// Before the first semicolon, in lower case.
    pub value: String,
    params: Vec<Param>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Param {
    /// In lower case, without the marks of RFC 2231.
    name: String,
    /// `name*3`.
    section: Option<u16>,
    /// `name*`: percent-encoded, and the first section begins with the charset.
    extended: bool,
    bytes: Vec<u8>,
}

impl Parameterised {
    pub(crate) fn read(value: &[u8]) -> Self {
        let text = unfolded(value.get(..LONGEST).unwrap_or(value));
        let end = memchr::memchr(b';', &text).unwrap_or(text.len());
        let (value, mut rest) = text.split_at_checked(end).unwrap_or((&text, b""));
        let value = String::from_utf8_lossy(value.trim_ascii()).to_ascii_lowercase();
        let mut params = Vec::new();
        while let Some(tail) = rest.strip_prefix(b";") {
            if params.len() == MOST {
                break;
            }
            let (param, next) = param(tail);
            params.extend(param);
            rest = next;
        }
        Self { value, params }
    }

    /// A parameter as text. Encoded words, which RFC 2047 forbids here but many mail programs use,
    /// are decoded too.
    pub(crate) fn get(&self, name: &str, fallback: &str) -> Option<String> {
        if let Some((label, bytes)) = self.extended(name) {
            return Some(charset::decode(&label, &bytes).into_owned());
        }
        let bytes = self.raw(name)?;
        Some(words::text(&bytes, WordContext::Text, fallback))
    }

    /// A parameter's bytes unchanged, as a boundary requires.
    pub(crate) fn raw(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let plain = self
            .params
            .iter()
            .find(|p| p.name == name && p.section.is_none());
        if let Some(param) = plain {
            return Some(Cow::Borrowed(&param.bytes));
        }
        let sections = self.sections(name);
        (!sections.is_empty()).then(|| {
            let bytes: Vec<_> = sections.iter().map(|p| p.bytes.as_slice()).collect();
            Cow::Owned(bytes.concat())
        })
    }

    /// The charset and the bytes of an RFC 2231 parameter, if it is one.
    fn extended(&self, name: &str) -> Option<(String, Vec<u8>)> {
        let whole = self
            .params
            .iter()
            .find(|p| p.name == name && p.section.is_none() && p.extended);
        let sections = match whole {
            Some(param) => vec![param],
            None => self.sections(name),
        };
        let first = sections.first()?;
        let (mut label, mut start) = (String::new(), 0);
        if first.extended {
            let mut marks = memchr::memchr_iter(b'\'', &first.bytes);
            if let (Some(charset), Some(language)) = (marks.next(), marks.next()) {
                label = String::from_utf8_lossy(first.bytes.get(..charset)?).into_owned();
                start = language + 1;
            }
        }
        let mut bytes = Vec::new();
        for (at, section) in sections.iter().enumerate() {
            let part = section.bytes.get(if at == 0 { start } else { 0 }..)?;
            if section.extended {
                bytes.extend(percent_encoding::percent_decode(part));
            } else {
                bytes.extend_from_slice(part);
            }
        }
        Some((label, bytes))
    }

    /// The sections of a continued parameter in order, up to the first that is missing.
    fn sections(&self, name: &str) -> Vec<&Param> {
        let mut found: Vec<_> = self
            .params
            .iter()
            .filter(|p| p.name == name && p.section.is_some())
            .collect();
        found.sort_by_key(|p| p.section);
        found.dedup_by_key(|p| p.section);
        let whole = found
            .iter()
            .zip(0_u16..)
            .take_while(|(p, at)| p.section == Some(*at))
            .count();
        found.truncate(whole);
        found
    }
}

/// One parameter and what follows it, from its own semicolon on.
fn param(text: &[u8]) -> (Option<Param>, &[u8]) {
    let end = memchr::memchr2(b'=', b';', text).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, b""));
    let Some(rest) = rest.strip_prefix(b"=") else {
        return (None, rest);
    };
    let (bytes, rest) = value(rest.trim_ascii_start());
    let name = String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase();
    let (name, extended) = match name.strip_suffix('*') {
        Some(name) => (name, true),
        None => (name.as_str(), false),
    };
    let continued = name
        .rsplit_once('*')
        .and_then(|(name, section)| Some((name, Some(section.parse().ok()?))));
    let (name, section) = continued.unwrap_or((name, None));
    let param = Param {
        name: name.to_owned(),
        section,
        extended,
        bytes,
    };
    (Some(param), rest)
}

/// A quoted string, or everything up to the semicolon: unquoted names with spaces are common.
fn value(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        let end = memchr::memchr(b';', text).unwrap_or(text.len());
        let (value, rest) = text.split_at_checked(end).unwrap_or((text, b""));
        return (value.trim_ascii().to_vec(), rest);
    };
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = quoted.get(at) {
        at += 1;
        match (byte, quoted.get(at)) {
            (b'"', _) => break,
            // Only a quote or a backslash is escaped: Windows paths arrive unescaped.
            (b'\\', Some(&next @ (b'"' | b'\\'))) => {
                bytes.push(next);
                at += 1;
            }
            _ => bytes.push(byte),
        }
    }
    let rest = quoted.get(at..).unwrap_or_default();
    let next = memchr::memchr(b';', rest).unwrap_or(rest.len());
    (bytes, rest.get(next..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(header: &str, name: &str, want: Option<&str>) {
        let got = Parameterised::read(header.as_bytes()).get(name, "");
        assert_eq!(got.as_deref(), want, "{header}");
    }

    #[test]
    fn parameters_are_read() {
        check("text/plain; charset=utf-8", "charset", Some("utf-8"));
        check("text/plain; CHARSET=\"utf-8\"", "charset", Some("utf-8"));
        check(
            "text/plain ;\r\n charset = utf-8 ; x=y",
            "charset",
            Some("utf-8"),
        );
        check("a/b; name=\"a;b=\\\"c\\\\\"; x=y", "x", Some("y"));
        check("a/b; name=\"a;b=\\\"c\\\\\"", "name", Some("a;b=\"c\\"));
        check(
            "a/b; name=my report.pdf; x=y",
            "name",
            Some("my report.pdf"),
        );
        check("a/b; name=\"open", "name", Some("open"));
        check(
            "a/b; name=\"C:\\temp\\a.txt\"",
            "name",
            Some("C:\\temp\\a.txt"),
        );
        check("a/b; flag; name=x", "name", Some("x"));
        check("a/b; name", "name", None);
        check("a/b;;; name=x;", "name", Some("x"));
        check("a/b; name=\"x\" junk; y=z", "y", Some("z"));
    }

    #[test]
    fn names_are_decoded_however_they_were_encoded() {
        check(
            "a; filename*=UTF-8''%C3%9C%20x.pdf",
            "filename",
            Some("Ü x.pdf"),
        );
        check(
            "a; filename*=iso-8859-1'de'%DC.pdf",
            "filename",
            Some("Ü.pdf"),
        );
        check(
            "a; filename*0*=utf-8''%C3; filename*1*=%9C; filename*2=.pdf",
            "filename",
            Some("Ü.pdf"),
        );
        check(
            "a; filename*1=b; filename*0=a; filename*3=d",
            "filename",
            Some("ab"),
        );
        check(
            "a; filename=\"fallback\"; filename*=utf-8''%C3%9C",
            "filename",
            Some("Ü"),
        );
        check("a; filename=\"=?utf-8?Q?=C3=9C?=\"", "filename", Some("Ü"));
        check("a; filename*=%C3%9C", "filename", Some("Ü"));
        check("a; filename*=utf-8''100%", "filename", Some("100%"));
        check(
            "a; filename=Übersicht.pdf",
            "filename",
            Some("Übersicht.pdf"),
        );
    }

    #[test]
    fn the_value_is_lower_case() {
        let read = |text: &str| Parameterised::read(text.as_bytes()).value;
        assert_eq!(read("Text/HTML; a=b"), "text/html");
        assert_eq!(read(" attachment "), "attachment");
        assert_eq!(read("; a=b"), "");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(text: Vec<u8>) {
            let read = Parameterised::read(&text);
            read.get("filename", "");
        }

        #[test]
        fn parameter_like_text_is_read(text in "(; ?|filename|\\*|[0-9]|=|\"|\\\\|'|%[0-9A-F]|[ -~]){0,40}") {
            let read = Parameterised::read(text.as_bytes());
            read.get("filename", "");
            read.raw("filename");
        }
    }
}
