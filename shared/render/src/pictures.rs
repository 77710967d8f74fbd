//! Pictures that a mail carries itself, where its HTML names them by their content ids (RFC 2392).

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{HandlerResult, HtmlRewriter, Settings, element, text};
use percent_encoding::percent_decode_str;

use crate::html::memory;

/// Attributes of one element that are rewritten. A browser allows thousands, but setting one searches all of them.
const MOST_ATTRIBUTES: usize = 1_000;

/// Where the pictures of a mail are.
pub struct OwnPictures<F> {
    /// The address of the picture with a content id, if the mail has one.
    address: F,
    /// Bytes of addresses that may yet be placed.
    room: Cell<usize>,
}

impl<F: Fn(&str) -> Option<String>> OwnPictures<F> {
    /// Places addresses of at most `room` bytes in all: a mail may name one picture any number of times.
    pub fn new(room: usize, address: F) -> Self {
        Self {
            address,
            room: Cell::new(room),
        }
    }

    /// Replaces every `cid:…` in an attribute or a style sheet that names a part of the mail, in one pass.
    pub fn placed_in<'t>(&self, value: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        // Up to where `value` has been copied, and up to where it has been read.
        let (mut copied, mut read) = (0, 0);
        for (colon, _) in value.match_indices(':') {
            let start = colon.saturating_sub(3);
            let scheme = value.as_bytes().get(start..colon).unwrap_or_default();
            if start < read || !scheme.eq_ignore_ascii_case(b"cid") {
                continue;
            }
            if self.room.get() == 0 {
                break;
            }
            let name = value.get(colon + 1..).unwrap_or_default();
            let end = name.find(|c: char| c.is_whitespace() || "\"'()<>,;".contains(c));
            let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
            read = colon + 1 + name.len();
            let address = (self.address)(name).or_else(|| (self.address)(&decoded(name)));
            if let Some(address) = address {
                let Some(room) = self.room.get().checked_sub(address.len()) else {
                    self.room.set(0);
                    break;
                };
                self.room.set(room);
                out.push_str(value.get(copied..start).unwrap_or_default());
                out.push_str(&address);
                copied = read;
            }
        }
        if copied == 0 {
            return Cow::Borrowed(value);
        }
        out.push_str(value.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// The same in all attributes of an element.
    ///
    /// # Errors
    /// The parser's, which end the reading of the text.
    pub fn place(&self, element: &mut Element<'_, '_>) -> HandlerResult {
        if element.attributes().len() > MOST_ATTRIBUTES {
            return Ok(());
        }
        let attributes = element.attributes().iter();
        let changed: Vec<_> = attributes
            .filter_map(|attribute| match self.placed_in(&attribute.value()) {
                Cow::Owned(value) => Some((attribute.name(), value)),
                Cow::Borrowed(_) => None,
            })
            .collect();
        for (name, value) in changed {
            element.set_attribute(&name, &value)?;
        }
        Ok(())
    }
}

/// An HTML text with the addresses of its mail's own pictures. Markup that cannot be read, or nests too deep, is left as
/// it is.
pub fn with_pictures<F: Fn(&str) -> Option<String>>(
    html: &str,
    pictures: &OwnPictures<F>,
) -> String {
    let style = RefCell::new(String::new());
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(memory(html.len()))
        .append_element_content_handler(element!("*", |element| pictures.place(element)))
        .append_element_content_handler(text!("style", |chunk: &mut TextChunk<'_>| {
            style.borrow_mut().push_str(chunk.as_str());
            if chunk.last_in_text_node() {
                let sheet = style.take();
                chunk.replace(&pictures.placed_in(&sheet), ContentType::Html);
            } else {
                chunk.remove();
            }
            Ok(())
        }));
    let mut out = Vec::with_capacity(html.len());
    let mut rewriter = HtmlRewriter::new(settings, |chunk: &[u8]| out.extend_from_slice(chunk));
    let read = rewriter.write(html.as_bytes());
    let read = read.and_then(|()| rewriter.end());
    let whole = read.ok().and_then(|()| String::from_utf8(out).ok());
    whole.unwrap_or_else(|| html.to_owned())
}

/// A content id out of a URL: `%40` is `@` (RFC 2392), `&amp;` is `&` (HTML).
fn decoded(name: &str) -> String {
    let name = name.replace("&amp;", "&");
    percent_decode_str(&name).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(id: &str) -> Option<String> {
        let known = [("logo@x", "/p/1"), ("b", "/p/2")];
        let found = known.iter().find(|(name, _)| *name == id);
        found.map(|(_, address)| (*address).to_owned())
    }

    #[test]
    fn pictures_are_placed_wherever_the_html_names_them() {
        for (html, want) in [
            ("<img src=\"cid:logo@x\">", "<img src=\"/p/1\">"),
            ("<img src=CID:logo%40x>", "<img src=\"/p/1\">"),
            (
                "<td background=cid:b style=\"background:url('cid:logo@x') cid:b\">",
                "<td background=\"/p/2\" style=\"background:url('/p/1') /p/2\">",
            ),
            (
                "<style>a{background:url(cid:b)}</style><p title=a:b>cid:b",
                "<style>a{background:url(/p/2)}</style><p title=a:b>cid:b",
            ),
        ] {
            let pictures = OwnPictures::new(100, address);
            assert_eq!(with_pictures(html, &pictures), want);
        }
    }

    #[test]
    fn what_names_no_picture_stays_as_it_is() {
        for html in [
            "<img  src='cid:none'>",
            "<img src=xcid>",
            "cid:b",
            "ä:b",
            ":",
        ] {
            let pictures = OwnPictures::new(100, address);
            assert_eq!(with_pictures(html, &pictures), html);
        }
    }

    #[test]
    fn a_picture_that_is_named_too_often_ends_the_placing() {
        let pictures = OwnPictures::new(9, address);
        let html = "<img src=cid:b><img src=cid:b><img src=cid:b><img src=cid:b>";
        let want = "<img src=\"/p/2\"><img src=\"/p/2\"><img src=cid:b><img src=cid:b>";
        assert_eq!(with_pictures(html, &pictures), want);
    }

    #[test]
    fn markup_that_nests_too_deep_is_left_as_it_is() {
        let html = format!("<img src=cid:b>{}", "<i>".repeat(400_000));
        let pictures = OwnPictures::new(100, address);
        assert_eq!(with_pictures(&html, &pictures), html);
    }
}
