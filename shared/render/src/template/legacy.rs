//! Legacy templates: `<%body%>` and `<%subject%>` are replaced by the request's.

use super::{RenderedTexts, TemplateVersion};
use crate::budget::{Budget, RenderError};
use crate::plain;
use crate::tags::{self, Tag};

#[derive(Clone, Debug)]
pub(crate) struct Legacy {
    subject: String,
    html: String,
    plain: String,
}

/// The content of the request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Brought<'a> {
    pub(crate) subject: &'a str,
    pub(crate) html: Option<&'a str>,
    pub(crate) plain: Option<&'a str>,
}

impl Legacy {
    pub(crate) fn new(version: &TemplateVersion<'_>) -> Self {
        Self {
            subject: version.subject.to_owned(),
            html: version.html_content.to_owned(),
            plain: if version.makes_plain() {
                // The tags of the HTML are plain text to it and are unchanged.
                plain::from_html(version.html_content)
            } else {
                version.plain_content.to_owned()
            },
        }
    }

    /// The texts with their tags filled. A body that the request has only in the other form is
    /// converted from that (API facts 2.6: HTML from the text part).
    pub(crate) fn fill(
        &self,
        brought: Brought<'_>,
        budget: &mut Budget,
    ) -> Result<RenderedTexts, RenderError> {
        let html = || match (brought.html, brought.plain) {
            (Some(html), _) => html.to_owned(),
            (None, Some(text)) => plain::to_html(text),
            (None, None) => String::new(),
        };
        let text = || match (brought.plain, brought.html) {
            (Some(text), _) => text.to_owned(),
            (None, Some(html)) => plain::from_html(html),
            (None, None) => String::new(),
        };
        let mut fill = |template: &str, body: &dyn Fn() -> String| {
            (!template.is_empty())
                .then(|| fill(template, brought.subject, body, budget))
                .transpose()
        };
        Ok(RenderedTexts {
            subject: fill(&self.subject, &|| brought.subject.to_owned())?,
            html: fill(&self.html, &html)?,
            plain: fill(&self.plain, &text)?,
        })
    }
}

/// Whether a text has a place for the mail's own content.
pub fn has_body_tag(text: &str) -> bool {
    tags::find(text).any(|tag| tag.name == "body")
}

/// `template` with its two tags replaced.
pub(crate) fn fill(
    template: &str,
    subject: &str,
    body: &dyn Fn() -> String,
    budget: &mut Budget,
) -> Result<String, RenderError> {
    let mut made: Option<String> = None;
    let mut out = String::with_capacity(template.len());
    let mut rest = 0;
    for Tag { name, range, .. } in tags::find(template) {
        let value = match name {
            "body" => made.get_or_insert_with(body).as_str(),
            "subject" => subject,
            _ => continue,
        };
        budget.push(
            &mut out,
            template.get(rest..range.start).unwrap_or_default(),
        )?;
        budget.push(&mut out, value)?;
        rest = range.end;
    }
    budget.push(&mut out, template.get(rest..).unwrap_or_default())?;
    Ok(out)
}
