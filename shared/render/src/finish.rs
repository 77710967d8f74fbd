//! The later steps: footer, unsubscribe line, links, pixel, in this order.

use posthaste_model::Content;

use crate::budget::{Budget, RenderError};
use crate::content::essence;
use crate::html;
use crate::link::Maker;
use crate::rewrite::{Count, LinkRewriter};
use crate::settings::Effective;
use crate::token::LinkPart;
use crate::unsubscribe::{Unsubscribe, UnsubscribeForm};

/// Applies the settings to the parts of one copy.
pub(crate) struct Finish<'a> {
    settings: &'a Effective,
    maker: Option<Maker<'a>>,
    unsubscribe: Option<Unsubscribe<'a>>,
    links: LinkRewriter<'a>,
    /// Tags and links are a few bytes that expand to hundreds.
    budget: &'a mut Budget,
}

impl<'a> Finish<'a> {
    pub(crate) fn new(
        settings: &'a Effective,
        maker: Option<Maker<'a>>,
        unsubscribe: Option<Unsubscribe<'a>>,
        budget: &'a mut Budget,
    ) -> Self {
        Self {
            settings,
            maker,
            unsubscribe,
            links: LinkRewriter::new(maker, settings.click.enable, &settings.ganalytics),
            budget,
        }
    }

    /// The finished parts. HTML goes first, so that in a mail above the limit of tracked links
    /// those of the HTML, where recipients click, are counted first.
    ///
    /// # Errors
    /// [`RenderError::TooLarge`] when what is added outgrows the copy.
    pub(crate) fn parts(&mut self, mut parts: Vec<Content>) -> Result<Vec<Content>, RenderError> {
        for wanted in ["text/html", "text/x-amp-html", "text/plain"] {
            for part in &mut parts {
                if essence(&part.mime_type) != wanted {
                    continue;
                }
                let value = std::mem::take(&mut part.value);
                part.value = match wanted {
                    "text/html" => self.html(value)?,
                    "text/x-amp-html" => self.amp(value)?,
                    _ => self.text(value)?,
                };
            }
        }
        Ok(parts)
    }

    fn html(&mut self, value: String) -> Result<String, RenderError> {
        let mut body = self.fill(value, UnsubscribeForm::Html)?;
        let mut tail = self.footer(UnsubscribeForm::Html)?;
        if let Some(unsubscribe) = self.unsubscribe {
            let line = unsubscribe.line(&[&body, &tail], UnsubscribeForm::Html, self.budget)?;
            tail.push_str(&line);
        }
        let mut pixel = self.pixel(LinkPart::Html);
        if let Some(tag) = self.pixel_tag()
            && !pixel.is_empty()
        {
            for text in [&mut body, &mut tail] {
                place(text, tag, &mut pixel);
            }
        }
        if tail.is_empty() && pixel.is_empty() && self.links.is_idle() {
            return Ok(body);
        }
        let places = html::look(&body);
        let mut count = Count::of(LinkPart::Html);
        let mut edits = self
            .links
            .anchors(&body, &places.anchors, &mut count, self.budget)?;
        let more = html::look(&tail).anchors;
        let more = self.links.anchors(&tail, &more, &mut count, self.budget)?;
        let mut end = html::splice(&tail, &more);
        end.push_str(&pixel);
        if !end.is_empty() {
            edits.push((places.end..places.end, end));
            // Broken markup may have links after its end.
            edits.sort_by_key(|(range, _)| range.start);
        }
        Ok(html::splice(&body, &edits))
    }

    /// AMP does not allow arbitrary HTML, so it gets no footer and no unsubscribe line: a part that
    /// does not validate is not shown at all.
    fn amp(&mut self, value: String) -> Result<String, RenderError> {
        let body = self.fill(value, UnsubscribeForm::Amp)?;
        let pixel = match self.maker {
            Some(maker) if maker.is_https() => self.pixel(LinkPart::Amp),
            Some(_) | None => String::new(),
        };
        if pixel.is_empty() && self.links.is_idle() {
            return Ok(body);
        }
        let places = html::look(&body);
        let mut count = Count::of(LinkPart::Amp);
        let mut edits = self
            .links
            .anchors(&body, &places.anchors, &mut count, self.budget)?;
        if !pixel.is_empty() {
            edits.push((places.end..places.end, pixel));
            edits.sort_by_key(|(range, _)| range.start);
        }
        Ok(html::splice(&body, &edits))
    }

    fn text(&mut self, value: String) -> Result<String, RenderError> {
        let mut body = self.fill(value, UnsubscribeForm::Text)?;
        let footer = self.footer(UnsubscribeForm::Text)?;
        append(&mut body, &footer);
        if let Some(unsubscribe) = self.unsubscribe {
            let line = unsubscribe.line(&[&body], UnsubscribeForm::Text, self.budget)?;
            append(&mut body, &line);
        }
        if self.links.tracks() && self.settings.click.enable_text.unwrap_or_default() {
            body = self.links.text(&body, self.budget)?;
        }
        Ok(body)
    }

    fn fill(&mut self, value: String, form: UnsubscribeForm) -> Result<String, RenderError> {
        match self.unsubscribe {
            Some(unsubscribe) => unsubscribe.fill(&value, form, self.budget),
            None => Ok(value),
        }
    }

    fn footer(&mut self, form: UnsubscribeForm) -> Result<String, RenderError> {
        let footer = &self.settings.footer;
        if !footer.enable {
            return Ok(String::new());
        }
        let text = match form {
            UnsubscribeForm::Html | UnsubscribeForm::Amp => footer.html.clone(),
            UnsubscribeForm::Text => footer.text.clone(),
        };
        self.fill(text.unwrap_or_default(), form)
    }

    fn pixel_tag(&self) -> Option<&'a str> {
        let tag = self.settings.open.substitution_tag.as_deref();
        tag.filter(|tag| !tag.is_empty())
    }

    /// The image that reports the mail as opened; empty when opens are not tracked.
    fn pixel(&self, part: LinkPart) -> String {
        match self.maker.filter(|_| self.settings.open.enable) {
            None => String::new(),
            Some(maker) => {
                let url = maker.open(part);
                match part {
                    LinkPart::Amp => format!(
                        "<amp-img src=\"{url}\" width=\"1\" height=\"1\" alt=\"\"></amp-img>"
                    ),
                    LinkPart::Html | LinkPart::Text | LinkPart::Header => format!(
                        "<img src=\"{url}\" alt=\"\" width=\"1\" height=\"1\" border=\"0\" style=\"height:1px;width:1px;border:0;margin:0;padding:0\">"
                    ),
                }
            }
        }
    }
}

/// Puts the pixel at the first tag and uses it up; other tags are removed.
fn place(text: &mut String, tag: &str, pixel: &mut String) {
    if text.contains(tag) {
        let once = text.replacen(tag, &std::mem::take(pixel), 1);
        *text = once.replace(tag, "");
    }
}

/// A new paragraph of a plain text.
fn append(body: &mut String, paragraph: &str) {
    if paragraph.is_empty() {
        return;
    }
    if !body.is_empty() {
        body.push_str("\n\n");
    }
    body.push_str(paragraph);
}
