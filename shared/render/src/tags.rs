//! Tags of the form `<%name%>`, in the three spellings that HTML editors leave behind:
//! as they are, as character references (`&lt;%name%&gt;`), percent-encoded (`%3C%25name%25%3E`).

use std::ops::Range;

/// The longest inside of a tag. What is longer is text with two odd marks in it.
const LONGEST: usize = 1_000;

const SPELLINGS: [(&str, &str); 3] = [("<%", "%>"), ("&lt;%", "%&gt;"), ("%3C%25", "%25%3E")];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// The inside, without blanks around it.
    pub(crate) name: &'t str,
    pub(crate) range: Range<usize>,
    /// Whether it stands alone as an attribute's value, where only a bare URL can go.
    pub(crate) in_attribute: bool,
}

/// The tags of a text, in order.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (start, open, close) = next(text, at)?;
            let inside = start + open.len();
            let window = text.get(inside..)?;
            let window = window.get(..floor(window, LONGEST)).unwrap_or(window);
            let Some(length) = window.find(close) else {
                at = inside;
                continue;
            };
            let end = inside + length + close.len();
            at = end;
            return Some(Tag {
                name: text.get(inside..inside + length)?.trim(),
                range: start..end,
                in_attribute: text
                    .get(..start)
                    .is_some_and(|before| before.ends_with(['"', '\'', '='])),
            });
        }
    })
}

/// The largest place not past `at` that does not split a character.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|i| text.is_char_boundary(*i))
        .unwrap_or(0)
}

/// Where the next tag opens, and how it is spelled.
fn next(text: &str, at: usize) -> Option<(usize, &'static str, &'static str)> {
    // Every opening mark holds a percent sign, which is rare.
    let mut from = at;
    while let Some(found) = text.get(from..)?.find('%') {
        let percent = from + found;
        for (open, close) in SPELLINGS {
            let offset = open.find('%').unwrap_or_default();
            let Some(start) = percent.checked_sub(offset).filter(|start| *start >= at) else {
                continue;
            };
            if text.get(start..).is_some_and(|rest| rest.starts_with(open)) {
                return Some((start, open, close));
            }
        }
        from = percent + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, want: &[(&str, &str, bool)]) {
        let got: Vec<_> = find(text)
            .map(|tag| (tag.name, &text[tag.range], tag.in_attribute))
            .collect();
        assert_eq!(got, want, "text: {text:?}");
    }

    #[test]
    fn tags_are_found_in_each_spelling() {
        check("", &[]);
        check("100% <b>5%</b>", &[]);
        check("a <%body%> b", &[("body", "<%body%>", false)]);
        check(
            "<% click here %>",
            &[("click here", "<% click here %>", false)],
        );
        check("<% %>", &[("", "<% %>", false)]);
        check("<%%>", &[("", "<%%>", false)]);
        check(
            "<%a%><%b%>",
            &[("a", "<%a%>", false), ("b", "<%b%>", false)],
        );
        check("&lt;%a%&gt;", &[("a", "&lt;%a%&gt;", false)]);
        check(
            r#"<a href="%3C%25a%25%3E">"#,
            &[("a", "%3C%25a%25%3E", true)],
        );
        check("<a href=<%a%>>", &[("a", "<%a%>", true)]);
        check("<%open only", &[]);
        check("<% a <%b%>", &[("a <%b", "<% a <%b%>", false)]);
        check("ü<%é%>ü", &[("é", "<%é%>", false)]);
    }

    #[test]
    fn a_tag_is_no_longer_than_a_line() {
        let far = format!("<%{}%>", "é".repeat(LONGEST));
        check(&far, &[]);
    }

    proptest! {
        #[test]
        fn any_text_splits_into_tags_in_order(text in "(<%|%>|&lt;%|%&gt;|%3C%25|%25%3E|%|[a-zé ])*") {
            let mut at = 0;
            for tag in find(&text) {
                prop_assert!(tag.range.start >= at && text.get(tag.range.clone()).is_some());
                at = tag.range.end;
            }
        }
    }
}
