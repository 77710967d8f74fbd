//! How a mail is looked at: what its frame may load, and whether it is shown as programs show it that are set to
//! dark.

/// How a mail is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Links open in a window of their own.
    pub embed: bool,
    /// As in a program that is set to dark.
    pub dark: bool,
}

/// The `Content-Security-Policy` of the frame's document.
pub(crate) fn policy(images: bool) -> String {
    let remote = if images { " http: https:" } else { "" };
    format!(
        "default-src 'none'; img-src 'self' data:{remote}; style-src 'unsafe-inline'; font-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'; \
         sandbox allow-popups allow-popups-to-escape-sandbox"
    )
}

/// The colours that a program which is set to dark has below a mail that brings none.
pub(crate) const START: &str =
    "<style>:root{color-scheme:dark;background:#121212;color:#e8e8e8}</style>";

/// The document's type with what precedes it, and the rest. A style before it would change how the
/// rest is laid out.
pub(crate) fn after_doctype(html: &str) -> (&str, &str) {
    let start = html.trim_start();
    let is_typed = start
        .get(..9)
        .is_some_and(|start| start.eq_ignore_ascii_case("<!doctype"));
    let end = html.find('>').filter(|_| is_typed);
    html.split_at(end.map_or(0, |end| end + 1))
}

/// A style sheet or a media query as a program reads it that is set to dark, whatever the browser is
/// set to.
pub(crate) fn as_dark(text: &str) -> String {
    const QUERY: &str = "prefers-color-scheme";
    /// Longer than any such condition.
    const LONGEST: usize = 64;
    let lower = text.to_ascii_lowercase();
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for at in memchr::memmem::find_iter(lower.as_bytes(), QUERY) {
        let after = lower.get(at + QUERY.len()..).unwrap_or_default();
        let mut near = after.bytes().take(LONGEST);
        let Some(end) = near.position(|byte| byte == b')') else {
            continue;
        };
        let asked = after.get(..end).unwrap_or_default();
        let asked = asked
            .trim_start_matches([':', ' ', '\t', '\r', '\n'])
            .trim_end();
        // Conditions that are always and never met.
        let condition = match asked {
            "" | "dark" => "min-width:0",
            "light" => "max-width:0",
            _ => continue,
        };
        out.push_str(text.get(copied..at).unwrap_or_default());
        out.push_str(condition);
        copied = at + QUERY.len() + end;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_for_dark_apply_and_those_for_light_do_not() {
        for (text, want) in [
            (
                "@media (Prefers-Color-Scheme: dark){a{color:red}} ä",
                "@media (min-width:0){a{color:red}} ä",
            ),
            ("(prefers-color-scheme:light)", "(max-width:0)"),
            ("(prefers-color-scheme)", "(min-width:0)"),
            (
                "(prefers-color-scheme: sepia)",
                "(prefers-color-scheme: sepia)",
            ),
            ("prefers-color-scheme: dark", "prefers-color-scheme: dark"),
            ("", ""),
        ] {
            assert_eq!(as_dark(text), want);
        }
    }

    #[test]
    fn a_document_keeps_its_type_at_its_beginning() {
        for (html, want) in [
            ("<!DOCTYPE html><p>", "<!DOCTYPE html>"),
            (
                " \n<!doctype html PUBLIC \"x\">a",
                " \n<!doctype html PUBLIC \"x\">",
            ),
            ("<!doctype html", ""),
            ("<p>a", ""),
            ("", ""),
        ] {
            assert_eq!(after_doctype(html).0, want, "{html:?}");
        }
    }

    #[test]
    fn remote_pictures_are_loaded_only_when_asked() {
        assert!(!policy(false).contains("http"));
        assert!(policy(true).contains("img-src 'self' data: http: https:;"));
        for images in [false, true] {
            let policy = policy(images);
            assert!(policy.starts_with("default-src 'none';"));
            assert!(policy.contains("; sandbox allow-popups"));
            assert!(!policy.contains("script"), "{policy}");
            assert!(!policy.contains("same-origin"));
        }
    }
}
