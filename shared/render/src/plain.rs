//! Converts between HTML and plain text.

use std::cell::RefCell;
use std::rc::Rc;

use lol_html::html_content::{Element, TextChunk, TextType};
use lol_html::{HtmlRewriter, Settings, doc_text, element};

use crate::entity::{self, EntityContext};
use crate::html;

/// The readable text of the HTML: text, line breaks where blocks end, list marks, and the target of
/// each link after its words.
pub fn from_html(html: &str) -> String {
    let page = Rc::new(RefCell::new(PlainText::default()));
    let (words, tags) = (Rc::clone(&page), Rc::clone(&page));
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(html::memory(html.len()))
        .append_element_content_handler(element!("*", move |element| {
            tag(element, &tags);
            Ok(())
        }))
        .append_document_content_handler(doc_text!(move |chunk| {
            words.borrow_mut().text(chunk);
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // A page that exceeds the memory limit is cut there.
    let read = rewriter.write(html.as_bytes()).is_ok();
    if read {
        let _ = rewriter.end();
    }
    let mut page = page.take();
    page.end_line();
    page.out.trim_end().to_owned()
}

/// Text as HTML: escaped, with its line breaks.
pub(crate) fn to_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for (i, line) in text.lines().enumerate() {
        if i > 0 {
            out.push_str("<br>\n");
        }
        out.extend(entity::escaped(line, &['&', '<', '>']));
    }
    out
}

#[derive(Default)]
struct PlainText {
    out: String,
    /// The current text node, with its references.
    raw: String,
    /// Line ends pending before the next word.
    breaks: usize,
    space: bool,
    preformatted: usize,
    link: Option<Link>,
}

/// The open link. There is one at most: the next one ends it (HTML Living Standard, 13.2.6.4.7, a
/// start tag "a").
struct Link {
    /// Where its words begin.
    start: usize,
    /// Its target, as it is written after the words.
    shown: String,
}

impl PlainText {
    fn text(&mut self, chunk: &TextChunk<'_>) {
        match chunk.text_type() {
            TextType::Data => {}
            // Titles, styles and scripts are not shown.
            TextType::PlainText
            | TextType::RCData
            | TextType::RawText
            | TextType::ScriptData
            | TextType::CDataSection => return,
        }
        self.raw.push_str(chunk.as_str());
        if chunk.last_in_text_node() {
            let raw = std::mem::take(&mut self.raw);
            self.words(&entity::decode(&raw, EntityContext::Text));
        }
    }

    fn words(&mut self, text: &str) {
        if self.preformatted > 0 {
            self.start_word();
            self.out.push_str(text);
            return;
        }
        // Blanks collapse; the no-break space does not, but becomes a blank.
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                self.space = true;
            } else if !INVISIBLE.contains(&c) {
                self.start_word();
                self.out.push(if c == '\u{a0}' { ' ' } else { c });
            }
        }
    }

    fn start_word(&mut self) {
        if self.breaks > 0 {
            let kept = self.out.trim_end_matches([' ', '\t']).len();
            self.out.truncate(kept);
            if !self.out.is_empty() {
                for _ in 0..self.breaks {
                    self.out.push('\n');
                }
            }
        } else if self.space && !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.breaks = 0;
        self.space = false;
    }

    fn end_link(&mut self) {
        let Some(Link { start, shown }) = self.link.take() else {
            return;
        };
        let words = self.out.get(start..).unwrap_or_default().trim();
        if words == shown {
            return;
        }
        let bare = words.is_empty();
        self.space = true;
        self.start_word();
        self.out
            .push_str(&if bare { shown } else { format!("( {shown} )") });
    }

    /// At least this many line ends before the next word.
    fn end_line(&mut self) {
        self.breaks = self.breaks.max(1);
    }

    fn end_paragraph(&mut self) {
        self.breaks = self.breaks.max(2);
    }

    fn break_line(&mut self) {
        self.breaks = (self.breaks + 1).min(3);
    }
}

/// Soft hyphens, and the joiners and marks that pad preheaders.
const INVISIBLE: [char; 8] = [
    '\u{ad}', '\u{34f}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{feff}',
];

fn tag(element: &mut Element<'_, '_>, page: &Rc<RefCell<PlainText>>) {
    let name = element.tag_name();
    let open = page.clone();
    let mut open = open.borrow_mut();
    match name.as_str() {
        "br" => open.break_line(),
        "hr" => {
            open.end_line();
            open.start_word();
            open.out.push_str("----");
            open.end_line();
        }
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "ul" | "ol" | "pre" => {
            open.end_paragraph();
            if name == "pre" {
                open.preformatted += 1;
            }
            at_end(element, page, move |page| {
                if name == "pre" {
                    page.preformatted = page.preformatted.saturating_sub(1);
                }
                page.end_paragraph();
            });
        }
        "div" | "tr" | "table" | "section" | "article" | "header" | "footer" | "center" | "dt"
        | "dd" | "title" | "body" => {
            open.end_line();
            at_end(element, page, PlainText::end_line);
        }
        "td" | "th" => {
            open.space = true;
            at_end(element, page, |page| page.space = true);
        }
        "li" => {
            open.end_line();
            open.start_word();
            open.out.push_str("* ");
            at_end(element, page, PlainText::end_line);
        }
        "img" => {
            let alt = element.get_attribute("alt").unwrap_or_default();
            open.words(&entity::decode(&alt, EntityContext::Attribute));
        }
        "a" => {
            drop(open);
            link(element, page);
        }
        _ => {}
    }
}

/// `words ( target )`, or only the target when the words are the target.
fn link(element: &mut Element<'_, '_>, page: &Rc<RefCell<PlainText>>) {
    let Some(href) = element.get_attribute("href") else {
        return;
    };
    let target = entity::decode(href.trim(), EntityContext::Attribute).into_owned();
    let shown = target.strip_prefix("mailto:").unwrap_or(&target);
    let worth = target.contains(':') || target.starts_with("<%") || target.contains("{{");
    if !worth || shown.is_empty() {
        return;
    }
    let mut open = page.borrow_mut();
    if open.link.is_some() {
        open.end_link();
        open.space = true;
    }
    open.link = Some(Link {
        start: open.out.len(),
        shown: shown.to_owned(),
    });
    drop(open);
    at_end(element, page, PlainText::end_link);
}

fn at_end(
    element: &mut Element<'_, '_>,
    page: &Rc<RefCell<PlainText>>,
    act: impl FnOnce(&mut PlainText) + 'static,
) {
    let page = Rc::clone(page);
    if let Some(handlers) = element.end_tag_handlers() {
        handlers.push(Box::new(move |_| {
            act(&mut page.borrow_mut());
            Ok(())
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(html: &str, want: &str) {
        assert_eq!(from_html(html), want, "html: {html:?}");
    }

    #[test]
    fn html_reads_as_a_person_would() {
        check("", "");
        check("Hello", "Hello");
        check("<p>One &amp; two</p>\n<p>Three</p>", "One & two\n\nThree");
        check("a<br>b<br/><br>c", "a\nb\n\nc");
        check("<div>a<div>b</div></div>c", "a\nb\nc");
        check("  lots\n of\t  <b>white </b> space ", "lots of white space");
        check("<ul><li>x</li><li>y</li></ul>z", "* x\n* y\n\nz");
        check(
            "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>",
            "a b\nc",
        );
        check("<pre>a\n  b</pre>c", "a\n  b\n\nc");
        check(
            "<head><title>T</title><style>a{}</style></head><script>x</script>body",
            "body",
        );
        check("<!-- no --><!--[if mso]><p>no</p><![endif]-->yes", "yes");
        check("x&nbsp;y&zwnj;&#847;", "x y");
        check("<img src=x alt='A &lt; B'>", "A < B");
        check("a<hr>b", "a\n----\nb");
    }

    #[test]
    fn links_show_where_they_lead() {
        check(
            r#"<a href="https://x.co/?a=1&amp;b=2">go</a>!"#,
            "go ( https://x.co/?a=1&b=2 )!",
        );
        check(r#"<a href="https://x.co">https://x.co</a>"#, "https://x.co");
        check(r#"<a href="mailto:a@x.co">a@x.co</a>"#, "a@x.co");
        check(r##"<a href="#top">top</a> <a name=x>y</a>"##, "top y");
        check(r#"<a href="https://x.co"><img src=x></a>"#, "https://x.co");
        // A link does not hold another: the second ends the first.
        check(
            r#"<a href="https://x.co">a <a href="https://y.co">b</a> c</a>"#,
            "a ( https://x.co ) b ( https://y.co ) c",
        );
    }

    #[test]
    fn text_becomes_html_that_reads_the_same() {
        assert_eq!(to_html("a < b & c\nd"), "a &lt; b &amp; c<br>\nd");
        check(&to_html("a < b & c\n\nd"), "a < b & c\n\nd");
    }

    proptest! {
        #[test]
        fn no_html_makes_the_reader_panic(html in "(<|>|/|a|p|pre|li|&|;|amp|br|\"|'|=|!|-|href|[ -~é])*") {
            from_html(&html);
        }
    }
}
