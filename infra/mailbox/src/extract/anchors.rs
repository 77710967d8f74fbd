//! The links of HTML, each with its words and with the text before it.

use std::cell::RefCell;
use std::rc::Rc;

use lol_html::html_content::{Element, TextChunk, TextType};
use lol_html::{HtmlRewriter, Settings, doc_text, element};
use posthaste_render::{EntityContext, decode_entities, html_memory};

use crate::mail;

/// Bytes of a label, or of the text between two links, before it is cut.
const LABEL: usize = 1600;

/// A link of HTML.
pub(super) struct HtmlAnchor {
    pub(super) url: String,
    /// Its words, and the alternative texts of its pictures.
    pub(super) label: String,
    /// The end of the text between the link before it and this one.
    pub(super) before: String,
}

/// The links of HTML in their order, at most `most`. HTML that exceeds the memory limit is read to there.
pub(super) fn anchors(html: &str, most: usize) -> Vec<HtmlAnchor> {
    let page = Rc::new(RefCell::new(HtmlReader {
        room: most,
        ..HtmlReader::default()
    }));
    let (tags, words) = (Rc::clone(&page), Rc::clone(&page));
    let memory = html_memory(html.len());
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(memory)
        .append_element_content_handler(element!("a, area, img", move |element| {
            tag(element, &tags);
            Ok(())
        }))
        .append_document_content_handler(doc_text!(move |chunk| {
            words.borrow_mut().text(chunk);
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    if rewriter.write(html.as_bytes()).is_ok() {
        let _ = rewriter.end();
    }
    let mut page = page.take();
    page.end_link();
    page.anchors
}

/// What was read of the HTML.
#[derive(Default)]
struct HtmlReader {
    anchors: Vec<HtmlAnchor>,
    /// How many more there may be.
    room: usize,
    open: Option<HtmlAnchor>,
    /// The current text node, with its references.
    raw: String,
    /// The text since the last link, its end.
    before: String,
}

impl HtmlReader {
    fn text(&mut self, chunk: &TextChunk<'_>) {
        if !matches!(chunk.text_type(), TextType::Data) {
            return;
        }
        self.raw.push_str(chunk.as_str());
        if chunk.last_in_text_node() {
            let raw = std::mem::take(&mut self.raw);
            self.words(&decode_entities(&raw, EntityContext::Text));
        }
    }

    fn words(&mut self, text: &str) {
        // Bounded: of a label the beginning counts, of other text the end.
        if let Some(anchor) = &mut self.open {
            if anchor.label.len() < LABEL {
                anchor.label.push(' ');
                anchor.label.push_str(mail::head(text, LABEL));
            }
            return;
        }
        self.before.push(' ');
        self.before.push_str(tail(text));
        if self.before.len() > LABEL {
            self.before = tail(&self.before).to_owned();
        }
    }

    fn end_link(&mut self) {
        if let Some(anchor) = self.open.take()
            && self.room > 0
        {
            self.room -= 1;
            self.anchors.push(anchor);
        }
    }
}

fn tag(element: &mut Element<'_, '_>, page: &Rc<RefCell<HtmlReader>>) {
    let mut open = page.borrow_mut();
    if element.tag_name() == "img" {
        let alt = element.get_attribute("alt").unwrap_or_default();
        open.words(&decode_entities(&alt, EntityContext::Attribute));
        return;
    }
    let Some(href) = element.get_attribute("href") else {
        return;
    };
    // A link does not hold another: the second ends the first.
    open.end_link();
    let before = std::mem::take(&mut open.before);
    open.open = Some(HtmlAnchor {
        url: decode_entities(&href, EntityContext::Attribute).into_owned(),
        label: String::new(),
        before: tail(&before).to_owned(),
    });
    if let Some(handlers) = element.end_tag_handlers() {
        let page = Rc::clone(page);
        handlers.push(Box::new(move |_| {
            page.borrow_mut().end_link();
            Ok(())
        }));
    } else {
        open.end_link();
    }
}

/// The end of the text before a link: what is on its line, and the line above.
pub(super) fn tail(text: &str) -> &str {
    const MOST: usize = 300;
    let mut from = text.len().saturating_sub(MOST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = text.get(from..).unwrap_or_default();
    // The line of the link may hold nothing before it, or only `<`.
    let mut lines = tail
        .rmatch_indices('\n')
        .map(|(at, _)| at + 1)
        .filter(|at| {
            let line = tail.get(*at..).unwrap_or_default();
            line.chars().any(char::is_alphabetic)
        });
    lines.next().and_then(|at| tail.get(at..)).unwrap_or(tail)
}
