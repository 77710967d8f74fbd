//! What a style sheet, or a `style` attribute, uses: read in one pass, without an idea of what it applies to.

/// A use of CSS, with its name in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CssUse<'a> {
    Property(&'a str),
    /// A word in the value of a property.
    Value(&'a str, &'a str),
    Function(&'a str),
    Unit(&'a str),
    Important,
    /// A rule that begins with `@`.
    At(&'a str),
    /// A feature that `@media` asks for.
    Media(&'a str),
    /// A pseudo class or element of a selector.
    Pseudo(&'a str),
}

/// Reports every use in CSS, which may be broken in any way.
pub(super) fn read(css: &str, mut report: impl FnMut(CssUse<'_>)) {
    let css = without_comments(&css.to_ascii_lowercase());
    let mut rest = css.as_str();
    while !rest.is_empty() {
        let end = piece_end(rest);
        let piece = rest.get(..end).unwrap_or(rest).trim();
        if rest.as_bytes().get(end) == Some(&b'{') || piece.starts_with('@') {
            prelude(piece, &mut report);
        } else {
            declaration(piece, &mut report);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
}

fn without_comments(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.replace("<!--", " ").replace("-->", " ")
}

/// Where a selector or a declaration ends: at `;`, `{` or `}` outside of quotes and parentheses.
fn piece_end(css: &str) -> usize {
    let (mut quote, mut depth) = (None, 0_usize);
    let mut escaped = false;
    for (at, byte) in css.bytes().enumerate() {
        match (byte, quote) {
            _ if escaped => escaped = false,
            (b'\\', _) => escaped = true,
            (_, Some(open)) if byte == open => quote = None,
            // A string ends with its line.
            (b'\n', Some(_)) => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'(', None) => depth += 1,
            (b')', None) => depth = depth.saturating_sub(1),
            // A brace ends what was not closed.
            (b'{' | b'}', None) => return at,
            (b';', None) if depth == 0 => return at,
            _ => {}
        }
    }
    css.len()
}

/// A selector, or the beginning of a rule with `@`.
fn prelude(text: &str, report: &mut impl FnMut(CssUse<'_>)) {
    let Some(rule) = text.strip_prefix('@') else {
        for (at, _) in text.match_indices(':') {
            let name = word(text.get(at + 1..).unwrap_or_default());
            if !name.is_empty() {
                report(CssUse::Pseudo(name));
            }
        }
        return;
    };
    let name = word(rule);
    report(CssUse::At(name));
    if name == "media" {
        for (at, _) in rule.match_indices('(') {
            let feature = rule.get(at + 1..).unwrap_or_default().trim_start();
            report(CssUse::Media(word(feature)));
        }
    }
}

fn declaration(text: &str, report: &mut impl FnMut(CssUse<'_>)) {
    let Some((name, value)) = text.split_once(':') else {
        return;
    };
    let name = name.trim();
    report(CssUse::Property(name));
    if value.contains("!important") {
        report(CssUse::Important);
    }
    let mut rest = value;
    while let Some(at) = rest.find(is_word) {
        rest = rest.get(at..).unwrap_or_default();
        let word = word(rest);
        rest = rest.get(word.len()..).unwrap_or_default();
        let number = word.trim_start_matches(['-', '+']);
        let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if !word.contains(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        if rest.starts_with('(') {
            report(CssUse::Function(word));
        } else if unit.len() < number.len() {
            report(CssUse::Unit(unit));
        } else {
            report(CssUse::Value(name, word));
        }
    }
}

/// The word that the text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(css: &str, want: &[&str]) {
        let mut found = Vec::new();
        read(css, |one| {
            found.push(match one {
                CssUse::Property(name) => format!("{name}:"),
                CssUse::Value(name, value) => format!("{name}={value}"),
                CssUse::Function(name) => format!("{name}()"),
                CssUse::Unit(name) => format!("1{name}"),
                CssUse::Important => "!".to_owned(),
                CssUse::At(name) => format!("@{name}"),
                CssUse::Media(name) => format!("({name})"),
                CssUse::Pseudo(name) => format!(":{name}"),
            });
        });
        found.retain(|one| !matches!(one.as_str(), ":" | "1"));
        assert_eq!(found, want, "{css}");
    }

    #[test]
    fn what_css_uses_is_found() {
        check(
            "Display: FLEX; width:calc(100% - 2rem)!important",
            &[
                "display:",
                "display=flex",
                "width:",
                "!",
                "calc()",
                "1rem",
                "width=important",
            ],
        );
        check(
            "a:hover, p::after { color: rgb(1,2,3) } /* b { float: left } */",
            &[":hover", ":after", "color:", "rgb()"],
        );
        check(
            "@import url('a;b.css'); @media screen and (prefers-color-scheme: dark) { a { top: 0 } }",
            &["@import", "@media", "(prefers-color-scheme)", "top:"],
        );
        check(
            "background: url(data:image/png;base64,AA) no-repeat",
            &[
                "background:",
                "url()",
                "background=data",
                "background=image",
                "background=png",
                "background=base64",
                "background=AA".to_ascii_lowercase().as_str(),
                "background=no-repeat",
            ],
        );
    }

    #[test]
    fn broken_css_ends() {
        for (css, want) in [
            ("", &[][..]),
            ("}}}{{{;;;", &[]),
            ("/* never closed", &[]),
            ("color", &[]),
            (
                "content: \"open\n; top: 0",
                &["content:", "content=open", "top:"],
            ),
            (
                "width: calc(1px; } a { top: 0",
                &["width:", "calc()", "1px", "top:"],
            ),
            ("content: '\\", &["content:"]),
        ] {
            check(css, want);
        }
    }
}
