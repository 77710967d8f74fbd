//! The text part that is made of HTML.

use posthaste_render::plain_from_html;

use crate::guard::survive;
use crate::shapes::{MAIL, html, text};

#[test]
fn any_html_becomes_a_text() {
    for (name, make) in html().into_iter().chain(text()) {
        survive(name, move || {
            let html = make(MAIL);
            assert!(plain_from_html(&html).len() <= 2 * html.len());
        });
    }
}
