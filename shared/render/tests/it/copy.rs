//! What ends up in a recipient's copy, rule by rule.

use posthaste_model::{Footer, Mail};
use posthaste_render::{
    AccountDefaults, Action, Compiled, Effective, Generation, Part, RenderError, TemplateVersion,
    effective,
};

use crate::desk::{self, BASE, Desk, mail, mail_of, part};

const HTML: &str = "text/html";
const TEXT: &str = "text/plain";

fn legacy<'a>(subject: &'a str, html: &'a str, plain: &'a str) -> Compiled {
    Compiled::compile(&TemplateVersion {
        generation: Generation::Legacy,
        subject,
        html_content: html,
        plain_content: plain,
        generate_plain_content: false,
    })
    .unwrap()
}

fn plain_account() -> AccountDefaults {
    AccountDefaults::default()
}

/// The HTML of a mail, links made readable.
#[track_caller]
fn html(value: &str, settings: &str) -> String {
    let desk = Desk::new();
    let rendered = desk
        .render(&mail_of(&[(HTML, value)], settings), None, &plain_account())
        .unwrap();
    desk.readable(part(&rendered, HTML))
}

#[track_caller]
fn text(value: &str, settings: &str) -> String {
    let desk = Desk::new();
    let rendered = desk
        .render(&mail_of(&[(TEXT, value)], settings), None, &plain_account())
        .unwrap();
    desk.readable(part(&rendered, TEXT))
}

#[test]
fn substitutions_reach_subject_content_and_reply_to_but_not_arguments() {
    let mail = mail(
        r#"{"from":{"email":"f@x.co"},"subject":"Hi -name-","custom_args":{"a":"-name-"},
        "reply_to":[{"email":"re--id-@x.co","name":"Desk -id-"}],
        "content":[{"type":"text/plain","value":"T -name-"},{"type":"text/html","value":"<p>-name-</p>"},
                   {"type":"text/calendar; method=REQUEST","value":"-name-"}],
        "personalizations":[{"to":[{"email":"a@x.co"}],"substitutions":{"-name-":"A <b>","-id-":"7"}}]}"#,
    );
    let got = Desk::new().render(&mail, None, &plain_account()).unwrap();
    assert_eq!(got.subject, "Hi A <b>");
    assert_eq!(part(&got, TEXT), "T A <b>");
    assert_eq!(part(&got, HTML), "<p>A <b></p>");
    assert_eq!(part(&got, "text/calendar; method=REQUEST"), "A <b>");
    assert_eq!(got.reply_to[0].email.as_str(), "re-7@x.co");
    assert_eq!(got.reply_to[0].name.as_deref(), Some("Desk 7"));
    assert!(got.headers.is_empty());
}

#[test]
fn a_personalization_overrides_the_subject() {
    let mut mail = mail_of(&[(TEXT, "x")], "");
    mail.personalizations[0].subject = Some("Own".to_owned());
    let got = Desk::new().render(&mail, None, &plain_account()).unwrap();
    assert_eq!(got.subject, "Own");
}

#[test]
fn a_substitution_cannot_add_a_header_line() {
    let mut mail = mail(
        r#"{"from":{"email":"f@x.co"},"subject":"Hi %n%","reply_to":[{"email":"r@x.co","name":"%n%"}],
        "content":[{"type":"text/plain","value":"x"}],"personalizations":[{"to":[{"email":"a@x.co"}]}]}"#,
    );
    let tags = &mut mail.personalizations[0].substitutions;
    tags.insert("%n%".to_owned(), "A\r\nBcc: evil@x.co\u{0}".to_owned());
    let got = Desk::new().render(&mail, None, &plain_account()).unwrap();
    assert_eq!(got.subject, "Hi A  Bcc: evil@x.co ");
    assert_eq!(got.reply_to[0].name.as_deref(), Some("A  Bcc: evil@x.co "));
}

#[test]
fn a_reply_to_that_substitution_spoils_drops_the_recipient() {
    let mut mail = mail(
        r#"{"from":{"email":"f@x.co"},"subject":"x","reply_to":[{"email":"to-x-@x.co"}],
        "content":[{"type":"text/plain","value":"x"}],"personalizations":[{"to":[{"email":"a@x.co"}]}]}"#,
    );
    let tags = &mut mail.personalizations[0].substitutions;
    tags.insert("-x-".to_owned(), " a b".to_owned());
    let got = Desk::new().render(&mail, None, &plain_account());
    assert!(matches!(got, Err(RenderError::ReplyTo(_))), "{got:?}");
}

#[test]
fn a_legacy_template_wraps_what_the_request_brings() {
    let template = legacy(
        "[News] <%subject%>",
        "<h1><% body %></h1><%subject%>",
        "== <%body%> ==",
    );
    for (parts, want_text, want_html) in [
        (
            vec![(TEXT, "t -n-"), (HTML, "<i>h -n-</i>")],
            "== t 5 ==",
            "<h1><i>h 5</i></h1>Hello",
        ),
        (
            vec![(TEXT, "a < b\nc")],
            "== a < b\nc ==",
            "<h1>a &lt; b<br>\nc</h1>Hello",
        ),
        (
            vec![(HTML, "<p>a</p><p>b</p>")],
            "== a\n\nb ==",
            "<h1><p>a</p><p>b</p></h1>Hello",
        ),
        (vec![], "==  ==", "<h1></h1>Hello"),
    ] {
        let mut mail = mail_of(&parts, "");
        let tags = &mut mail.personalizations[0].substitutions;
        tags.insert("-n-".to_owned(), "5".to_owned());
        let got = Desk::new()
            .render(&mail, Some(&template), &plain_account())
            .unwrap();
        assert_eq!(got.subject, "[News] Hello");
        assert_eq!((part(&got, TEXT), part(&got, HTML)), (want_text, want_html));
    }
}

#[test]
fn a_template_without_a_text_leaves_the_requests() {
    let template = legacy("", "<b><%body%></b>", "");
    let mail = mail_of(&[(TEXT, "t"), (HTML, "h"), ("text/calendar", "c")], "");
    let got = Desk::new()
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert_eq!(got.subject, "Hello");
    let parts: Vec<_> = got.parts.iter().map(|p| p.value.as_str()).collect();
    assert_eq!(parts, ["t", "<b>h</b>", "c"]);
}

fn dynamic(subject: &str, html: &str, plain: &str, generate: bool) -> Compiled {
    Compiled::compile(&TemplateVersion {
        generation: Generation::Dynamic,
        subject,
        html_content: html,
        plain_content: plain,
        generate_plain_content: generate,
    })
    .unwrap()
}

fn mail_with_data(parts: &[(&str, &str)], data: &str) -> Mail {
    let mut mail = mail_of(parts, "");
    mail.personalizations[0].dynamic_template_data = Some(data.to_owned());
    mail
}

#[test]
fn a_dynamic_template_wins_over_the_request() {
    let template = dynamic("Re: {{x}} {{{x}}}", "<p>{{x}}</p>", "{{x}}!", false);
    let mail = mail_with_data(
        &[
            (TEXT, "t"),
            ("text/x-amp-html", "amp"),
            (HTML, "h"),
            ("text/calendar", "c"),
        ],
        r#"{"x":"A & B"}"#,
    );
    let got = Desk::new()
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert_eq!(got.subject, "Re: A &amp; B A & B");
    let parts: Vec<_> = got.parts.iter().map(|p| p.value.as_str()).collect();
    assert_eq!(parts, ["A &amp; B!", "amp", "<p>A &amp; B</p>", "c"]);
}

#[test]
fn a_dynamic_template_without_a_subject_takes_the_requests() {
    let template = dynamic("", "x", "", false);
    let got = Desk::new()
        .render(
            &mail_with_data(&[], "{}"),
            Some(&template),
            &plain_account(),
        )
        .unwrap();
    assert_eq!(got.subject, "Hello");
}

#[test]
fn a_text_part_is_generated_from_the_rendered_html() {
    let template = dynamic("s", "<p>Hi {{n}}</p>{{{more}}}", "ignored", true);
    let mail = mail_with_data(&[], r#"{"n":"A & B","more":"<ul><li>one</li></ul>"}"#);
    let got = Desk::new()
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert_eq!(part(&got, TEXT), "Hi A & B\n\n* one");
}

#[test]
fn a_legacy_template_that_generates_its_text_keeps_its_tags() {
    let template = Compiled::compile(&TemplateVersion {
        generation: Generation::Legacy,
        subject: "",
        html_content: "<h1>News</h1><%body%><p>-bye-</p>",
        plain_content: "ignored",
        generate_plain_content: true,
    })
    .unwrap();
    let mut mail = mail_of(&[(TEXT, "t"), (HTML, "<b>h</b>")], "");
    let tags = &mut mail.personalizations[0].substitutions;
    tags.insert("-bye-".to_owned(), "Bye".to_owned());
    let got = Desk::new()
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert_eq!(part(&got, TEXT), "News\n\nt\n\nBye");
    assert_eq!(part(&got, HTML), "<h1>News</h1><b>h</b><p>Bye</p>");
}

#[test]
fn data_that_is_no_object_drops_the_recipient() {
    let template = dynamic("s", "x", "", false);
    for bad in ["[]", "3", "{", ""] {
        let got = Desk::new().render(&mail_with_data(&[], bad), Some(&template), &plain_account());
        assert_eq!(got, Err(RenderError::Data), "{bad:?}");
    }
    assert!(
        Desk::new()
            .render(&mail_of(&[], ""), Some(&template), &plain_account())
            .is_ok()
    );
}

#[test]
fn a_dynamic_template_has_the_names_of_the_service() {
    let desk = Desk::new();
    let template = dynamic(
        "s",
        "<a href=\"{{{unsubscribe}}}\">x</a> <a href=\"{{{unsubscribe_preferences}}}\">y</a>",
        "",
        false,
    );
    let mut mail = mail_with_data(&[], "{}");
    let got = desk
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert_eq!(
        desk.readable(part(&got, HTML)),
        format!(
            "<a href=\"{BASE}/asm/unsubscribe«unsubscribe»\">x</a> <a href=\"{BASE}/asm/unsubscribe«unsubscribe»\">y</a>"
        )
    );
    mail.asm = Some(posthaste_model::Asm {
        group_id: 12,
        groups_to_display: vec![12, 3],
    });
    let got = desk
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert_eq!(
        desk.readable(part(&got, HTML)),
        format!(
            "<a href=\"{BASE}/asm/unsubscribe«leave 12»\">x</a> <a href=\"{BASE}/asm/preferences«preferences 12 [12, 3]»\">y</a>"
        )
    );
    mail.personalizations[0].dynamic_template_data = Some(r#"{"unsubscribe":"own"}"#.to_owned());
    let got = desk
        .render(&mail, Some(&template), &plain_account())
        .unwrap();
    assert!(part(&got, HTML).starts_with("<a href=\"own\">"));
}

#[test]
fn the_accounts_own_html_goes_around_mails_without_a_template() {
    let account = AccountDefaults {
        wrapper: Some("<div><% body %></div>".to_owned()),
        ..AccountDefaults::default()
    };
    let desk = Desk::new();
    let mail = mail_of(&[(TEXT, "t"), (HTML, "<p>h</p>")], "");
    let got = desk.render(&mail, None, &account).unwrap();
    assert_eq!(
        (part(&got, TEXT), part(&got, HTML)),
        ("t", "<div><p>h</p></div>")
    );
    let got = desk
        .render(&mail, Some(&legacy("", "<b><%body%></b>", "")), &account)
        .unwrap();
    assert_eq!(part(&got, HTML), "<b><p>h</p></b>");
    let got = desk
        .render(&mail_of(&[(TEXT, "t")], ""), None, &account)
        .unwrap();
    assert_eq!(got.parts.len(), 1);
}

const FOOTER: &str =
    r#""mail_settings":{"footer":{"enable":true,"text":"-- text","html":"<i>html</i>"}}"#;

#[test]
fn a_footer_stands_at_the_end_of_what_is_shown() {
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
    let got = Desk::new()
        .render(&mail_of(&[(TEXT, "t")], FOOTER), None, &plain_account())
        .unwrap();
    assert_eq!(got.parts.len(), 1);
}

fn subscription(fields: &str) -> String {
    format!(r#""tracking_settings":{{"subscription_tracking":{{"enable":true{fields}}}}}"#)
}

#[test]
fn subscription_tracking_places_its_link() {
    let out = format!("{BASE}/asm/unsubscribe«unsubscribe»");
    let own = subscription(r#","text":"Leave: <% %>","html":"Or <% leave now %>.""#);
    assert_eq!(text("Hi", &own), format!("Hi\n\nLeave: {out}"));
    assert_eq!(
        html("<p>x</p>", &own),
        format!("<p>x</p>Or <a href=\"{out}\">leave now</a>.")
    );

    let bare =
        subscription(r#","text":"<%leave%>","html":"<a class=u href=\"<% %>\">go</a> <%%>""#);
    assert_eq!(text("Hi", &bare), format!("Hi\n\nleave: {out}"));
    assert_eq!(
        html("x", &bare),
        format!("x<a class=u href=\"{out}\">go</a> <a href=\"{out}\">Unsubscribe</a>")
    );

    let forgot = subscription(r#","text":"Bye","html":"Bye""#);
    assert_eq!(text("Hi", &forgot), format!("Hi\n\nBye Unsubscribe: {out}"));
    assert_eq!(
        html("x", &forgot),
        format!("xBye <a href=\"{out}\">Unsubscribe</a>")
    );

    let silent = subscription("");
    assert!(text("Hi", &silent).ends_with(&format!("unsubscribe here: {out}")));
    assert!(html("x", &silent).contains(&format!("<a href=\"{out}\">unsubscribe here</a>")));
}

#[test]
fn a_substitution_tag_overrides_the_texts_of_subscription_tracking() {
    let out = format!("{BASE}/asm/unsubscribe«unsubscribe»");
    let own = subscription(r#","html":"<% x %>","substitution_tag":"[out]""#);
    assert_eq!(text("Go: [out]", &own), format!("Go: {out}"));
    assert_eq!(
        html("<a href=\"[out]\">x</a> [out]", &own),
        format!("<a href=\"{out}\">x</a> {out}")
    );
    assert_eq!(html("no tag", &own), "no tag");
}

const GROUP: &str = r#""asm":{"group_id":5,"groups_to_display":[5,6]}"#;

#[test]
fn asm_tags_become_links() {
    let leave = format!("{BASE}/asm/unsubscribe«leave 5»");
    let all = format!("{BASE}/asm/unsubscribe«unsubscribe»");
    let manage = format!("{BASE}/asm/preferences«preferences 5 [5, 6]»");
    for (before, after) in [
        (
            "<%asm_group_unsubscribe_url%>",
            format!("<a href=\"{leave}\">Unsubscribe From This List</a>"),
        ),
        (
            "<a href=\"<%asm_group_unsubscribe_raw_url%>\">x</a>",
            format!("<a href=\"{leave}\">x</a>"),
        ),
        (
            "<a href='<% asm_group_unsubscribe_url %>'>x</a>",
            format!("<a href='{leave}'>x</a>"),
        ),
        (
            "<a href=\"&lt;%asm_group_unsubscribe_raw_url%&gt;\">x</a>",
            format!("<a href=\"{leave}\">x</a>"),
        ),
        (
            "<a href=\"%3C%25asm_group_unsubscribe_raw_url%25%3E\">x</a>",
            format!("<a href=\"{leave}\">x</a>"),
        ),
        (
            "<%asm_global_unsubscribe_url%>",
            format!("<a href=\"{all}\">Unsubscribe From All Emails</a>"),
        ),
        ("<%asm_global_unsubscribe_raw_url%>", all.clone()),
        (
            "<%asm_preferences_url%>",
            format!("<a href=\"{manage}\">Manage Email Preferences</a>"),
        ),
        ("<%asm_preferences_raw_url%>", manage.clone()),
    ] {
        assert_eq!(html(before, GROUP), after, "{before:?}");
    }
    assert_eq!(
        text(
            "<%asm_group_unsubscribe_url%> <%asm_preferences_raw_url%>",
            GROUP
        ),
        format!("Unsubscribe From This List: {leave} {manage}")
    );
    assert!(html("<%asm_unknown%>", GROUP).starts_with("<%asm_unknown%>"));
}

#[test]
fn a_mail_with_a_group_and_no_tag_gets_a_line_of_ours() {
    let leave = format!("{BASE}/asm/unsubscribe«leave 5»");
    let got = html("<body>x</body>", GROUP);
    assert!(got.contains(&format!(
        "<a href=\"{leave}\">Unsubscribe From This List</a>"
    )));
    assert!(got.ends_with("</p></body>"));
    assert!(text("x", GROUP).starts_with(&format!("x\n\nUnsubscribe From This List: {leave}\n")));
    let footer = format!(
        r#"{GROUP},"mail_settings":{{"footer":{{"enable":true,"html":"<%asm_preferences_url%>"}}}}"#
    );
    assert!(!html("x", &footer).contains("Unsubscribe From This List"));
}

#[test]
fn with_a_group_subscription_tracking_adds_nothing() {
    let both = format!("{GROUP},{}", subscription(r#","html":"<% own %>""#));
    let got = html("x <%asm_preferences_url%>", &both);
    assert!(
        !got.contains("own") && got.contains("Manage Email Preferences"),
        "{got}"
    );
}

#[test]
fn a_mail_that_can_be_left_says_so_in_its_headers() {
    let desk = Desk::new();
    let headers = |settings: &str| {
        let mail = mail_of(&[(TEXT, "x")], settings);
        desk.render(&mail, None, &plain_account()).unwrap().headers
    };
    assert!(headers("").is_empty());
    for (settings, action) in [
        (subscription(""), Action::Unsubscribe),
        (GROUP.to_owned(), Action::GroupUnsubscribe { group: 5 }),
    ] {
        let headers = headers(&settings);
        assert_eq!(headers.len(), 2);
        assert_eq!(headers[0].0, "List-Unsubscribe");
        let url = headers[0]
            .1
            .strip_prefix('<')
            .and_then(|u| u.strip_suffix('>'))
            .unwrap();
        assert!(url.starts_with("https://links.example.test/asm/unsubscribe?upn="));
        let token = desk.token(url);
        assert_eq!(
            (token.action, token.email.as_str()),
            (action, "ann@example.test")
        );
        assert_eq!(
            headers[1],
            (
                "List-Unsubscribe-Post".to_owned(),
                "List-Unsubscribe=One-Click".to_owned()
            )
        );
    }
    let own = format!(r#"{GROUP},"headers":{{"list-unsubscribe":"<https://own.example>"}}"#);
    assert!(headers(&own).is_empty());
}

#[test]
fn unsubscribe_mails_are_offered_where_somebody_reads_them() {
    let desk = Desk::new();
    let mail = mail_of(&[(TEXT, "x")], GROUP);
    let settings = effective(&plain_account(), &mail);
    let mut links = desk.links();
    links.mailbox = Some("leave@example.test");
    let got = desk
        .render_with(&mail, None, &settings, Some(links))
        .unwrap();
    let (_, mailto) = got.headers[0]
        .1
        .split_once(", <mailto:leave@example.test?subject=")
        .unwrap();
    let token = desk.keys.verify(mailto.strip_suffix('>').unwrap()).unwrap();
    assert_eq!(token.action, Action::GroupUnsubscribe { group: 5 });
}

#[test]
fn without_links_nothing_is_signed() {
    let everything = format!(
        r#"{GROUP},"tracking_settings":{{"click_tracking":{{"enable":true,"enable_text":true}},"open_tracking":{{"enable":true,"substitution_tag":"[px]"}}}}"#
    );
    let html = "<a href=\"https://x.co\"><%asm_preferences_url%>[px]</a>";
    let mail = mail_of(&[(TEXT, "https://x.co"), (HTML, html)], &everything);
    let settings = effective(&plain_account(), &mail);
    let got = Desk::new()
        .render_with(&mail, None, &settings, None)
        .unwrap();
    assert_eq!((part(&got, TEXT), part(&got, HTML)), ("https://x.co", html));
    assert!(got.headers.is_empty());
}

#[test]
fn the_pixel_stands_at_the_end_or_at_its_tag() {
    let desk = Desk::new();
    let open = |html: &str, fields: &str| {
        let settings =
            format!(r#""tracking_settings":{{"open_tracking":{{"enable":true{fields}}}}}"#);
        let mail = mail_of(&[(TEXT, "[px]"), (HTML, html)], &settings);
        let got = desk.render(&mail, None, &plain_account()).unwrap();
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
        assert_eq!(desk.token(url).action, Action::Open { part: Part::Html });
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
    let desk = Desk::new();
    let amp = "<!doctype html><html ⚡4email><body><a href=\"https://x.co/\">x</a><a href=\"https://x.co/{{id}}\">y</a></body></html>";
    let settings = r#""mail_settings":{"footer":{"enable":true,"html":"FOOT"}},
        "tracking_settings":{"open_tracking":{"enable":true},"click_tracking":{"enable":true}}"#;
    let mail = mail_of(&[("text/x-amp-html", amp)], settings);
    let got = desk.render(&mail, None, &plain_account()).unwrap();
    assert_eq!(
        desk.readable(part(&got, "text/x-amp-html")),
        format!(
            "<!doctype html><html ⚡4email><body><a href=\"{BASE}/ls/click«click amp 0 https://x.co/»\">x</a><a href=\"https://x.co/{{{{id}}}}\">y</a><amp-img src=\"{BASE}/wf/open«open amp»\" width=\"1\" height=\"1\" alt=\"\"></amp-img></body></html>"
        )
    );
    let mut plain = desk.links();
    plain.base = "http://127.0.0.1:8080/";
    let settings = effective(&plain_account(), &mail);
    let got = desk
        .render_with(&mail, None, &settings, Some(plain))
        .unwrap();
    assert_eq!(part(&got, "text/x-amp-html"), amp);
}

#[test]
fn with_everything_off_the_content_is_what_came() {
    let html = desk::ODD_HTML;
    let mail = mail_of(&[(TEXT, "t <% x %> https://x.co\r\n"), (HTML, html)], "");
    let off = Effective {
        footer: Footer {
            enable: false,
            html: Some("x".to_owned()),
            text: None,
        },
        ..Effective::default()
    };
    let desk = Desk::new();
    let got = desk
        .render_with(&mail, None, &off, Some(desk.links()))
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
    let got = Desk::new().render(&mail, None, &plain_account()).unwrap();
    assert_eq!(got.parts, mail.content);
}

#[test]
fn a_content_type_with_parameters_is_still_html() {
    let mail = mail_of(&[("Text/HTML; charset=utf-8", "x")], FOOTER);
    let got = Desk::new().render(&mail, None, &plain_account()).unwrap();
    assert_eq!(part(&got, "Text/HTML; charset=utf-8"), "x<i>html</i>");
}
