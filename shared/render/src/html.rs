//! Finds the insertion points of an HTML text, and inserts there.
//!
//! The parser only reads: its positions say which bytes to replace, and every other byte is copied.
//! (Its writer would normalise white space inside each tag it touches.)

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, MemorySettings, Settings, element};

/// The value of one quoted `href` of an `<a>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) range: Range<usize>,
    pub(crate) quote: char,
}

/// The insertion points of an HTML text.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// In the order of the text.
    pub(crate) anchors: Vec<Anchor>,
    /// Where the visible part ends: before the last `</body>`, or `</html>`, or at the end.
    pub(crate) end: usize,
}

/// A replacement of some bytes.
pub(crate) type Edit = (Range<usize>, String);

/// The limit of the memory of `lol_html` for a text of this length: its buffers hold a tag at a time, and its
/// stack grows with open elements.
pub fn memory(length: usize) -> MemorySettings {
    MemorySettings::new().with_max_allowed_memory_usage((4 << 20) + 2 * length)
}

/// Scans an HTML text. Markup that is too deep for the memory limit yields the places found so far,
/// and its end is the end of the text.
pub(crate) fn look(html: &str) -> Places {
    let anchors = Rc::new(RefCell::new(Vec::new()));
    let body = Rc::new(Cell::new(None));
    let page = Rc::new(Cell::new(None));
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(memory(html.len()))
        .append_element_content_handler(element!("a[href]", |element| {
            if let Some(anchor) = anchor(element, html) {
                anchors.borrow_mut().push(anchor);
            }
            Ok(())
        }))
        .append_element_content_handler(element!("body", |element| {
            note_end(element, &body);
            Ok(())
        }))
        .append_element_content_handler(element!("html", |element| {
            note_end(element, &page);
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(html.as_bytes()).is_ok() && rewriter.end().is_ok();
    let end = body.get().or(page.get()).filter(|_| read);
    Places {
        anchors: anchors.take(),
        end: end.unwrap_or(html.len()),
    }
}

fn note_end(element: &mut Element<'_, '_>, place: &Rc<Cell<Option<usize>>>) {
    let place = Rc::clone(place);
    if let Some(handlers) = element.end_tag_handlers() {
        handlers.push(Box::new(move |end| {
            place.set(Some(end.source_location().bytes().start));
            Ok(())
        }));
    }
}

/// The `href` of an anchor, when it is one that may be tracked: quoted, without blanks around the
/// `=` (API facts 7), and not opted out with `clicktracking=off`.
fn anchor(element: &Element<'_, '_>, html: &str) -> Option<Anchor> {
    let mut href = None;
    for attribute in element.attributes() {
        match attribute.name().as_str() {
            // The first of two equal attributes is the one that counts (HTML, 13.2.5.33).
            "href" if href.is_none() => href = Some(attribute.value_source_location()?.bytes()),
            "clicktracking" if attribute.value().trim().eq_ignore_ascii_case("off") => return None,
            _ => {}
        }
    }
    let range = href?;
    let before = html.get(..range.start)?;
    let quote = before
        .chars()
        .next_back()
        .filter(|c| *c == '"' || *c == '\'')?;
    before
        .strip_suffix(quote)?
        .strip_suffix('=')?
        .chars()
        .next_back()
        .filter(|c| !c.is_whitespace())?;
    Some(Anchor { range, quote })
}

/// The text with its edits applied. They are in order and do not overlap.
pub(crate) fn splice(html: &str, edits: &[Edit]) -> String {
    let grown: usize = edits.iter().map(|(_, new)| new.len()).sum();
    let mut out = String::with_capacity(html.len() + grown);
    let mut rest = 0;
    for (range, new) in edits {
        out.push_str(html.get(rest..range.start).unwrap_or_default());
        out.push_str(new);
        rest = range.end;
    }
    out.push_str(html.get(rest..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_where_the_parser_saw_them() {
        let html = "<html><body>é<a href='x'>1</a><A class=b HREF=\"y\">2</A></body></html>";
        let places = look(html);
        let values: Vec<_> = places
            .anchors
            .iter()
            .map(|anchor| (&html[anchor.range.clone()], anchor.quote))
            .collect();
        assert_eq!(values, [("x", '\''), ("y", '"')]);
        assert_eq!(&html[places.end..], "</body></html>");
    }

    #[test]
    fn the_parser_gives_up_in_time_and_the_end_is_then_the_end() {
        let html = format!("<body><a href=\"x\">{}", "<i>".repeat(400_000));
        assert_eq!(look(&html).end, html.len());
    }

    #[test]
    fn edits_replace_their_ranges_only() {
        let edits = [
            (0..1, "A".to_owned()),
            (2..2, "+".to_owned()),
            (3..5, String::new()),
        ];
        assert_eq!(splice("abcdef", &edits), "Ab+cf");
        assert_eq!(splice("abc", &[]), "abc");
    }
}
