//! Parameters of Google Analytics that are added to links.

use crate::test_app::{BASE, html as with, text as text_with};

fn ganalytics(fields: &str) -> String {
    format!(r#""tracking_settings":{{"ganalytics":{{"enable":true,{fields}}}}}"#)
}

#[test]
fn utm_parameters_are_added_to_links() {
    let settings = ganalytics(
        r#""utm_source":"news letter","utm_medium":"email","utm_campaign":"a&b","utm_term":"""#,
    );
    let added = "utm_source=news+letter&amp;utm_medium=email&amp;utm_campaign=a%26b";
    for (before, after) in [
        ("https://x.co", format!("https://x.co?{added}")),
        ("https://x.co/a", format!("https://x.co/a?{added}")),
        ("https://x.co/?", format!("https://x.co/?{added}")),
        (
            "https://x.co/?a=1",
            format!("https://x.co/?a=1&amp;{added}"),
        ),
        (
            "https://x.co/?a=1&amp;",
            format!("https://x.co/?a=1&amp;{added}"),
        ),
        ("https://x.co/#top", format!("https://x.co/?{added}#top")),
        (
            "https://x.co/?a=1#b?c",
            format!("https://x.co/?a=1&amp;{added}#b?c"),
        ),
        (
            "https://x.co/?utm_source=mine",
            "https://x.co/?utm_source=mine&amp;utm_medium=email&amp;utm_campaign=a%26b".to_owned(),
        ),
        ("mailto:a@x.co", "mailto:a@x.co".to_owned()),
        ("#top", "#top".to_owned()),
    ] {
        assert_eq!(
            with(&format!("<a href=\"{before}\">x</a>"), &settings),
            format!("<a href=\"{after}\">x</a>"),
            "{before:?}"
        );
    }
    let off = "<a clicktracking=off href=\"https://x.co\">x</a>";
    assert_eq!(with(off, &settings), off);
    assert_eq!(text_with("https://x.co", &settings), "https://x.co");
}

#[test]
fn a_quote_in_a_link_stays_inside_its_attribute() {
    let settings = ganalytics(r#""utm_source":"s""#);
    assert_eq!(
        with("<a href='https://x.co/&#39;&quot;'>x</a>", &settings),
        "<a href='https://x.co/&#x27;\"?utm_source=s'>x</a>"
    );
    assert_eq!(
        with("<a href=\"https://x.co/'&quot;&lt;\">x</a>", &settings),
        "<a href=\"https://x.co/'&quot;&lt;?utm_source=s\">x</a>"
    );
}

#[test]
fn utm_parameters_are_part_of_the_tracked_target() {
    let settings = r#""tracking_settings":{"click_tracking":{"enable":true,"enable_text":true},"ganalytics":{"enable":true,"utm_source":"s"}}"#;
    assert_eq!(
        with("<a href=\"https://x.co/?a=1&amp;b=2\">x</a>", settings),
        format!(
            "<a href=\"{BASE}/ls/click«click html 0 https://x.co/?a=1&b=2&utm_source=s»\">x</a>"
        )
    );
    assert_eq!(
        text_with("https://x.co", settings),
        format!("{BASE}/ls/click«click text 0 https://x.co?utm_source=s»")
    );
}

#[test]
fn a_link_that_utm_parameters_make_too_long_is_left_alone() {
    let before = "<a href=\"https://x.co\">x</a>";
    let settings = |source: usize, click: bool| {
        let source = "s".repeat(source);
        format!(
            r#""tracking_settings":{{"click_tracking":{{"enable":{click}}},"ganalytics":{{"enable":true,"utm_source":"{source}"}}}}"#
        )
    };
    // `https://x.co?utm_source=` and 4,072 letters are 4,096 bytes.
    assert!(with(before, &settings(4_072, true)).contains("«click html 0 https://x.co?utm_"));
    assert_ne!(with(before, &settings(4_072, false)), before);
    for source in [4_073, 100_000] {
        assert_eq!(with(before, &settings(source, true)), before);
        assert_eq!(with(before, &settings(source, false)), before);
    }
    // One that says so itself needs nothing.
    let own = "<a href=\"https://x.co?utm_source=me\">x</a>";
    assert_ne!(with(own, &settings(100_000, true)), own);
}
