//! Texts that people read: HTML and plain.

use super::{Shape, fill, made, run};

/// HTML of every shape.
pub(crate) fn html() -> Vec<Shape> {
    vec![
        run("open elements", "", "<b>", ""),
        run(
            "open elements of every kind",
            "",
            "<p><li><td><div><a href='x:y'>",
            "",
        ),
        run("ends of nothing", "<b>", "</i>", ""),
        made("ends beyond the depth", |size| {
            format!("{}{}", fill("<b>", size / 2), fill("</i>", size / 2))
        }),
        made("ends in the other order", |size| {
            format!("{}{}", fill("<b><i>", size / 2), fill("</b></i>", size / 2))
        }),
        made("a depth that goes up and down", |size| {
            let deep = fill("<b>", size / 100);
            format!("{deep}{}", fill("<i></i></u>", size - deep.len()))
        }),
        run("elements", "", "<b></b>", ""),
        run("bodies", "", "<body></body>", ""),
        run("pages", "", "</html><html>", ""),
        run("attributes", "<a ", "a=b ", ">x</a>"),
        run(
            "attributes of a link",
            "<a href=\"http://x.example/\" ",
            "clicktracking=on ",
            ">x</a>",
        ),
        run("links", "", "<a href=\"http://x.example/\">x</a>", ""),
        run("links in links", "", "<a href=\"http://x.example/\">", ""),
        made("links around blanks", |size| {
            let (open, close) = (fill("<a href='x:y'>", size / 20), fill("</a>", size / 60));
            let blanks = size - open.len() - close.len();
            format!("<pre>{open}{}{close}", fill(" ", blanks))
        }),
        run(
            "targets",
            "<a href=\"http://x.example/?",
            "&amp;",
            "\">x</a>",
        ),
        run("images of a part", "", "<img src='cid:a'>", ""),
        run("a style of parts", "<p style='", "cid:a ", "'>"),
        run("references", "", "&amp;", ""),
        run("references that do not end", "", "&#x", ""),
        run("one long reference", "&#", "0", ";"),
        run("names of no reference", "", "&notit", ""),
        run("ampersands", "", "&", ""),
        run("starts of tags", "", "<", ""),
        run("starts of ends", "", "</", ""),
        run("starts of names", "", "<a", ""),
        run("a tag that does not end", "<a href='", "x", ""),
        run("comments", "", "<!-->", ""),
        run("starts of comments", "", "<!--", ""),
        run("data that does not end", "<svg>", "<![CDATA[", ""),
        run("scripts", "", "<script><!--<script>", ""),
        run("tables", "", "<table><tr><td>", ""),
        run("foreign elements", "", "<svg><math><title>", ""),
        run("blanks of a text that is kept", "<pre>", " \n", ""),
        run("tags of ours", "", "<%asm_preferences_url%>", ""),
        run("tags of ours that do not end", "", "<%&lt;%%3C%25", ""),
        run("tags to substitute", "", "-t-", ""),
        run("nothing", "", "\0", ""),
    ]
}

/// Plain texts.
pub(crate) fn text() -> Vec<Shape> {
    vec![
        run("schemes", "", "http://", ""),
        run("scheme after scheme", "", "a://", ""),
        run("colons", "", ":", ""),
        run("the letters of a scheme", "", "a", "://b.example"),
        run("a link in brackets", "http://a.example/", "(", ""),
        run("links in brackets", "", "(http://a.example/", ""),
        run("links in quotes", "", "\"http://a.example/'", ""),
        run("a host without end", "http://", "a.", ""),
        run("users of a host", "http://", "a:b@", "c.example"),
        run("hyphens of a host", "http://", "-.", ""),
        run("links", "", "http://a.example/ ", ""),
        run("a link that is no end", "http://a.example/", ".!", ""),
        run("addresses", "", "a@b.example ", ""),
        run("dots", "", ".", ""),
        run("lone line ends", "", "\r", ""),
        run("line ends", "", "\n", ""),
        run("blanks", "", " \t", ""),
        run("letters beyond ASCII", "", "é", ""),
        run("separators of lines", "", "\u{2028}", ""),
        run("control characters", "", "\u{1}", ""),
        run("lines that begin like a boundary", "", "--=_seed_1\n", ""),
        run("dots on lines", "", ".\n", ""),
        run("equals signs", "", "=", ""),
    ]
}
