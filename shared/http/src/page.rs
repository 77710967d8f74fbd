//! Plain pages for people who follow an emailed link: readable without styles, usable without
//! scripts, on a phone as on a desktop.

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A page with this title and body, which must be escaped already.
pub fn page(status: StatusCode, title: &str, body: &str) -> Response {
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
        frame-ancestors 'none'; base-uri 'none'";
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>{title}</title>\
         <style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;\
         padding:0 1.25rem;color:#1b1f24;background:#fff}}h1{{font-size:1.5rem}}\
         button{{font:inherit;padding:.6rem 1.5rem;border:1px solid #1b1f24;border-radius:.4rem;\
         background:#1b1f24;color:#fff;cursor:pointer}}b{{overflow-wrap:anywhere}}\
         label{{display:grid;grid-template-columns:1.1rem 1fr;column-gap:.7rem;padding:.6rem 0}}\
         label small{{grid-column:2;color:#57606a}}\
         input{{width:1.1rem;height:1.1rem;margin:.25rem 0 0}}\
         @media(prefers-color-scheme:dark){{body{{background:#14171a;color:#e6e8ea}}\
         button{{background:#e6e8ea;color:#14171a}}label small{{color:#9aa4ae}}}}</style>\
         </head><body><main><h1>{title}</h1>{body}</main></body></html>"
    );
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        // The URL of the page identifies the reader.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, html).into_response()
}

/// Text escaped for HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
