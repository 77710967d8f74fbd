//! Converts the HTML of a mail to a document that can neither run anything nor phone home.
//!
//! The policy sent with it is the protection: no scripts, no origin, no forms, no remote loads
//! (pictures only on request). The rewriting is for display: it resolves pictures of the mail
//! itself, and links open beside the page. Removing scripts is only a second line of defence.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use askama::Template;
use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{HandlerResult, HtmlRewriter, Settings, element, text};
use posthaste_render::{OwnPictures, html_memory};

use crate::look::{Look, START, after_doctype, as_dark};
use crate::message::Full;

/// Attributes from which a browser loads pictures automatically.
const LOADS: [&str; 5] = ["src", "srcset", "background", "poster", "style"];

/// Bytes of the addresses of the mail's own pictures in one document: some thousand of them.
const ROOM: usize = 1 << 20;

/// A document to put into the frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub html: String,
    /// Whether the mail references remote pictures.
    pub remote: bool,
}

/// Rewrites a mail's HTML. `cids` maps each content id to its URL. Markup that cannot be read, or nests too deep, is shown as text.
fn document(html: &str, cids: &HashMap<String, String>, look: Look) -> Document {
    let pictures = OwnPictures::new(ROOM, |id: &str| cids.get(id).cloned());
    let remote = Cell::new(false);
    let style = RefCell::new(String::new());
    // A buffer holds a tag, and a stack grows with the open elements.
    let memory = html_memory(html.len());
    let settings = Settings::new()
        .with_memory_settings(memory)
        .append_element_content_handler(element!("*", |el: &mut Element<'_, '_>| {
            tag(el, &pictures, look, &remote)
        }))
        .append_element_content_handler(text!("style", |chunk: &mut TextChunk<'_>| {
            sheet(chunk, &style, &pictures, look, &remote)
        }));
    let mut out = Vec::with_capacity(html.len());
    let (doctype, rest) = after_doctype(html);
    if look.dark {
        out.extend_from_slice(doctype.as_bytes());
        out.extend_from_slice(START.as_bytes());
    }
    let written = if look.dark { rest } else { html };
    let mut rewriter = HtmlRewriter::new(settings, |chunk: &[u8]| out.extend_from_slice(chunk));
    let read = rewriter.write(written.as_bytes());
    let read = read.and_then(|()| rewriter.end());
    let html = match (read, String::from_utf8(out)) {
        (Ok(()), Ok(html)) => html,
        _ => AsText { html }.to_string(),
    };
    Document {
        html,
        remote: remote.get(),
    }
}

fn tag<F: Fn(&str) -> Option<String>>(
    el: &mut Element<'_, '_>,
    pictures: &OwnPictures<F>,
    look: Look,
    remote: &Cell<bool>,
) -> HandlerResult {
    let name = el.tag_name();
    if matches!(name.as_str(), "script" | "base")
        || name == "meta" && el.has_attribute("http-equiv")
    {
        el.remove();
        return Ok(());
    }
    for attribute in el.attributes() {
        let name = attribute.name();
        if LOADS.contains(&name.as_str()) && elsewhere(&name, &attribute.value()) {
            remote.set(true);
        }
    }
    pictures.place(el)?;
    if look.dark
        && let Some(media) = el.get_attribute("media")
    {
        el.set_attribute("media", &as_dark(&media))?;
    }
    if look.embed && matches!(name.as_str(), "a" | "area") && el.has_attribute("href") {
        el.set_attribute("target", "_blank")?;
        el.set_attribute("rel", "noopener noreferrer")?;
    }
    Ok(())
}

fn sheet<F: Fn(&str) -> Option<String>>(
    chunk: &mut TextChunk<'_>,
    style: &RefCell<String>,
    pictures: &OwnPictures<F>,
    look: Look,
    remote: &Cell<bool>,
) -> HandlerResult {
    style.borrow_mut().push_str(chunk.as_str());
    if !chunk.last_in_text_node() {
        chunk.remove();
        return Ok(());
    }
    let sheet = style.take();
    if elsewhere("style", &sheet) {
        remote.set(true);
    }
    let shown = pictures.placed_in(&sheet);
    let shown = if look.dark {
        Cow::Owned(as_dark(&shown))
    } else {
        shown
    };
    chunk.replace(&shown, ContentType::Html);
    Ok(())
}

fn elsewhere(attribute: &str, value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let remote = |url: &str| {
        let url = url.trim_start_matches(['"', '\'', ' ']);
        url.starts_with("http:") || url.starts_with("https:") || url.starts_with("//")
    };
    match attribute {
        "style" => value.split("url(").skip(1).any(remote),
        "srcset" => value.split(',').any(remote),
        _ => remote(&value),
    }
}

/// HTML that cannot be read, shown as text.
#[derive(Template)]
#[template(ext = "html", source = "<!doctype html><pre>{{ html }}</pre>")]
struct AsText<'a> {
    html: &'a str,
}

/// The HTML, rewritten for a frame.
pub(crate) fn document_of(full: &Full, base: &str, look: Look) -> Document {
    let files = full.inline.iter().chain(&full.attachments);
    let cids: HashMap<_, _> = files
        .filter(|file| !file.content_id.is_empty())
        .map(|file| {
            let url = format!("{base}/api/v1/message/{}/part/{}", full.id, file.part_id);
            (file.content_id.clone(), url)
        })
        .collect();
    document(&full.html, &cids, look)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMBED: Look = Look {
        embed: true,
        dark: false,
    };

    fn cids() -> HashMap<String, String> {
        HashMap::from([
            ("logo@x".to_owned(), "/p/1".to_owned()),
            ("b".to_owned(), "/p/2".to_owned()),
        ])
    }

    #[track_caller]
    fn check(html: &str, want: &str, remote: bool) {
        let got = document(html, &cids(), EMBED);
        assert_eq!((got.html.as_str(), got.remote), (want, remote), "{html}");
    }

    #[test]
    fn pictures_of_the_mail_are_found_wherever_they_are_named() {
        check("<img src=\"cid:logo@x\">", "<img src=\"/p/1\">", false);
        check("<img src=CID:logo%40x>", "<img src=\"/p/1\">", false);
        check("<img src='cid:none'>", "<img src='cid:none'>", false);
        check(
            "<td background=cid:b style=\"background:url('cid:logo@x') cid:b\">",
            "<td background=\"/p/2\" style=\"background:url('/p/1') /p/2\">",
            false,
        );
        check(
            "<style>a{background:url(cid:b)}</style>",
            "<style>a{background:url(/p/2)}</style>",
            false,
        );
    }

    #[test]
    fn what_runs_or_redirects_is_taken_out() {
        check("a<script>alert(1)</script>b", "ab", false);
        check("<base href=http://e.vil><p>", "<p>", false);
        check(
            "<meta http-equiv=refresh content='0;url=http://e.vil'>x",
            "x",
            false,
        );
        check("<meta charset=latin1>", "<meta charset=latin1>", false);
    }

    #[test]
    fn links_open_beside_the_page() {
        check(
            "<a href=\"http://x.co\" target=_top>x</a><a name=y>",
            "<a href=\"http://x.co\" target=\"_blank\" rel=\"noopener noreferrer\">x</a><a name=y>",
            false,
        );
        let plain = document("<a href=http://x.co>", &cids(), Look::default());
        assert_eq!(plain.html, "<a href=http://x.co>");
    }

    #[test]
    fn remote_loads_are_noticed() {
        for html in [
            "<img src=http://x.co/a>",
            "<img src=' https://x.co/a'>",
            "<img src=//x.co/a>",
            "<img srcset='a 1x, https://x.co/a 2x'>",
            "<p style=\"background:URL( 'http://x.co')\">",
            "<style>p{background:url(http://x.co)}</style>",
            "<table background=http://x.co>",
        ] {
            assert!(document(html, &cids(), EMBED).remote, "{html}");
        }
        for html in [
            "<a href=http://x.co>",
            "<img src=data:image/png;base64,x>",
            "http://x.co",
        ] {
            assert!(!document(html, &cids(), EMBED).remote, "{html}");
        }
    }

    #[test]
    fn a_dark_look_changes_sheets_and_media_and_nothing_else() {
        let look = Look {
            dark: true,
            ..EMBED
        };
        for (html, want) in [
            (
                "<style>@media (prefers-color-scheme: dark){a{b:c}}</style>",
                "{START}<style>@media (min-width:0){a{b:c}}</style>",
            ),
            (
                "<!DOCTYPE html><source media=\"(prefers-color-scheme: light)\">",
                "<!DOCTYPE html>{START}<source media=\"(max-width:0)\">",
            ),
            (
                "(prefers-color-scheme: dark)",
                "{START}(prefers-color-scheme: dark)",
            ),
        ] {
            let want = want.replace("{START}", START);
            assert_eq!(document(html, &cids(), look).html, want);
            assert_eq!(document(html, &cids(), EMBED).html, html);
        }
    }
}
