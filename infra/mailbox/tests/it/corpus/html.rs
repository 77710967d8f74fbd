//! HTML that is shown and rewritten.

use super::{LARGEST, check, filled, numbered, on_a_small_stack};
use crate::support::Box;

fn html(unit: &str) -> Vec<u8> {
    filled("Subject: y\r\nContent-Type: text/html\r\n\r\n", unit)
}

/// HTML beside a picture that it may name.
fn with_picture(before: &str, unit: &str, after: &str, count: usize) -> Vec<u8> {
    format!(
        "Subject: y\r\nContent-Type: multipart/related; boundary=r\r\n\r\n\
         --r\r\nContent-Type: text/html\r\n\r\n{before}{}{after}\r\n\
         --r\r\nContent-Type: image/png\r\nContent-ID: <a>\r\n\r\nx\r\n--r--\r\n",
        unit.repeat(count)
    )
    .into_bytes()
}

#[test]
fn tags() {
    check("open", || html("<p>"));
    check("open and never closed", || html("<div>"));
    check("open and closed", || html("<b>y</b>"));
    check("closed and never opened", || {
        let mut raw = html("<i>");
        let half = raw.len() / 2;
        raw.truncate(half);
        raw.extend("</b>".repeat(half / 4).bytes());
        raw
    });
}

#[test]
fn texts_of_elements() {
    check("half begun", || html("<"));
    check("comments", || html("<!--"));
    check("scripts", || html("<script>y</script>"));
    check("styles", || html("<style>url(</style>"));
    check("one style", || {
        filled("Content-Type: text/html\r\n\r\n<style>", "url( cid:a")
    });
}

#[test]
fn attributes() {
    check("of one tag", || {
        filled("Content-Type: text/html\r\n\r\n<p ", "a=b ")
    });
    check("of their own names", || {
        numbered("Content-Type: text/html\r\n\r\n<p ", |n| {
            format!("a{n}=cid:a ")
        })
    });
    check("one without end", || {
        filled("Content-Type: text/html\r\n\r\n<p a=\"", "y")
    });
    check("links", || html("<a href=http://x.example/>y</a>"));
    check("entities", || html("&amp;&#65;&none;"));
    check("ampersands", || html("&"));
    check("sources", || {
        filled(
            "Content-Type: text/html\r\n\r\n<img srcset='",
            "http://x 1x,",
        )
    });
}

#[test]
fn names_of_pictures() {
    on_a_small_stack("of one style", || async {
        let b = Box::new();
        let raw = with_picture("<p style='", "cid:a ", "'>", 80_000);
        let id = b.deliver(&["a@x.example"], raw).await;
        let view = b.get(&format!("/view/{id}.html")).await.text();
        let url = format!("/api/v1/message/{id}/part/2 ");
        assert!(view.starts_with(&format!("<p style=\"{url}{url}")));
        let placed = (1 << 20) / url.trim_end().len();
        assert_eq!(view.matches(&url).count(), placed);
    });
    let count = |unit: &str| LARGEST / unit.len() - 100;
    check("of the largest style", move || {
        with_picture("<p style='", "cid:a ", "'>", count("cid:a "))
    });
    check("of other parts", move || {
        with_picture("<p style='", "cid:b ", "'>", count("cid:b "))
    });
    check("without end", move || {
        with_picture("<p style='", "cid:", "'>", count("cid:"))
    });
    check("of pictures", move || {
        with_picture("", "<img src=cid:a>", "", count("<img src=cid:a>"))
    });
    check("of a sheet", move || {
        with_picture("<style>", "cid:a ", "</style>", count("cid:a "))
    });
}
