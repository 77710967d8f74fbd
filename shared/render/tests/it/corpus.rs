//! Real-world mails through the rewriter: every byte but the intended ones stays.
//!
//! `tests/corpus/html` holds mails written by hand and mails compiled by the field's builders.
//! `links.json` beside them says which links a browser's parser (parse5) finds in each and which of
//! those may be tracked; it is made by another program than the one under test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use posthaste_render::{AccountDefaults, LinkAction};
use serde::Deserialize;

use crate::test_app::{BASE, TestApp, mail_of, part};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/html")
}

#[derive(Deserialize)]
struct Expected {
    /// Decoded targets of the links that are tracked, in order.
    tracked: Vec<String>,
}

/// Every mail of the corpus by its path below the root.
fn mails() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in ["hand", "compiled"] {
        let mut folders = vec![root().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "html") {
                    let name = path
                        .strip_prefix(root())
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned();
                    found.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
    }
    found
}

fn render(html: &str, settings: &str) -> (TestApp, String) {
    let app = TestApp::new();
    let mail = mail_of(&[("text/html", html)], settings);
    let got = app
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
    let html = part(&got, "text/html").to_owned();
    (app, html)
}

#[test]
fn the_corpus_is_large_enough() {
    let mails = mails();
    let compiled = mails
        .keys()
        .filter(|name| name.starts_with("compiled/"))
        .count();
    assert!(compiled >= 40, "{compiled} compiled mails");
    assert!(
        mails.len() - compiled >= 10,
        "{} hand-written mails",
        mails.len() - compiled
    );
}

#[test]
fn with_everything_off_each_mail_is_what_came() {
    for (name, html) in mails() {
        assert!(render(&html, "").1 == html, "{name} changed");
    }
}

/// Walks both texts; where they part, ours must have a click link in place of an attribute's value.
/// Answers the targets.
fn compare(name: &str, app: &TestApp, before: &str, after: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let (mut before, mut after) = (before, after);
    let click = format!("{BASE}/ls/click?upn=");
    while let Some(at) = after.find(&click) {
        let (same, link) = after.split_at(at);
        assert!(
            before.starts_with(same),
            "{name}: text before link {} changed",
            targets.len()
        );
        let quote = same.chars().next_back().unwrap();
        assert!(
            quote == '"' || quote == '\'',
            "{name}: an unquoted link was rewritten"
        );
        let lower = same.to_ascii_lowercase();
        assert!(
            lower.trim_end_matches(quote).ends_with("href="),
            "{name}: not an href"
        );
        let (link, rest) = link.split_once(quote).unwrap();
        let (raw, old) = before[same.len()..].split_once(quote).unwrap();
        let LinkAction::Click { url, index, .. } = app.token(link).action else {
            panic!("{name}: not a click token")
        };
        assert_eq!(usize::try_from(index).unwrap(), targets.len(), "{name}");
        assert!(
            url.to_ascii_lowercase().starts_with("http"),
            "{name}: {raw} was no web link"
        );
        targets.push(url);
        (before, after) = (old, rest);
    }
    assert!(before == after, "{name}: text after the last link changed");
    targets
}

#[test]
fn tracking_changes_the_intended_attributes_and_nothing_else() {
    let expected = fs::read_to_string(root().join("links.json")).unwrap();
    let mut expected: BTreeMap<String, Expected> = serde_json::from_str(&expected).unwrap();
    let mut links = 0;
    for (name, html) in mails() {
        let settings = r#""tracking_settings":{"click_tracking":{"enable":true}}"#;
        let (app, got) = render(&html, settings);
        let targets = compare(&name, &app, &html, &got);
        let want = expected
            .remove(&name)
            .unwrap_or_else(|| panic!("{name} is not in links.json"));
        assert_eq!(targets, want.tracked, "{name}");
        links += targets.len();
    }
    assert!(expected.is_empty(), "links.json names mails that are gone");
    assert!(links > 150, "{links} links in the whole corpus");
}

#[test]
fn footer_and_pixel_are_inserted_in_one_place() {
    let settings = r#""mail_settings":{"footer":{"enable":true,"html":"<p>FOOTER</p>"}},
        "tracking_settings":{"open_tracking":{"enable":true}}"#;
    for (name, html) in mails() {
        let (_, got) = render(&html, settings);
        let at = got
            .find("<p>FOOTER</p><img src=\"")
            .unwrap_or_else(|| panic!("{name}: no footer"));
        let end = at + got[at..].find("padding:0\">").unwrap() + "padding:0\">".len();
        assert!(
            html.starts_with(&got[..at]) && html.ends_with(&got[end..]),
            "{name}"
        );
        assert_eq!(got[..at].len() + got[end..].len(), html.len(), "{name}");
        let rest = got[end..].to_ascii_lowercase();
        let whole = html.to_ascii_lowercase();
        assert!(
            rest.starts_with("</body") || !whole.contains("</body") || name.contains("broken"),
            "{name}: {rest:?}"
        );
    }
}

#[test]
fn each_mail_reads_as_text() {
    for (name, html) in mails() {
        let text = posthaste_render::plain_from_html(&html);
        assert!(
            !text.trim().is_empty() || name.contains("image-only"),
            "{name} has no text"
        );
        assert!(
            !text.contains("<td") && !text.contains("{mso-"),
            "{name}: markup in the text"
        );
    }
}
