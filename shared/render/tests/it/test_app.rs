//! What the tests share: keys, mails, and a way to read signed links.

use posthaste_model::{AccountId, Mail, MessageId, Timestamp};
use posthaste_render::{
    AccountDefaults, Compiled, Effective, Generation, Input, KeyRing, LinkAction, LinkToken, Links,
    RenderError, Rendered, TemplateVersion, effective, render,
};

pub(crate) const BASE: &str = "https://links.example.test";

/// What a test renders with.
pub(crate) struct TestApp {
    pub(crate) keys: KeyRing,
    pub(crate) account: AccountId,
    pub(crate) message: MessageId,
}

impl TestApp {
    pub(crate) fn new() -> Self {
        Self {
            keys: KeyRing::new(&[(1, &[7; 32])]).unwrap(),
            account: AccountId::from_bytes(*b"0123456789"),
            message: MessageId::from_bytes(*b"0123456789abcdef"),
        }
    }

    pub(crate) fn links(&self) -> Links<'_> {
        Links {
            base: BASE,
            host: None,
            keys: &self.keys,
            account: &self.account,
            message: &self.message,
            now: Timestamp(1_795_820_482),
            mailbox: None,
        }
    }

    /// The first recipient's copy.
    pub(crate) fn render(
        &self,
        mail: &Mail,
        template: Option<&Compiled>,
        account: &AccountDefaults,
    ) -> Result<Rendered, RenderError> {
        let settings = effective(account, mail);
        self.render_with(mail, template, &settings, Some(self.links()))
    }

    pub(crate) fn render_with(
        &self,
        mail: &Mail,
        template: Option<&Compiled>,
        settings: &Effective,
        links: Option<Links<'_>>,
    ) -> Result<Rendered, RenderError> {
        render(&Input {
            mail,
            copy: mail.copies().next().unwrap(),
            template,
            settings,
            links,
        })
    }

    /// The token of a link of the service.
    pub(crate) fn token(&self, url: &str) -> LinkToken {
        let (_, token) = url
            .split_once("?upn=")
            .unwrap_or_else(|| panic!("not ours: {url}"));
        self.keys.verify(token).unwrap()
    }

    /// A text with every link of the service replaced by the contents of its token.
    pub(crate) fn readable(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("?upn=") {
            let (before, token) = rest.split_at(at);
            let token = &token["?upn=".len()..];
            let end = token
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
                .unwrap_or(token.len());
            let said = self.keys.verify(&token[..end]).unwrap();
            assert_eq!(
                (&said.account, &said.message),
                (&self.account, &self.message)
            );
            out.push_str(before);
            out.push_str(&match said.action {
                LinkAction::Open { part } => format!("«open {}»", part.as_str()),
                LinkAction::Click { part, index, url } => {
                    format!("«click {} {index} {url}»", part.as_str())
                }
                LinkAction::Unsubscribe => "«unsubscribe»".to_owned(),
                LinkAction::GroupUnsubscribe { group } => format!("«leave {group}»"),
                LinkAction::Preferences { group, display } => {
                    format!("«preferences {group} {display:?}»")
                }
            });
            rest = &token[end..];
        }
        out.push_str(rest);
        out
    }
}

pub(crate) fn mail(json: &str) -> Mail {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"))
}

/// A mail with these parts and settings.
pub(crate) fn mail_of(parts: &[(&str, &str)], more: &str) -> Mail {
    let parts: Vec<_> = parts
        .iter()
        .map(|(mime_type, value)| serde_json::json!({"type": mime_type, "value": value}))
        .collect();
    let parts = serde_json::to_string(&parts).unwrap();
    let comma = if more.is_empty() { "" } else { "," };
    mail(&format!(
        r#"{{"from":{{"email":"from@example.test"}},"subject":"Hello","content":{parts},
        "personalizations":[{{"to":[{{"email":"ann@example.test"}}]}}]{comma}{more}}}"#
    ))
}

pub(crate) fn part<'r>(rendered: &'r Rendered, mime_type: &str) -> &'r str {
    let mut parts = rendered.parts.iter();
    let part = parts.find(|part| part.mime_type == mime_type);
    part.map_or("", |part| &part.value)
}

pub(crate) fn dynamic(html: &str) -> TemplateVersion<'_> {
    TemplateVersion {
        generation: Generation::Dynamic,
        subject: "",
        html_content: html,
        plain_content: "",
        generate_plain_content: false,
    }
}

/// A Handlebars template over data, or `None` when it does not compile.
pub(crate) fn try_template(html: &str, data: &str) -> Option<Result<String, RenderError>> {
    let compiled = Compiled::compile(&dynamic(html)).ok()?;
    let mut mail = mail_of(&[], "");
    mail.personalizations[0].dynamic_template_data = Some(data.to_owned());
    let rendered = TestApp::new().render(&mail, Some(&compiled), &AccountDefaults::default());
    Some(rendered.map(|rendered| part(&rendered, "text/html").to_owned()))
}

pub(crate) fn template_html(html: &str, data: &str) -> String {
    try_template(html, data)
        .unwrap_or_else(|| panic!("does not compile: {html:?}"))
        .unwrap()
}

/// A readable text with every tracked link's target in its place.
pub(crate) fn untrack(readable: &str) -> String {
    let mut out = String::new();
    let mut rest = readable;
    while let Some(at) = rest.find(&format!("{BASE}/ls/click«click ")) {
        let (before, link) = rest.split_at(at);
        let (link, after) = link.split_once('»').unwrap();
        // `…«click html 0 target`
        let target = link.splitn(4, ' ').nth(3).unwrap();
        out.push_str(before);
        out.push_str(target);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Markup in which nothing is as it should be.
pub(crate) const ODD_HTML: &str = "<!DOCTYPE html><HTML><Body BGColor=red><!--[if mso]><a href='https://x.co'><![endif]-->\
    <a\n href=\"https://x.co/?a=1&amp;b=2\"   x>\r\n</A ><p><b></p></b>&nbsp;<br/ ><img src=x alt='a>b'>\u{feff}é</body";

pub(crate) const HTML: &str = "text/html";
pub(crate) const TEXT: &str = "text/plain";

/// Settings of a mail with a footer.
pub(crate) const FOOTER: &str =
    r#""mail_settings":{"footer":{"enable":true,"text":"-- text","html":"<i>html</i>"}}"#;

/// A mail with an unsubscribe group.
pub(crate) const GROUP: &str = r#""asm":{"group_id":5,"groups_to_display":[5,6]}"#;

/// The HTML of a mail with these settings, its links made readable.
#[track_caller]
pub(crate) fn html(value: &str, settings: &str) -> String {
    readable(HTML, value, settings)
}

/// The text of a mail with these settings, its links made readable.
#[track_caller]
pub(crate) fn text(value: &str, settings: &str) -> String {
    readable(TEXT, value, settings)
}

#[track_caller]
fn readable(mime_type: &str, value: &str, settings: &str) -> String {
    let app = TestApp::new();
    let mail = mail_of(&[(mime_type, value)], settings);
    let got = app.render(&mail, None, &AccountDefaults::default());
    app.readable(part(&got.unwrap(), mime_type))
}
