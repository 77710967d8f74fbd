//! Which links are rewritten, and into what.

use posthaste_render::AccountDefaults;

use crate::test_app::{BASE, TestApp, html as with, mail_of, part, text as text_with};

const CLICK: &str = r#""tracking_settings":{"click_tracking":{"enable":true}}"#;

fn tracked(html: &str) -> String {
    with(html, CLICK)
}

#[test]
fn links_that_are_left_alone() {
    for html in [
        "",
        "no link",
        "<a>x</a>",
        "<a href>x</a>",
        "<a href=\"\">x</a>",
        "<a href=\"mailto:a@x.co\">x</a>",
        "<a href=\"tel:+123\">x</a>",
        "<a href=\"#top\">x</a>",
        "<a href=\"/path\">x</a>",
        "<a href=\"page.html\">x</a>",
        "<a href=\"//x.co/\">x</a>",
        "<a href=\"www.x.co\">x</a>",
        "<a href=\"ftp://x.co\">x</a>",
        "<a href=\"javascript:alert(1)\">x</a>",
        "<a href=\" https://x.co\">x</a>",
        // API facts 7: only quoted values without blanks around the sign.
        "<a href=https://x.co>x</a>",
        "<a href = \"https://x.co\">x</a>",
        "<a href= \"https://x.co\">x</a>",
        "<a href =\"https://x.co\">x</a>",
        // Opted out.
        "<a clicktracking=off href=\"https://x.co\">x</a>",
        "<a clicktracking=\"off\" href=\"https://x.co\">x</a>",
        "<a href=\"https://x.co\" CLICKTRACKING='OFF'>x</a>",
        // Not anchors.
        "<img src=\"https://x.co/a.png\">",
        "<link href=\"https://x.co/a.css\">",
        "<area href=\"https://x.co\">",
        "<form action=\"https://x.co\"></form>",
        "<div style=\"background:url('https://x.co/a.png')\">",
        "<style>a[href=\"https://x.co\"]{}</style>",
        "<script>'<a href=\"https://x.co\">'</script>",
        "<title><a href=\"https://x.co\"></title>",
        "<textarea><a href=\"https://x.co\"></textarea>",
        "<!-- <a href=\"https://x.co\">x</a> -->",
        "<!--[if mso]><v:roundrect href=\"https://x.co\"><a href=\"https://x.co\">x</a><![endif]-->",
        "&lt;a href=\"https://x.co\"&gt;",
        "<abbr href=\"https://x.co\">x</abbr>",
        "<p title='<a href=\"https://x.co\">'>x</p>",
        // Not URLs that anybody could follow.
        "<a href=\"https://\">x</a>",
        "<a href=\"http://[\">x</a>",
        "<a href=\"https://x.co/&#10;Set-Cookie: a\">x</a>",
        "<a href=\"https://x.co/\n\">x</a>"
            .replace('\n', "\u{1}")
            .as_str(),
        "<a href=\"https://x.co",
        "<a data-href=\"https://x.co\">x</a>",
    ] {
        assert_eq!(tracked(html), html);
    }
    let ours = format!("<a href=\"{BASE}/asm/preferences\">x</a>");
    assert_eq!(tracked(&ours), ours);
}

/// API Gateway takes 10,240 bytes of request line and headers together, of which browsers need some 1,500.
#[test]
fn a_link_that_the_gateway_would_refuse_stays_as_it_was_composed() {
    let start = "https://x.co/";
    let link = |bytes: usize| {
        format!(
            "<a href=\"{start}{}\">x</a>",
            "a".repeat(bytes - start.len())
        )
    };
    let app = TestApp::new();
    let label = "h".repeat(59);
    let host = format!("{label}.{label}.{label}.{label}.example");
    let base = format!("https://{host}");
    let links = posthaste_render::Links {
        base: &base,
        host: Some(&host),
        ..app.links()
    };
    let made = |html: &str| {
        let mut mail = mail_of(&[("text/html", html)], CLICK);
        // The longest address: the token has it too.
        let to = format!("{}@{label}.{label}.{label}.example", "a".repeat(64));
        mail.personalizations[0].to[0].email =
            posthaste_model::EmailAddress::parse_stored(&to).unwrap();
        let settings = posthaste_render::effective(&AccountDefaults::default(), &mail);
        let rendered = app
            .render_with(&mail, None, &settings, Some(links))
            .unwrap();
        part(&rendered, "text/html").to_owned()
    };
    let longest = made(&link(4_096));
    let (_, url) = longest.split_once("href=\"").unwrap();
    let (url, _) = url.split_once('"').unwrap();
    assert!(url.starts_with(&format!("{base}/ls/click?upn=")), "{url}");
    let request = url.len() - base.len() + "GET  HTTP/1.1\r\nHost: \r\n".len() + host.len();
    assert!((6_000..8_700).contains(&request), "{request}");
    assert_eq!(made(&link(4_097)), link(4_097));
}

/// A mail, the text before its link, the link's target, the text after it.
const TRACKED: &[(&str, &str, &str, &str)] = &[
    (
        "<a href=\"https://x.co\">x</a>",
        "<a href=\"",
        "https://x.co",
        "\">x</a>",
    ),
    (
        "<a href='http://x.co/a b'>x</a>",
        "<a href='",
        "http://x.co/a b",
        "'>x</a>",
    ),
    (
        "<A  HREF=\"HTTPS://X.co/\"\n class=b >x</A >",
        "<A  HREF=\"",
        "HTTPS://X.co/",
        "\"\n class=b >x</A >",
    ),
    (
        "<a id=1 href=\"https://x.co/?a=1&amp;b=2\" b=\"c\">x",
        "<a id=1 href=\"",
        "https://x.co/?a=1&b=2",
        "\" b=\"c\">x",
    ),
    (
        "<a href=\"https://x.co/?a=1&b=2\">",
        "<a href=\"",
        "https://x.co/?a=1&b=2",
        "\">",
    ),
    (
        "<a href=\"https://x.co/?a=1&#038;b=2\">",
        "<a href=\"",
        "https://x.co/?a=1&b=2",
        "\">",
    ),
    (
        "<a href=\"https://x.co/?a=1&copy=2&amp;lt=3\">",
        "<a href=\"",
        "https://x.co/?a=1&copy=2&lt=3",
        "\">",
    ),
    // Traps 37 and 38: an apostrophe, and a link inside a link.
    (
        "<a href=\"https://x.co/o'neil\">",
        "<a href=\"",
        "https://x.co/o'neil",
        "\">",
    ),
    (
        "<a href=\"https://x.co/?next=https://y.co/&href=http://z.co\">",
        "<a href=\"",
        "https://x.co/?next=https://y.co/&href=http://z.co",
        "\">",
    ),
    (
        "<a href=\"https://x.co/?q=%3Ca%20href=%22https://y.co%22%3E\">",
        "<a href=\"",
        "https://x.co/?q=%3Ca%20href=%22https://y.co%22%3E",
        "\">",
    ),
    (
        "<a href=\"https://x.co/&quot;a&quot;\">",
        "<a href=\"",
        "https://x.co/\"a\"",
        "\">",
    ),
    (
        "<a href=\"https://é.co/ü?ß\">",
        "<a href=\"",
        "https://é.co/ü?ß",
        "\">",
    ),
    (
        "<a href=\"https://x.co \">",
        "<a href=\"",
        "https://x.co",
        "\">",
    ),
    (
        "<a/href=\"https://x.co\"/>",
        "<a/href=\"",
        "https://x.co",
        "\"/>",
    ),
    (
        "<a href=\"https://x.co\" href=\"https://y.co\">",
        "<a href=\"",
        "https://x.co",
        "\" href=\"https://y.co\">",
    ),
    (
        "<![if !mso]><a href=\"https://x.co\"><![endif]>",
        "<![if !mso]><a href=\"",
        "https://x.co",
        "\"><![endif]>",
    ),
    (
        "<!--[if !mso]><!--><a href=\"https://x.co\"><!--<![endif]-->",
        "<!--[if !mso]><!--><a href=\"",
        "https://x.co",
        "\"><!--<![endif]-->",
    ),
    (
        "<p><b><a href=\"https://x.co\"></p></b>",
        "<p><b><a href=\"",
        "https://x.co",
        "\"></p></b>",
    ),
    (
        "<a title=\"a>b\" href=\"https://x.co\">",
        "<a title=\"a>b\" href=\"",
        "https://x.co",
        "\">",
    ),
    (
        "<select><option><a href=\"https://x.co\">",
        "<select><option><a href=\"",
        "https://x.co",
        "\">",
    ),
    (
        "<a clicktracking=on href=\"https://x.co\">",
        "<a clicktracking=on href=\"",
        "https://x.co",
        "\">",
    ),
    (
        "\u{feff}<a href=\"https://x.co\">",
        "\u{feff}<a href=\"",
        "https://x.co",
        "\">",
    ),
    (
        "<a href=\"https://x.co\"\u{0}>",
        "<a href=\"",
        "https://x.co",
        "\"\u{0}>",
    ),
];

#[test]
fn links_that_are_tracked_keep_everything_around_them() {
    for (html, before, target, after) in TRACKED {
        let want = format!("{before}{BASE}/ls/click«click html 0 {target}»{after}");
        assert_eq!(tracked(html), want, "{html:?}");
    }
}

#[test]
fn links_are_counted_within_their_part() {
    let app = TestApp::new();
    let settings = r#""tracking_settings":{"click_tracking":{"enable":true,"enable_text":true}}"#;
    let html = "<a href=\"https://a.co\">1</a><a href=\"#x\">-</a><a href=\"https://b.co\">2</a>";
    let mail = mail_of(
        &[
            ("text/plain", "https://a.co and https://b.co."),
            ("text/html", html),
        ],
        settings,
    );
    let got = app
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
    assert_eq!(
        app.readable(part(&got, "text/plain")),
        format!(
            "{BASE}/ls/click«click text 0 https://a.co» and {BASE}/ls/click«click text 1 https://b.co»."
        )
    );
    assert!(
        app.readable(part(&got, "text/html"))
            .contains("«click html 1 https://b.co»")
    );
}

#[test]
fn links_of_the_footer_are_tracked_after_those_of_the_mail() {
    let settings = r#""mail_settings":{"footer":{"enable":true,"html":"<a href=\"https://f.co\">f</a>"}},
        "tracking_settings":{"click_tracking":{"enable":true},"subscription_tracking":{"enable":true,"html":"<% out %>"}}"#;
    let got = with("<body><a href=\"https://a.co\">a</a></body>", settings);
    assert_eq!(
        got,
        format!(
            "<body><a href=\"{BASE}/ls/click«click html 0 https://a.co»\">a</a><a href=\"{BASE}/ls/click«click html 1 https://f.co»\">f</a><a href=\"{BASE}/asm/unsubscribe«unsubscribe»\">out</a></body>"
        )
    );
}

#[test]
fn the_thousand_and_first_link_is_not_tracked() {
    let app = TestApp::new();
    let html = "<a href=\"https://x.co\">x</a>".repeat(1_001);
    let settings = r#""tracking_settings":{"click_tracking":{"enable":true,"enable_text":true}}"#;
    let mail = mail_of(
        &[("text/plain", "https://t.co"), ("text/html", &html)],
        settings,
    );
    let got = app
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
    assert_eq!(part(&got, "text/html").matches("/ls/click").count(), 1_000);
    assert!(part(&got, "text/html").ends_with("<a href=\"https://x.co\">x</a>"));
    assert_eq!(part(&got, "text/plain"), "https://t.co");
}

#[test]
fn text_links_are_tracked_only_on_request() {
    let on = r#""tracking_settings":{"click_tracking":{"enable":true,"enable_text":true}}"#;
    let off = r#""tracking_settings":{"click_tracking":{"enable":false,"enable_text":true}}"#;
    let text = "See https://x.co/a?b=1&c=2#d, (http://y.co/z) <https://z.co> or www.x.co; ftp://x.co a@x.co";
    assert_eq!(text_with(text, CLICK), text);
    assert_eq!(text_with(text, off), text);
    let link = |i: u32, to: &str| format!("{BASE}/ls/click«click text {i} {to}»");
    assert_eq!(
        text_with(text, on),
        format!(
            "See {}, ({}) <{}> or www.x.co; ftp://x.co a@x.co",
            link(0, "https://x.co/a?b=1&c=2#d"),
            link(1, "http://y.co/z"),
            link(2, "https://z.co"),
        )
    );
    assert_eq!(
        text_with("https://x.co/?next=https://y.co", on),
        link(0, "https://x.co/?next=https://y.co")
    );
}

#[test]
fn markup_that_is_too_deep_still_leaves_with_its_footer() {
    let settings = r#""mail_settings":{"footer":{"enable":true,"html":"FOOT"}},"tracking_settings":{"click_tracking":{"enable":true}}"#;
    let deep = format!("<body>{}", "<i>".repeat(400_000));
    let got = with(&deep, settings);
    assert_eq!(got, format!("{deep}FOOT"));
}
