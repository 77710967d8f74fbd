//! The forms of the mails: plain text and HTML of many makes. Those for held-out words are others than those for
//! the rest.

use mail_builder::MessageBuilder;

use super::html;
use super::mails::{Content, Dice};

/// Layouts of a set of words.
pub(super) const OF_A_SET: usize = 5;

/// The mail in one of the layouts of its set.
pub(super) fn compose(content: &Content<'_>, layout: usize, dice: &mut Dice) -> Vec<u8> {
    let bodies = match (content.words.is_held_out, layout) {
        (false, 0) => Bodies::text(prose(content)),
        (false, 1) => Bodies::text(indented(content)),
        (false, 2) => Bodies {
            text: Some(indented(content)),
            html: Some(html::card(content)),
        },
        (false, 3) => Bodies::html(html::table(content)),
        (false, _) => Bodies {
            text: Some(prose(content)),
            html: Some(html::preheader(content)),
        },
        (true, 0) => Bodies::html(html::cells(content)),
        (true, 1) => Bodies::html(html::bold(content)),
        (true, 2) => Bodies::text(boxed(content)),
        (true, 3) => Bodies {
            text: Some(boxed(content)),
            html: Some(html::preformatted(content)),
        },
        (true, _) => Bodies::html(html::minified(content)),
    };
    let name = content.words.get("bye");
    let mut mail = MessageBuilder::new()
        .from((name, "no-reply@lumen.example"))
        .to(("Ann Ferro", "ann.ferro1984@x.example"))
        .subject(content.subject.clone())
        .message_id(format!(
            "{}@lumen.example",
            dice.text("0123456789abcdef", 24)
        ))
        .date(1_795_960_800_i64);
    if let Some(text) = bodies.text {
        mail = mail.text_body(text);
    }
    if let Some(html) = bodies.html {
        mail = mail.html_body(html);
    }
    mail.write_to_vec().expect("a vector takes every mail")
}

struct Bodies {
    text: Option<String>,
    html: Option<String>,
}

impl Bodies {
    fn text(text: String) -> Self {
        let text = Some(text);
        Self { text, html: None }
    }

    fn html(html: String) -> Self {
        let html = Some(html);
        Self { text: None, html }
    }
}

impl Content<'_> {
    pub(super) fn lead(&self, name: &str) -> &'static str {
        self.words.of(self.purpose, name)
    }

    pub(super) fn inline(&self, code: &str) -> String {
        self.words.get("inline").replace("{code}", code)
    }

    pub(super) fn shown(&self) -> Option<&str> {
        self.code.as_ref().map(|code| code.shown.as_str())
    }

    /// The address of a label of the words.
    pub(super) fn url(&self, label: &str) -> &str {
        &self.label(label).url
    }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

pub(super) fn anchor(label: &str, url: &str, style: &str) -> String {
    format!(
        "<a href=\"{}\" style=\"{style}\">{}</a>",
        escaped(url),
        escaped(label)
    )
}

fn prose(content: &Content<'_>) -> String {
    let words = content.words;
    let mut lines = vec![words.get("hello").to_owned(), String::new()];
    if let Some(code) = content.shown() {
        lines.push(format!("{} {}", content.inline(code), words.get("expires")));
        lines.push(String::new());
    }
    if let Some(link) = &content.link {
        lines.push(format!("{} {link}", content.lead("link")));
        lines.push(String::new());
    }
    lines.push(format!(
        "{} {}: {}",
        words.get("ignore"),
        words.get("notyou"),
        content.url("notyou")
    ));
    lines.extend([String::new(), words.get("bye").to_owned(), "-- ".to_owned()]);
    lines.extend(content.small_print.iter().cloned());
    lines.push(format!(
        "{}: {}",
        words.get("unsubscribe"),
        content.url("unsubscribe")
    ));
    lines.push(format!(
        "{}: {}",
        words.get("privacy"),
        content.url("privacy")
    ));
    lines.join("\r\n")
}

fn indented(content: &Content<'_>) -> String {
    let words = content.words;
    let mut text = format!("{}\r\n\r\n", words.get("hello"));
    if let Some(code) = content.shown() {
        text += &format!(
            "{}\r\n\r\n        {code}\r\n\r\n{}\r\n\r\n",
            content.lead("code"),
            words.get("expires")
        );
    }
    if let Some(link) = &content.link {
        text += &format!("{}\r\n\r\n<{link}>\r\n\r\n", content.lead("link"));
    }
    text += &format!(
        "{}\r\n{} ({})\r\n\r\n{}\r\n\r\n",
        words.get("ignore"),
        words.get("help"),
        content.url("help"),
        words.get("bye"),
    );
    text + &content.small_print.join("\r\n")
}

fn boxed(content: &Content<'_>) -> String {
    let words = content.words;
    let line = "=".repeat(46);
    let mut text = format!(
        "{line}\n{}\n{line}\n\n{}\n\n",
        content.lead("subject"),
        words.get("hello")
    );
    if let Some(code) = content.shown() {
        text += &format!(
            "{}\n\n| {code} |\n\n{}\n\n",
            content.lead("code"),
            words.get("expires")
        );
    }
    if let Some(link) = &content.link {
        text += &format!(
            "{}\n\n{} [1]\n\n",
            content.lead("link"),
            content.lead("button")
        );
        text += &format!(
            "[1] {link}\n[2] {}: {}\n",
            words.get("notyou"),
            content.url("notyou")
        );
    }
    text += &format!(
        "{}\n\n{}\n\n{line}\n",
        words.get("ignore"),
        words.get("bye")
    );
    for print in &content.small_print {
        text += &format!("> {print}\n");
    }
    text + &format!(
        "{} ( {} )",
        words.get("unsubscribe"),
        content.url("unsubscribe")
    )
}
