//! How a recipient unsubscribes: tags in the content, an added line, two headers.
//!
//! With an unsubscribe group the group's tags count and subscription tracking adds nothing
//! (API facts 7, "order with asm").

use posthaste_model::SubscriptionTracking;

use crate::budget::{Budget, RenderError};
use crate::link::Maker;
use crate::tags;

/// The default text of subscription tracking when it is enabled without one.
const DEFAULT_HTML: &str =
    "<p>If you would rather not receive these emails, <% unsubscribe here %>.</p>";
const DEFAULT_TEXT: &str = "If you would rather not receive these emails, unsubscribe here: <% %>";

/// The format of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsubscribeForm {
    Html,
    Amp,
    Text,
}

/// The unsubscribe links of one copy.
#[derive(Clone, Copy)]
pub(crate) struct Unsubscribe<'a> {
    maker: Maker<'a>,
    /// Whether the mail has an unsubscribe group.
    grouped: bool,
    subscription: Option<&'a SubscriptionTracking>,
}

impl<'a> Unsubscribe<'a> {
    pub(crate) fn new(
        maker: Maker<'a>,
        grouped: bool,
        subscription: &'a SubscriptionTracking,
    ) -> Self {
        Self {
            maker,
            grouped,
            subscription: Some(subscription).filter(|s| s.enable && !grouped),
        }
    }

    /// The part with its tags replaced.
    pub(crate) fn fill(
        &self,
        text: &str,
        form: UnsubscribeForm,
        budget: &mut Budget,
    ) -> Result<String, RenderError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = 0;
        for tag in tags::find(text) {
            let Some((url, words)) = self.tag(tag.name) else {
                continue;
            };
            out.push_str(text.get(rest..tag.range.start).unwrap_or_default());
            let way = match words {
                Some(words) if !tag.in_attribute => link(&url, words, form),
                Some(_) | None => url,
            };
            budget.push(&mut out, &way)?;
            rest = tag.range.end;
        }
        out.push_str(text.get(rest..).unwrap_or_default());
        match self.own_tag() {
            Some(tag) if out.contains(tag) => {
                replaced(&out, (tag, &self.maker.unsubscribe()), budget)
            }
            Some(_) | None => Ok(out),
        }
    }

    /// The replacement of an asm tag: a bare URL, or a link with a text.
    fn tag(&self, name: &str) -> Option<(String, Option<&'static str>)> {
        Some(match name {
            "asm_group_unsubscribe_url" => {
                (self.maker.unsubscribe(), Some("Unsubscribe From This List"))
            }
            "asm_group_unsubscribe_raw_url" => (self.maker.unsubscribe(), None),
            "asm_global_unsubscribe_url" => {
                (self.maker.global(), Some("Unsubscribe From All Emails"))
            }
            "asm_global_unsubscribe_raw_url" => (self.maker.global(), None),
            "asm_preferences_url" => (self.maker.preferences(), Some("Manage Email Preferences")),
            "asm_preferences_raw_url" => (self.maker.preferences(), None),
            _ => return None,
        })
    }

    /// The tag of subscription tracking, which overrides its texts (SPEC, tracking settings).
    fn own_tag(&self) -> Option<&'a str> {
        let tag = self.subscription?.substitution_tag.as_deref();
        tag.filter(|tag| !tag.is_empty())
    }

    /// Whether the part, filled, already has an unsubscribe link.
    fn offers(&self, filled: &[&str]) -> bool {
        [
            self.maker.unsubscribe(),
            self.maker.global(),
            self.maker.preferences(),
        ]
        .iter()
        .any(|url| filled.iter().any(|text| text.contains(url)))
    }

    /// The line added below a part with these filled texts; nothing when it has an unsubscribe
    /// link.
    pub(crate) fn line(
        &self,
        filled: &[&str],
        form: UnsubscribeForm,
        budget: &mut Budget,
    ) -> Result<String, RenderError> {
        match self.subscription {
            None if self.grouped && !self.offers(filled) => Ok(self.group_line(form)),
            Some(own) if self.own_tag().is_none() => self.subscription_line(own, form, budget),
            None | Some(_) => Ok(String::new()),
        }
    }

    fn group_line(&self, form: UnsubscribeForm) -> String {
        let leave = link(
            &self.maker.unsubscribe(),
            "Unsubscribe From This List",
            form,
        );
        let manage = link(&self.maker.preferences(), "Manage Email Preferences", form);
        match form {
            UnsubscribeForm::Html | UnsubscribeForm::Amp => format!(
                "<p style=\"font-size:12px;line-height:20px;text-align:center\">{leave} | {manage}</p>"
            ),
            UnsubscribeForm::Text => format!("{leave}\n{manage}"),
        }
    }

    fn subscription_line(
        &self,
        own: &SubscriptionTracking,
        form: UnsubscribeForm,
        budget: &mut Budget,
    ) -> Result<String, RenderError> {
        let (text, default) = match form {
            UnsubscribeForm::Html | UnsubscribeForm::Amp => (&own.html, DEFAULT_HTML),
            UnsubscribeForm::Text => (&own.text, DEFAULT_TEXT),
        };
        let text = text.as_deref().filter(|t| !t.is_empty()).unwrap_or(default);
        let url = self.maker.unsubscribe();
        let mut out = String::with_capacity(text.len() + url.len());
        let mut rest = 0;
        let mut placed = false;
        for tag in tags::find(text) {
            out.push_str(text.get(rest..tag.range.start).unwrap_or_default());
            let way = match (tag.name, form) {
                _ if tag.in_attribute => url.clone(),
                ("", UnsubscribeForm::Text) => url.clone(),
                ("", UnsubscribeForm::Html | UnsubscribeForm::Amp) => {
                    link(&url, "Unsubscribe", form)
                }
                (words, _) => link(&url, words, form),
            };
            budget.push(&mut out, &way)?;
            rest = tag.range.end;
            placed = true;
        }
        out.push_str(text.get(rest..).unwrap_or_default());
        // A text without its tag must still offer an unsubscribe link.
        if !placed {
            out.push(' ');
            out.push_str(&link(&url, "Unsubscribe", form));
        }
        Ok(out)
    }

    /// List-Unsubscribe and List-Unsubscribe-Post (RFC 2369, RFC 8058), when the mail has a group
    /// or subscription tracking.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        if !self.grouped && self.subscription.is_none() {
            return Vec::new();
        }
        let mut uris = format!("<{}>", self.maker.unsubscribe());
        if let Some(mailto) = self.maker.mailto() {
            uris.push_str(&format!(", <{mailto}>"));
        }
        vec![
            ("List-Unsubscribe".to_owned(), uris),
            (
                "List-Unsubscribe-Post".to_owned(),
                "List-Unsubscribe=One-Click".to_owned(),
            ),
        ]
    }
}

/// The text with every `tag` replaced by `new`.
fn replaced(
    text: &str,
    (tag, new): (&str, &str),
    budget: &mut Budget,
) -> Result<String, RenderError> {
    let mut pieces = text.split(tag);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        budget.push(&mut out, new)?;
        out.push_str(piece);
    }
    Ok(out)
}

fn link(url: &str, words: &str, form: UnsubscribeForm) -> String {
    match form {
        UnsubscribeForm::Html | UnsubscribeForm::Amp => format!("<a href=\"{url}\">{words}</a>"),
        UnsubscribeForm::Text => format!("{words}: {url}"),
    }
}
