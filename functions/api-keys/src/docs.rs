//! `GET /docs/errors`: the catalogue that the `help` of an error leads to, and the list of paths.
//!
//! Both parts are Markdown with an anchor for each entry: the errors of every endpoint, and those
//! of mail/send, which has a text of its own for each rule.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use pulldown_cmark::{Options, Parser, html};

use crate::PATHS;

const OF_ALL: &str = include_str!("../../../shared/http/ERRORS.md");
const OF_MAIL_SEND: &str = include_str!("../../mail-send/ERRORS.md");

/// `GET /docs/errors`: the same for every reader, whatever the request holds.
pub(crate) async fn errors() -> Response {
    static PAGE: LazyLock<String> = LazyLock::new(page);
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; \
        base-uri 'none'";
    let headers: [(HeaderName, &str); 3] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, PAGE.as_str()).into_response()
}

fn page() -> String {
    let mut text = format!("{OF_ALL}\n## Paths\n<a id=\"paths\"></a>\n\n");
    for path in PATHS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "* `{path}`");
    }
    text.push('\n');
    text.push_str(OF_MAIL_SEND);
    let mut body = String::new();
    let tables = Options::ENABLE_TABLES;
    html::push_html(&mut body, Parser::new_ext(&text, tables));
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Errors</title><style>body{{font:1rem/1.5 system-ui,sans-serif;max-width:70rem;\
         margin:2rem auto;padding:0 1rem}}table{{border-collapse:collapse}}td,th{{border:1px solid \
         #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}}:target{{outline:3px solid}}\
         </style></head><body>{body}</body></html>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_anchor_is_in_the_page_and_each_path_is_listed() {
        let page = page();
        for anchor in [
            "invalid-json",
            "wrong-type",
            "unknown-id",
            "unknown-path",
            "paths",
        ] {
            assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
        }
        let anchors = OF_MAIL_SEND.matches("<a id=").count();
        assert!(anchors > 50 && page.matches("<a id=").count() > anchors);
        assert!(page.contains("<td><code>content too large</code></td>"));
        let listed = |path: &&str| page.contains(&format!("<li><code>{path}</code></li>"));
        assert!(PATHS.iter().all(listed));
    }
}
