//! Footer, pixel, AMP, and what is left alone.

use posthaste_model::Footer;
use posthaste_render::{AccountDefaults, Effective, LinkAction, LinkPart, RenderError, effective};

use crate::test_app::{self, BASE, FOOTER, GROUP, HTML, TEXT, TestApp, html, mail_of, part, text};

#[test]
fn a_footer_is_at_the_end_of_what_is_shown() {
    assert_eq!(text("Hi", FOOTER), "Hi\n\n-- text");
    for (before, after) in [
        ("<p>x</p>", "<p>x</p><i>html</i>"),
        (
            "<html><body>x</body></html>",
            "<html><body>x<i>html</i></body></html>",
        ),
        (
            "<HTML><BODY>x</BODY></HTML>\n",
            "<HTML><BODY>x<i>html</i></BODY></HTML>\n",
        ),
        ("<html>x</html>", "<html>x<i>html</i></html>"),
        ("<body>x", "<body>x<i>html</i>"),
        (
            "<body><!-- </body> -->x</body>",
            "<body><!-- </body> -->x<i>html</i></body>",
        ),
        (
            "<body>x</body>y</body>",
            "<body>x<i>html</i></body>y</body>",
        ),
        (
            "<body><body>x</body>y</body>",
            "<body><body>x</body>y<i>html</i></body>",
        ),
        (
            "<script>'</body>'</script>x",
            "<script>'</body>'</script>x<i>html</i>",
        ),
        ("", "<i>html</i>"),
    ] {
        assert_eq!(html(before, FOOTER), after, "{before:?}");
    }
}

#[test]
fn a_footer_makes_no_part_that_the_mail_does_not_have() {
    let got = TestApp::new()
        .render(
            &mail_of(&[(TEXT, "t")], FOOTER),
            None,
            &AccountDefaults::default(),
        )
        .unwrap();
    assert_eq!(got.parts.len(), 1);
}

#[test]
fn without_links_nothing_is_signed() {
    let everything = format!(
        r#"{GROUP},"tracking_settings":{{"click_tracking":{{"enable":true,"enable_text":true}},"open_tracking":{{"enable":true,"substitution_tag":"[px]"}}}}"#
    );
    let html = "<a href=\"https://x.co\"><%asm_preferences_url%>[px]</a>";
    let mail = mail_of(&[(TEXT, "https://x.co"), (HTML, html)], &everything);
    let settings = effective(&AccountDefaults::default(), &mail);
    let got = TestApp::new()
        .render_with(&mail, None, &settings, None)
        .unwrap();
    assert_eq!((part(&got, TEXT), part(&got, HTML)), ("https://x.co", html));
    assert!(got.headers.is_empty());
}

#[test]
fn the_pixel_is_at_the_end_or_at_its_tag() {
    let app = TestApp::new();
    let open = |html: &str, fields: &str| {
        let settings =
            format!(r#""tracking_settings":{{"open_tracking":{{"enable":true{fields}}}}}"#);
        let mail = mail_of(&[(TEXT, "[px]"), (HTML, html)], &settings);
        let got = app
            .render(&mail, None, &AccountDefaults::default())
            .unwrap();
        assert_eq!(part(&got, TEXT), "[px]");
        part(&got, HTML).to_owned()
    };
    let tag = r#","substitution_tag":"[px]""#;
    for (html, fields, before, after) in [
        ("<body>x</body>", "", "<body>x", "</body>"),
        ("<body>[px]x</body>", "", "<body>[px]x", "</body>"),
        ("<body>[px]x[px]</body>", tag, "<body>", "x</body>"),
        ("<body>x</body>", tag, "<body>x", "</body>"),
    ] {
        let got = open(html, fields);
        let pixel = got.strip_prefix(before).and_then(|g| g.strip_suffix(after));
        let pixel = pixel.unwrap_or_else(|| panic!("{html:?} gave {got:?}"));
        let url = pixel
            .strip_prefix("<img src=\"")
            .and_then(|rest| rest.split('"').next())
            .unwrap();
        assert!(url.starts_with("https://links.example.test/wf/open?upn="));
        assert_eq!(
            app.token(url).action,
            LinkAction::Open {
                part: LinkPart::Html
            }
        );
    }
}

#[test]
fn footer_unsubscribe_line_and_pixel_come_in_this_order() {
    let settings = r#""mail_settings":{"footer":{"enable":true,"html":"FOOT"}},
        "tracking_settings":{"subscription_tracking":{"enable":true,"html":"LEAVE <% x %>"},"open_tracking":{"enable":true}}"#;
    let got = html("<body>x</body>", settings);
    let places: Vec<_> = ["x", "FOOT", "LEAVE", "<img", "</body>"]
        .iter()
        .map(|what| got.find(what).unwrap())
        .collect();
    assert!(places.is_sorted(), "{got}");
}

#[test]
fn amp_gets_a_pixel_and_links_of_its_own_kind() {
    let app = TestApp::new();
    let amp = "<!doctype html><html ⚡4email><body><a href=\"https://x.co/\">x</a><a href=\"https://x.co/{{id}}\">y</a></body></html>";
    let settings = r#""mail_settings":{"footer":{"enable":true,"html":"FOOT"}},
        "tracking_settings":{"open_tracking":{"enable":true},"click_tracking":{"enable":true}}"#;
    let mail = mail_of(&[("text/x-amp-html", amp)], settings);
    let got = app
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
    assert_eq!(
        app.readable(part(&got, "text/x-amp-html")),
        format!(
            "<!doctype html><html ⚡4email><body><a href=\"{BASE}/ls/click«click amp 0 https://x.co/»\">x</a><a href=\"https://x.co/{{{{id}}}}\">y</a><amp-img src=\"{BASE}/wf/open«open amp»\" width=\"1\" height=\"1\" alt=\"\"></amp-img></body></html>"
        )
    );
    let mut plain = app.links();
    plain.base = "http://127.0.0.1:8080/";
    let settings = effective(&AccountDefaults::default(), &mail);
    let got = app
        .render_with(&mail, None, &settings, Some(plain))
        .unwrap();
    assert_eq!(part(&got, "text/x-amp-html"), amp);
}

#[test]
fn a_few_bytes_that_become_links_do_not_outgrow_the_copy() {
    let tag =
        r#""tracking_settings":{"subscription_tracking":{"enable":true,"substitution_tag":"x"}}"#;
    let leave = |count: usize| {
        let text = "<%%>".repeat(count);
        format!(
            r#""tracking_settings":{{"subscription_tracking":{{"enable":true,"text":"{text}"}}}}"#
        )
    };
    let source = "s".repeat(4_000);
    let utm = format!(
        r#""tracking_settings":{{"ganalytics":{{"enable":true,"utm_source":"{source}"}}}}"#
    );
    let link = "<a href=\"https://x.co\">x</a>";
    let ask = |mime_type: &str, value: &str, settings: &str| {
        let mail = mail_of(&[(mime_type, value)], settings);
        let got = TestApp::new().render(&mail, None, &AccountDefaults::default());
        got.map(|_| ())
    };
    for (count, want) in [(100, Ok(())), (400_000, Err(RenderError::TooLarge))] {
        assert_eq!(ask(TEXT, &"x".repeat(count), tag), want);
        assert_eq!(ask(TEXT, "Hi", &leave(count)), want);
        let tags = "<%asm_preferences_raw_url%>".repeat(count);
        assert_eq!(ask(TEXT, &tags, GROUP), want);
    }
    assert_eq!(ask(HTML, &link.repeat(100), &utm), Ok(()));
    let too_large = Err(RenderError::TooLarge);
    assert_eq!(ask(HTML, &link.repeat(8_000), &utm), too_large);
}

#[test]
fn with_everything_off_the_content_is_what_came() {
    let html = test_app::ODD_HTML;
    let mail = mail_of(&[(TEXT, "t <% x %> https://x.co\r\n"), (HTML, html)], "");
    let off = Effective {
        footer: Footer {
            enable: false,
            html: Some("x".to_owned()),
            text: None,
        },
        ..Effective::default()
    };
    let app = TestApp::new();
    let got = app
        .render_with(&mail, None, &off, Some(app.links()))
        .unwrap();
    assert_eq!(got.parts, mail.content);
}

#[test]
fn parts_that_are_neither_text_nor_html_are_left_alone() {
    let settings = format!(
        r#"{FOOTER},"tracking_settings":{{"click_tracking":{{"enable":true,"enable_text":true}},"open_tracking":{{"enable":true}}}}"#
    );
    let calendar = "BEGIN:VCALENDAR\r\nURL:https://x.co\r\nEND:VCALENDAR\r\n";
    let mail = mail_of(&[("text/calendar; method=REQUEST", calendar)], &settings);
    let got = TestApp::new()
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
    assert_eq!(got.parts, mail.content);
}

#[test]
fn a_content_type_with_parameters_is_still_html() {
    let mail = mail_of(&[("Text/HTML; charset=utf-8", "x")], FOOTER);
    let got = TestApp::new()
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
    assert_eq!(part(&got, "Text/HTML; charset=utf-8"), "x<i>html</i>");
}
