//! Every way off the list.

use posthaste_render::{AccountDefaults, LinkAction, effective};

use crate::test_app::{BASE, GROUP, TEXT, TestApp, html, mail_of, text};

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
fn a_mail_with_a_group_and_no_tag_gets_an_unsubscribe_line() {
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
    let app = TestApp::new();
    let headers = |settings: &str| {
        let mail = mail_of(&[(TEXT, "x")], settings);
        app.render(&mail, None, &AccountDefaults::default())
            .unwrap()
            .headers
    };
    assert!(headers("").is_empty());
    for (settings, action) in [
        (subscription(""), LinkAction::Unsubscribe),
        (GROUP.to_owned(), LinkAction::GroupUnsubscribe { group: 5 }),
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
        let token = app.token(url);
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
fn unsubscribe_mails_are_offered_where_they_are_received() {
    let app = TestApp::new();
    let mail = mail_of(&[(TEXT, "x")], GROUP);
    let settings = effective(&AccountDefaults::default(), &mail);
    let mut links = app.links();
    links.mailbox = Some("leave@example.test");
    let got = app
        .render_with(&mail, None, &settings, Some(links))
        .unwrap();
    let (_, mailto) = got.headers[0]
        .1
        .split_once(", <mailto:leave@example.test?subject=")
        .unwrap();
    let token = app.keys.verify(mailto.strip_suffix('>').unwrap()).unwrap();
    assert_eq!(token.action, LinkAction::GroupUnsubscribe { group: 5 });
}
