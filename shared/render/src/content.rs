//! The first step: the content of the request and its template, with this recipient's data.

use std::borrow::Cow;

use posthaste_model::{Content, EmailAddress, Mail, Mailbox, RecipientCopy};

use crate::budget::{Budget, RenderError};
use crate::link::{Links, Maker};
use crate::plain;
use crate::settings::Effective;
use crate::substitute::Substitutions;
use crate::template::legacy::{self, Brought};
use crate::template::{Compiled, Data, Dynamic, GIVEN_NAMES, RenderedTexts, TemplateBody};

/// The inputs of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub mail: &'a Mail,
    pub copy: RecipientCopy<'a>,
    /// The active version of the mail's template, compiled.
    pub template: Option<&'a Compiled>,
    pub settings: &'a Effective,
    /// Without it nothing is tracked and no unsubscribe link is added.
    pub links: Option<Links<'a>>,
}

/// A copy before the service's additions.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) subject: String,
    pub(crate) parts: Vec<Content>,
    pub(crate) reply_to: Vec<Mailbox>,
}

/// The media type of a part, without parameters.
pub(crate) fn essence(mime_type: &str) -> String {
    let essence = mime_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

pub(crate) fn draft(
    input: &Input<'_>,
    maker: Option<Maker<'_>>,
    budget: &mut Budget,
) -> Result<Draft, RenderError> {
    let envelope = input.copy.personalization;
    let subject = envelope.subject.as_ref().or(input.mail.subject.as_ref());
    let subject = subject.map_or("", String::as_str);
    match input.template.map(|template| (&template.body, template)) {
        Some((TemplateBody::Dynamic(texts), template)) => {
            let mut texts = dynamic(texts, input, maker, budget)?;
            if let Some(html) = texts.html.as_ref().filter(|_| template.generate_plain) {
                texts.plain = Some(plain::from_html(html));
            }
            Ok(Draft {
                subject: texts.subject.take().unwrap_or_else(|| subject.to_owned()),
                parts: assemble(&input.mail.content, texts),
                reply_to: input.mail.reply_to.clone(),
            })
        }
        Some((TemplateBody::Legacy(template), _)) => {
            let texts = template.fill(brought(input, subject), budget)?;
            substituted(input, subject, texts, budget)
        }
        None => {
            let texts = wrapped(input, subject, budget)?;
            substituted(input, subject, texts, budget)
        }
    }
}

fn dynamic(
    texts: &Dynamic,
    input: &Input<'_>,
    maker: Option<Maker<'_>>,
    budget: &mut Budget,
) -> Result<RenderedTexts, RenderError> {
    let json = input.copy.personalization.dynamic_template_data.as_deref();
    let data = Data::object(json.unwrap_or("{}")).ok_or(RenderError::Data)?;
    let given: Vec<_> = match maker {
        Some(maker) => GIVEN_NAMES
            .into_iter()
            .zip([maker.unsubscribe(), maker.preferences()])
            .collect(),
        None => Vec::new(),
    };
    texts.run(&Data::Map(data), &given, budget)
}

fn brought<'a>(input: &Input<'a>, subject: &'a str) -> Brought<'a> {
    let part = |wanted: &str| {
        let mut parts = input.mail.content.iter();
        parts
            .find(|part| essence(&part.mime_type) == wanted)
            .map(|part| part.value.as_str())
    };
    Brought {
        subject,
        html: part("text/html"),
        plain: part("text/plain"),
    }
}

/// The account's own HTML around the mail's, if configured.
fn wrapped(
    input: &Input<'_>,
    subject: &str,
    budget: &mut Budget,
) -> Result<RenderedTexts, RenderError> {
    let brought = brought(input, subject);
    let html = match (&input.settings.wrapper, brought.html) {
        (Some(wrapper), Some(html)) if !wrapper.is_empty() => {
            Some(legacy::fill(wrapper, subject, &|| html.to_owned(), budget)?)
        }
        _ => None,
    };
    Ok(RenderedTexts {
        html,
        ..RenderedTexts::default()
    })
}

/// The template's texts replace the request's of the same type; the request's other parts stay.
/// Ordered as `multipart/alternative` requires: plain first, AMP before HTML (AMP for Email),
/// calendars and the rest last.
fn assemble(content: &[Content], texts: RenderedTexts) -> Vec<Content> {
    let rank = |part: &Content| match essence(&part.mime_type).as_str() {
        "text/plain" => 0,
        "text/x-amp-html" => 1,
        "text/html" => 2,
        _ => 3,
    };
    let mut parts = Vec::with_capacity(content.len() + 2);
    for (mime_type, text) in [("text/plain", texts.plain), ("text/html", texts.html)] {
        let mut own = content
            .iter()
            .filter(|part| essence(&part.mime_type) == mime_type);
        match text {
            Some(value) => parts.push(Content {
                mime_type: own
                    .next()
                    .map_or(mime_type, |own| &own.mime_type)
                    .to_owned(),
                value,
            }),
            None => parts.extend(own.cloned()),
        }
    }
    let others = content.iter().filter(|part| {
        !matches!(
            essence(&part.mime_type).as_str(),
            "text/plain" | "text/html"
        )
    });
    parts.extend(others.cloned());
    parts.sort_by_key(rank);
    parts
}

/// The texts with the envelope's substitutions applied: in subject, content and `reply_to` (SPEC).
fn substituted(
    input: &Input<'_>,
    subject: &str,
    mut texts: RenderedTexts,
    budget: &mut Budget,
) -> Result<Draft, RenderError> {
    let envelope = input.copy.personalization;
    let tags = Substitutions::new(&envelope.substitutions, &input.mail.sections)?;
    let subject = texts.subject.take().unwrap_or_else(|| subject.to_owned());
    let mut parts = assemble(&input.mail.content, texts);
    for part in &mut parts {
        if let Cow::Owned(new) = tags.apply(&part.value, budget)? {
            part.value = new;
        }
    }
    let reply_to = input.mail.reply_to.iter();
    Ok(Draft {
        subject: tags.apply(&subject, budget)?.into_owned(),
        parts,
        reply_to: reply_to
            .map(|mailbox| reply(mailbox, &tags, budget))
            .collect::<Result<_, _>>()?,
    })
}

fn reply(
    mailbox: &Mailbox,
    tags: &Substitutions<'_>,
    budget: &mut Budget,
) -> Result<Mailbox, RenderError> {
    let email = match tags.apply(mailbox.email.as_str(), budget)? {
        Cow::Borrowed(_) => mailbox.email.clone(),
        Cow::Owned(new) => EmailAddress::parse_stored(&new)?,
    };
    let name = match &mailbox.name {
        Some(name) => Some(one_line(&tags.apply(name, budget)?)),
        None => None,
    };
    Ok(Mailbox { email, name })
}

/// A text that goes into a header: line ends and other controls become spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}
