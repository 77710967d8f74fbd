//! What holds for any markup and any link.

use posthaste_render::{AccountDefaults, LinkAction, LinkPart};
use proptest::prelude::*;

use crate::test_app::{self, TestApp, html as with, mail_of, part};

const CLICK: &str = r#""tracking_settings":{"click_tracking":{"enable":true}}"#;

fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<a href=\"https://x.co/?a=1&amp;b='c'\">",
        "<A HREF='http://y.co'>",
        "<a href=https://z.co>",
        "</a>",
        "<a clicktracking=off href=\"https://q.co\">",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<script>",
        "</script>",
        "<style>",
        "</style>",
        "<body>",
        "</body>",
        "<html>",
        "</html>",
        "<template>",
        "</template>",
        "<svg>",
        "</svg>",
        "<math>",
        "<select>",
        "<xmp>",
        "<plaintext>",
        "<table>",
        "<",
        ">",
        "\"",
        "'",
        "&",
        "=",
        "/",
        " ",
        "\n",
        "é",
        "\u{0}",
        "<%",
        "%>",
        "{{a}}",
        "https://x.co",
        "x",
        "<noscript>",
        "<textarea>",
        "<title>",
        "<br/>",
        "<!doctype html>",
        "<?xml?>",
        "</",
        "<a ",
        "href",
        "[px]",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

const ALL: &str = r#""asm":{"group_id":5},"mail_settings":{"footer":{"enable":true,"html":"<a href=\"https://f.co\">","text":"https://f.co"}},
    "tracking_settings":{"click_tracking":{"enable":true,"enable_text":true},"open_tracking":{"enable":true,"substitution_tag":"[px]"},
    "ganalytics":{"enable":true,"utm_source":"s"}}"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_click_token_decodes_to_the_original_url(path in "[a-zA-Z0-9._~:/?#@!$&'()*+,;=% \"<>é{}|^`-]{0,60}") {
        let url = format!("https://x.co/{path}");
        let url = url.trim_end();
        let written: String = url.chars().map(|c| match c {
            '&' => "&amp;".to_owned(),
            '"' => "&#34;".to_owned(),
            c => c.to_string(),
        }).collect();
        let app = TestApp::new();
        let mail = mail_of(&[("text/html", &format!("<p>a</p><a class=b href=\"{written}\">c</a>"))], CLICK);
        let got = app.render(&mail, None, &AccountDefaults::default()).unwrap();
        let html = part(&got, "text/html");
        let link = html.strip_prefix("<p>a</p><a class=b href=\"").and_then(|h| h.strip_suffix("\">c</a>")).unwrap();
        let said = app.token(link);
        prop_assert_eq!(said.action, LinkAction::Click { part: LinkPart::Html, index: 0, url: url.to_owned() });
        prop_assert_eq!(said.recipient, 0);
        prop_assert_eq!(said.email.as_str(), "ann@example.test");
    }

    #[test]
    fn no_markup_makes_the_renderer_panic(html in soup()) {
        let html = html.replace("<?xml?>", "<%asm_preferences_url%>");
        let mail = mail_of(&[("text/plain", &html), ("text/html", &html), ("text/x-amp-html", &html)], ALL);
        let got = TestApp::new().render(&mail, None, &AccountDefaults::default()).unwrap();
        prop_assert!(got.parts.iter().all(|part| part.value.len() >= html.len()));
    }

    #[test]
    fn with_all_tracking_off_the_html_is_what_came(html in soup()) {
        prop_assert_eq!(with(&html, ""), html);
    }

    #[test]
    fn tracking_changes_nothing_but_links(html in soup()) {
        // Putting each target back where its link stands gives the original, entities aside.
        let decoded = |text: &str| text.replace("&amp;", "&");
        prop_assert_eq!(decoded(&test_app::untrack(&with(&html, CLICK))), decoded(&html));
    }
}
