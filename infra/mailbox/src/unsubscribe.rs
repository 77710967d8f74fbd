//! The `List-Unsubscribe` headers (RFC 2369, RFC 8058), validated as in Mailpit.

use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use crate::headers;

/// Links, or texts in their place, that are validated: each may be repeated in the errors.
const MOST: usize = 100;

/// The content of the headers, and the errors in it.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListUnsubscribe {
    pub header: String,
    /// At most one `mailto:` and one `http(s):` link.
    pub links: Vec<String>,
    /// Empty when the headers are valid.
    pub errors: String,
    pub header_post: String,
}

impl ListUnsubscribe {
    /// Reads the headers of a mail.
    pub(crate) fn of(mail: &ParsedMail<'_>) -> Self {
        let value = |name: &str| headers::first(mail, name);
        Self::judge(value("List-Unsubscribe"), value("List-Unsubscribe-Post"))
    }

    fn judge(header: String, header_post: String) -> Self {
        let mut links = Vec::new();
        let mut errors = Vec::new();
        // A link may hold commas itself, so they separate only outside the brackets.
        let mut rest = header.as_str();
        for item in std::iter::from_fn(|| next(&mut rest)).take(MOST) {
            let Some(link) = item.strip_prefix('<') else {
                errors.push(format!("\"{item}\" should be enclosed in <>"));
                continue;
            };
            let kind = kind_of(link);
            if link.contains(char::is_whitespace) {
                errors.push(format!("\"{link}\" should not contain spaces"));
            } else if kind.is_none() {
                let want = "should start with either http(s):// or mailto:";
                errors.push(format!("\"{link}\" {want}"));
            } else if links.iter().any(|other: &String| kind_of(other) == kind) {
                errors.push(format!("\"{link}\" is one link of its kind too many"));
            } else {
                links.push(link.to_owned());
            }
        }
        Self {
            errors: errors.join(", "),
            header,
            links,
            header_post,
        }
    }
}

/// The next `<link` without its closing bracket, or a text that is not enclosed.
fn next<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    let end = if text.starts_with('<') { '>' } else { ',' };
    let (item, after) = text.split_once(end).unwrap_or((text, ""));
    *rest = after;
    let item = item.trim();
    (!item.is_empty()).then_some(item)
}

fn kind_of(link: &str) -> Option<&'static str> {
    let lower = link.to_ascii_lowercase();
    let after = |scheme: &str| {
        let rest = lower.strip_prefix(scheme)?;
        rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            .then_some(())
    };
    match () {
        () if after("mailto:").is_some() => Some("mailto"),
        () if after("http://").or(after("https://")).is_some() => Some("http"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_links_are_listed_and_bad_ones_named() {
        for (header, links, errors) in [
            ("", &[][..], 0),
            (
                "<mailto:a@b.co?subject=x>, <https://b.co/u?x=1,2>",
                &["mailto:a@b.co?subject=x", "https://b.co/u?x=1,2"],
                0,
            ),
            ("https://b.co/u", &[], 1),
            ("<javascript:alert(1)>, <http://b.co>", &["http://b.co"], 1),
            ("<http://a.co>, <http://b.co>", &["http://a.co"], 1),
            ("<http://a.co/x y>", &[], 1),
        ] {
            let judged = ListUnsubscribe::judge(header.to_owned(), String::new());
            assert_eq!(judged.links, links, "{header}");
            let found = judged.errors.matches('"').count() / 2;
            assert_eq!(found, errors, "{header}: {}", judged.errors);
        }
    }
}
