//! Tags of the form `<%name%>`, in the three spellings that HTML editors leave behind:
//! as they are, as character references (`&lt;%name%&gt;`), percent-encoded (`%3C%25name%25%3E`).

use std::ops::Range;

/// The longest inside of a tag. A longer one is text with two unrelated marks in it.
const LONGEST: usize = 1_000;

const SPELLINGS: [(&str, &str); 3] = [("<%", "%>"), ("&lt;%", "%&gt;"), ("%3C%25", "%25%3E")];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// The inside, without blanks around it.
    pub(crate) name: &'t str,
    pub(crate) range: Range<usize>,
    /// Whether it is an attribute's whole value, where only a bare URL is allowed.
    pub(crate) in_attribute: bool,
}

/// The tags of a text, in order. The text is read once, however many marks never close.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    // The position of the next closing mark of each spelling, as far as known.
    let mut closes = [0; SPELLINGS.len()];
    std::iter::from_fn(move || {
        loop {
            let (start, spelling) = next(text, at)?;
            let (open, close) = SPELLINGS.get(spelling)?;
            let inside = start + open.len();
            let end = closes.get_mut(spelling)?;
            if *end < inside {
                let found = text.get(inside..)?.find(close);
                *end = found.map_or(text.len(), |found| inside + found);
            }
            let name = text.get(inside..*end)?;
            if name.len() > LONGEST || *end == text.len() {
                at = inside;
                continue;
            }
            at = *end + close.len();
            return Some(Tag {
                name: name.trim(),
                range: start..at,
                in_attribute: text
                    .get(..start)
                    .is_some_and(|before| before.ends_with(['"', '\'', '='])),
            });
        }
    })
}

/// Where the next tag opens, and how it is spelled.
fn next(text: &str, at: usize) -> Option<(usize, usize)> {
    // Every opening mark holds a percent sign, which is rare.
    let mut from = at;
    while let Some(found) = text.get(from..)?.find('%') {
        let percent = from + found;
        for (spelling, (open, _)) in SPELLINGS.iter().enumerate() {
            let offset = open.find('%').unwrap_or_default();
            let Some(start) = percent.checked_sub(offset).filter(|start| *start >= at) else {
                continue;
            };
            if text.get(start..).is_some_and(|rest| rest.starts_with(open)) {
                return Some((start, spelling));
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

    #[test]
    fn marks_that_never_close_are_read_once() {
        // Reading ahead from each mark would take a thousand times as long.
        let text = "<%&lt;%".repeat(200_000);
        assert_eq!(find(&text).count(), 0);
        assert_eq!(find(&format!("{text}%>")).count(), 1);
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
