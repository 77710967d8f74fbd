//! What the request and its template say: substitutions, legacy and dynamic templates.

use posthaste_model::{Mail, Wrapper};
use posthaste_render::{
    AccountDefaults, Compiled, Generation, RenderError, TemplateVersion, plain_from_html,
};

use crate::test_app::{BASE, HTML, TEXT, TestApp, mail, mail_of, part};

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

#[test]
fn substitutions_reach_subject_content_and_reply_to_but_not_arguments() {
    let mail = mail(
        r#"{"from":{"email":"f@x.co"},"subject":"Hi -name-","custom_args":{"a":"-name-"},
        "reply_to":[{"email":"re--id-@x.co","name":"Desk -id-"}],
        "content":[{"type":"text/plain","value":"T -name-"},{"type":"text/html","value":"<p>-name-</p>"},
                   {"type":"text/calendar; method=REQUEST","value":"-name-"}],
        "personalizations":[{"to":[{"email":"a@x.co"}],"substitutions":{"-name-":"A <b>","-id-":"7"}}]}"#,
    );
    let got = TestApp::new()
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
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
    let got = TestApp::new()
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
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
    let got = TestApp::new()
        .render(&mail, None, &AccountDefaults::default())
        .unwrap();
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
    let got = TestApp::new().render(&mail, None, &AccountDefaults::default());
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
        let got = TestApp::new()
            .render(&mail, Some(&template), &AccountDefaults::default())
            .unwrap();
        assert_eq!(got.subject, "[News] Hello");
        assert_eq!((part(&got, TEXT), part(&got, HTML)), (want_text, want_html));
    }
}

#[test]
fn a_template_without_a_text_leaves_the_requests() {
    let template = legacy("", "<b><%body%></b>", "");
    let mail = mail_of(&[(TEXT, "t"), (HTML, "h"), ("text/calendar", "c")], "");
    let got = TestApp::new()
        .render(&mail, Some(&template), &AccountDefaults::default())
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
    let got = TestApp::new()
        .render(&mail, Some(&template), &AccountDefaults::default())
        .unwrap();
    assert_eq!(got.subject, "Re: A &amp; B A & B");
    let parts: Vec<_> = got.parts.iter().map(|p| p.value.as_str()).collect();
    assert_eq!(parts, ["A &amp; B!", "amp", "<p>A &amp; B</p>", "c"]);
}

#[test]
fn a_dynamic_template_without_a_subject_takes_the_requests() {
    let template = dynamic("", "x", "", false);
    let got = TestApp::new()
        .render(
            &mail_with_data(&[], "{}"),
            Some(&template),
            &AccountDefaults::default(),
        )
        .unwrap();
    assert_eq!(got.subject, "Hello");
}

#[test]
fn a_text_part_is_generated_from_the_rendered_html_where_none_is_written() {
    let html = "<p>Hi {{n}}</p>{{{more}}}";
    let made = plain_from_html(html);
    let mail = mail_with_data(&[], r#"{"n":"A & B","more":"<ul><li>one</li></ul>"}"#);
    for (plain, generate, want) in [
        ("", true, "Hi A & B\n\n* one"),
        // What was saved when the text was generated is no text of anybody's own.
        (made.as_str(), true, "Hi A & B\n\n* one"),
        ("Own {{{n}}}", true, "Own A & B"),
        ("Own {{{n}}}", false, "Own A & B"),
        ("", false, ""),
    ] {
        let template = dynamic("s", html, plain, generate);
        let got = TestApp::new().render(&mail, Some(&template), &AccountDefaults::default());
        assert_eq!(part(&got.unwrap(), TEXT), want, "{plain:?} {generate}");
    }
}

#[test]
fn a_legacy_template_that_generates_its_text_keeps_its_tags() {
    let template = Compiled::compile(&TemplateVersion {
        generation: Generation::Legacy,
        subject: "",
        html_content: "<h1>News</h1><%body%><p>-bye-</p>",
        plain_content: "",
        generate_plain_content: true,
    })
    .unwrap();
    let mut mail = mail_of(&[(TEXT, "t"), (HTML, "<b>h</b>")], "");
    let tags = &mut mail.personalizations[0].substitutions;
    tags.insert("-bye-".to_owned(), "Bye".to_owned());
    let got = TestApp::new()
        .render(&mail, Some(&template), &AccountDefaults::default())
        .unwrap();
    assert_eq!(part(&got, TEXT), "News\n\nt\n\nBye");
    assert_eq!(part(&got, HTML), "<h1>News</h1><b>h</b><p>Bye</p>");
}

#[test]
fn data_that_is_no_object_drops_the_recipient() {
    let template = dynamic("s", "x", "", false);
    for bad in ["[]", "3", "{", ""] {
        let got = TestApp::new().render(
            &mail_with_data(&[], bad),
            Some(&template),
            &AccountDefaults::default(),
        );
        assert_eq!(got, Err(RenderError::Data), "{bad:?}");
    }
    assert!(
        TestApp::new()
            .render(
                &mail_of(&[], ""),
                Some(&template),
                &AccountDefaults::default()
            )
            .is_ok()
    );
}

#[test]
fn a_dynamic_template_has_the_names_of_the_service() {
    let app = TestApp::new();
    let template = dynamic(
        "s",
        "<a href=\"{{{unsubscribe}}}\">x</a> <a href=\"{{{unsubscribe_preferences}}}\">y</a>",
        "",
        false,
    );
    let mut mail = mail_with_data(&[], "{}");
    let got = app
        .render(&mail, Some(&template), &AccountDefaults::default())
        .unwrap();
    assert_eq!(
        app.readable(part(&got, HTML)),
        format!(
            "<a href=\"{BASE}/asm/unsubscribe«unsubscribe»\">x</a> <a href=\"{BASE}/asm/unsubscribe«unsubscribe»\">y</a>"
        )
    );
    mail.asm = Some(posthaste_model::Asm {
        group_id: 12,
        groups_to_display: vec![12, 3],
    });
    let got = app
        .render(&mail, Some(&template), &AccountDefaults::default())
        .unwrap();
    assert_eq!(
        app.readable(part(&got, HTML)),
        format!(
            "<a href=\"{BASE}/asm/unsubscribe«leave 12»\">x</a> <a href=\"{BASE}/asm/preferences«preferences 12 [12, 3]»\">y</a>"
        )
    );
    mail.personalizations[0].dynamic_template_data = Some(r#"{"unsubscribe":"own"}"#.to_owned());
    let got = app
        .render(&mail, Some(&template), &AccountDefaults::default())
        .unwrap();
    assert!(part(&got, HTML).starts_with("<a href=\"own\">"));
}

#[test]
fn the_accounts_own_html_goes_around_mails_without_a_template() {
    let account = AccountDefaults {
        wrapper: Wrapper {
            enable: true,
            html: "<div><% body %></div>".to_owned(),
        },
        ..AccountDefaults::default()
    };
    let app = TestApp::new();
    let mail = mail_of(&[(TEXT, "t"), (HTML, "<p>h</p>")], "");
    let got = app.render(&mail, None, &account).unwrap();
    assert_eq!(
        (part(&got, TEXT), part(&got, HTML)),
        ("t", "<div><p>h</p></div>")
    );
    let got = app
        .render(&mail, Some(&legacy("", "<b><%body%></b>", "")), &account)
        .unwrap();
    assert_eq!(part(&got, HTML), "<b><p>h</p></b>");
    let got = app
        .render(&mail_of(&[(TEXT, "t")], ""), None, &account)
        .unwrap();
    assert_eq!(got.parts.len(), 1);
}
