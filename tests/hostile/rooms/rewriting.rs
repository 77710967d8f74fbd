//! One recipient's copy: tags, footer, unsubscribe line, links, pixel.

use posthaste_model::{AccountId, Mail, MessageId, Timestamp};
use posthaste_render::{
    AccountDefaults, Input, KeyRing, Links, RenderError, Rendered, effective, render,
};
use serde_json::json;

use crate::guard::survive;
use crate::shapes::{MAIL, count, fill, html, text};

/// Substitutions of one recipient, and the keys of sections (`mail/send`), in bytes.
const SUBSTITUTIONS: usize = 10_000;
const SECTION_KEYS: usize = 256 * 1024;

/// A mail with every setting that changes a text.
fn mail(html: &str, plain: &str) -> Mail {
    let mail = json!({
        "from": {"email": "news@example.com"},
        "subject": "News",
        "content": [{"type": "text/plain", "value": plain}, {"type": "text/html", "value": html}],
        "personalizations": [{
            "to": [{"email": "ann@example.com"}],
            "substitutions": {"-t-": "<a href=\"http://x.example/\">-u-</a>", "-u-": "é", "-p-": "<i>"},
        }],
        "tracking_settings": {
            "click_tracking": {"enable": true, "enable_text": true},
            "open_tracking": {"enable": true, "substitution_tag": "cid:a"},
            "subscription_tracking": {"enable": true, "substitution_tag": "</a>"},
            "ganalytics": {"enable": true, "utm_source": "é&"},
        },
        "mail_settings": {"footer": {"enable": true, "text": "foot", "html": "<p>foot</p>"}},
    });
    serde_json::from_value(mail).unwrap()
}

fn copy(mail: &Mail) -> Result<Rendered, RenderError> {
    let keys = KeyRing::new(&[(1, &[7; 32])]).unwrap();
    let settings = effective(&AccountDefaults::default(), mail);
    let links = Links {
        base: "https://links.example.test",
        host: None,
        keys: &keys,
        account: &AccountId::from_bytes([1; 10]),
        message: &MessageId::from_bytes([2; 16]),
        now: Timestamp(1_795_820_482),
        mailbox: None,
    };
    render(&Input {
        mail,
        copy: mail.copies().next().unwrap(),
        template: None,
        settings: &settings,
        links: Some(links),
    })
}

fn bounded(copy: Result<Rendered, RenderError>) {
    if let Ok(copy) = copy {
        let size: usize = copy.parts.iter().map(|part| part.value.len()).sum();
        assert!(size <= 3 * MAIL);
    }
}

#[test]
fn any_html_is_rewritten() {
    for (name, make) in html() {
        survive(name, move || {
            bounded(copy(&mail(&make(MAIL), "x")));
            let mut grouped = mail(&make(MAIL), "x");
            grouped.asm =
                serde_json::from_value(json!({"group_id": 1, "groups_to_display": [1, 2]}))
                    .unwrap();
            grouped.tracking_settings.open_tracking = None;
            bounded(copy(&grouped));
        });
    }
}

#[test]
fn any_text_is_rewritten() {
    for (name, make) in text().into_iter().chain(html()) {
        survive(name, move || bounded(copy(&mail("x", &make(MAIL)))));
    }
}

#[test]
fn tags_that_overlap_are_substituted() {
    let with = |tags: serde_json::Value, sections: serde_json::Value, text: String| {
        let mut mail = mail("x", &text);
        mail.personalizations.first_mut().unwrap().substitutions =
            serde_json::from_value(tags).unwrap();
        mail.sections = serde_json::from_value(sections).unwrap();
        mail
    };
    survive("a tag in a tag", move || {
        let long = format!("{}b", "a".repeat(SUBSTITUTIONS - 100));
        bounded(copy(&with(
            json!({"a": "", long: "x"}),
            json!({}),
            fill("a", MAIL),
        )));
    });
    survive("tags that are the beginning of each other", move || {
        let tags: serde_json::Map<_, _> = (1..135).map(|n| ("a".repeat(n), json!(""))).collect();
        bounded(copy(&with(tags.into(), json!({}), fill("a", MAIL))));
    });
    survive("tags that all but match", move || {
        let long = format!("{}b", "a".repeat(SUBSTITUTIONS - 100));
        bounded(copy(&with(json!({long: "x"}), json!({}), fill("a", MAIL))));
    });
    survive("values in values", move || {
        let tags = json!({"A": "B".repeat(2_000), "B": "C".repeat(2_000), "C": "D".repeat(2_000), "D": ""});
        bounded(copy(&with(tags, json!({}), fill("A", MAIL))));
    });
    survive("values of nothing", move || {
        let tags = json!({"A": "B".repeat(4_000), "B": "C".repeat(4_000), "C": ""});
        bounded(copy(&with(tags, json!({}), fill("A", MAIL))));
    });
    survive("a section of everything", move || {
        let sections = json!({":s": fill("A", MAIL), "s": ""});
        bounded(copy(&with(json!({"A": ":s"}), sections, "A".to_owned())));
    });
    survive("a section as long as there may be", move || {
        let sections = json!({"a".repeat(SECTION_KEYS): "x"});
        bounded(copy(&with(
            json!({"A": "a"}),
            sections,
            fill("A ", MAIL / 64),
        )));
    });
    survive("sections that are the beginning of each other", move || {
        let sections: serde_json::Map<_, _> =
            (1..720).map(|n| ("a".repeat(n), json!("x"))).collect();
        bounded(copy(&with(
            json!({"A": "a".repeat(720)}),
            sections.into(),
            fill("A ", MAIL / 64),
        )));
    });
    survive("sections as many as there may be", move || {
        let keys = count(SECTION_KEYS, |n| format!(":{n:07}"));
        let keys = keys
            .as_bytes()
            .chunks_exact(8)
            .map(|key| String::from_utf8(key.to_vec()).unwrap());
        let sections: serde_json::Map<_, _> = keys.map(|key| (key, json!("x"))).collect();
        let copy = copy(&with(
            json!({"A": ":0000001"}),
            sections.into(),
            fill("A ", MAIL / 64),
        ));
        assert!(
            copy.unwrap()
                .parts
                .iter()
                .any(|part| part.value.starts_with("x x x"))
        );
    });
}
