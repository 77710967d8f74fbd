//! Serves parts of a mail as responses that are harmless in a browser.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Scripts, frames and plugins are off, and the document has no origin.
const HARMLESS: &str =
    "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; sandbox";

/// Text types that a browser neither runs, applies as a style sheet, nor reads as markup.
const PLAIN: [&str; 9] = [
    "calendar",
    "csv",
    "directory",
    "markdown",
    "plain",
    "rfc822-headers",
    "richtext",
    "tab-separated-values",
    "vcard",
];

/// Words in a subtype that indicate a script, a style sheet, markup or a program, whatever
/// surrounds them: `x-javascript1.5`, `vnd.wap.xhtml+xml`.
const RUN: [&str; 16] = [
    "css",
    "ecmascript",
    "flash",
    "hta",
    "html",
    "javascript",
    "jscript",
    "livescript",
    "mathml",
    "mixed",
    "svg",
    "vbscript",
    "wasm",
    "xhtml",
    "xml",
    "xsl",
];

/// Types that a browser may show in place.
const SHOWN: [&str; 7] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/bmp",
    "text/plain",
];

/// A part of this type (`type/subtype`, lower case) and, for text, this charset.
pub(crate) fn part(kind: &str, charset: Option<&str>, name: &str, bytes: Vec<u8>) -> Response {
    let inline = SHOWN.contains(&kind);
    let kind = match charset {
        // Mailpit does this for some of these types.
        _ if may_run(kind) => "application/octet-stream".to_owned(),
        Some(charset) if kind.starts_with("text/") => format!("{kind}; charset={charset}"),
        Some(_) | None => kind.to_owned(),
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, disposition(inline, name)),
        (header::CONTENT_SECURITY_POLICY, HARMLESS.to_owned()),
    ];
    (headers, bytes).into_response()
}

/// Whether a browser might do more with this type than show or keep it. The page's own policy
/// allows scripts and styles of this origin, and mails are served from it.
fn may_run(kind: &str) -> bool {
    let Some((top, subtype)) = kind.split_once('/') else {
        return true;
    };
    let word = |word: &str| {
        RUN.iter().any(|run| {
            let version = word.strip_prefix(run);
            version.is_some_and(|v| v.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    match top {
        "text" => !PLAIN.contains(&subtype),
        "multipart" => true,
        _ => subtype.split(['.', '-', '+', '_']).any(word),
    }
}

/// The whole mail, as text or as a file.
pub(crate) fn raw(id: &str, download: bool, bytes: Vec<u8>) -> Response {
    let kind = "text/plain; charset=utf-8";
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    if download && let Ok(value) = disposition(false, &format!("{id}.eml")).parse() {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// What RFC 8187 codes in a name: all but the letters, digits and marks of RFC 3986 section 2.3.
const CODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// RFC 6266: an ASCII name for old clients and the real one in the form of RFC 8187. Characters
/// that could end the header, leave the folder or hide the file are replaced.
pub(crate) fn disposition(inline: bool, name: &str) -> String {
    let name = safe_name(name);
    let ascii: String = name
        .chars()
        .map(|c| {
            if c.is_ascii() && !"\"\\%;".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    let coded = utf8_percent_encode(&name, CODED);
    let kind = if inline { "inline" } else { "attachment" };
    format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{coded}")
}

/// A name that is a file name: one line, no path, not empty, not hidden, at most 150 letters.
pub(crate) fn safe_name(name: &str) -> String {
    let unfit = |c: char| c.is_control() || "/\\:*?<>|\"".contains(c) || reorders(c);
    let tidy: String = name
        .chars()
        .map(|c| if unfit(c) { '_' } else { c })
        .take(150)
        .collect();
    match tidy.trim().trim_start_matches('.') {
        "" => "unnamed".to_owned(),
        tidy => tidy.to_owned(),
    }
}

/// Marks that make `gpj.exe` read `exe.jpg`.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_breaks_out_of_the_header_or_the_folder() {
        for (name, ascii, coded) in [
            ("report.pdf", "report.pdf", "report.pdf"),
            ("a b.txt", "a b.txt", "a%20b.txt"),
            ("größe.txt", "gr__e.txt", "gr%C3%B6%C3%9Fe.txt"),
            (
                "x\r\nSet-Cookie: a=b",
                "x__Set-Cookie_ a=b",
                "x__Set-Cookie_%20a%3Db",
            ),
            (
                "\"; filename=evil.exe",
                "__ filename=evil.exe",
                "_%3B%20filename%3Devil.exe",
            ),
            ("../../etc/passwd", "_.._etc_passwd", "_.._etc_passwd"),
            ("photo\u{202e}gpj.exe", "photo_gpj.exe", "photo_gpj.exe"),
            ("", "unnamed", "unnamed"),
            (" .. ", "unnamed", "unnamed"),
            ("100%.txt", "100_.txt", "100%25.txt"),
        ] {
            let want = format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{coded}");
            assert_eq!(disposition(false, name), want, "{name:?}");
        }
        assert_eq!(safe_name(&"ä".repeat(500)).chars().count(), 150);
    }
}
