//! Checks that the account has the template a mail names, and which fields the mail itself must
//! supply.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_http::{Caller, Rejection};
use posthaste_model::{AccountId, Content, Mail, Problems, TemplateId};
use posthaste_store::{Version, VersionTexts};

use crate::errors::{CONTENT_REQUIRED, SUBJECT_REQUIRED, quote_value};
use crate::{App, size};

/// The fields of templates, cached for a few seconds.
pub type TemplateFieldsCache = Arc<Cache<(AccountId, String), TemplateFields>>;

/// The fields that the active version of a template supplies.
#[derive(Clone, Copy, Debug)]
pub struct TemplateFields {
    subject: bool,
    content: bool,
}

/// Reports a template that the account does not have, or that has no active version; and the fields
/// that neither the mail nor its template supplies (API facts 2.6).
pub(crate) async fn check(
    app: &App,
    caller: &Caller,
    mail: &Mail,
    found: &mut Problems,
) -> Result<(), Rejection> {
    let Some(name) = &mail.template_id else {
        return Ok(());
    };
    let Some(fields) = fields(app, caller, name).await? else {
        let name = quote_value(name);
        let message = format!(
            "The Template ID must be a valid template id for your account. You provided {name}."
        );
        found.add("template_id", message);
        return Ok(());
    };
    let every = || mail.personalizations.iter().all(|p| p.subject.is_some());
    let subject = fields.subject || mail.subject.is_some() || every();
    found.unless(subject, "subject", SUBJECT_REQUIRED);
    let content = fields.content || !mail.content.is_empty() || mail.submitted.is_some();
    found.unless(content, "content", CONTENT_REQUIRED);
    Ok(())
}

/// Whether the mail stays below its limit with the texts of its template. They are read only for
/// a mail so large that they could matter.
pub(crate) async fn fits(app: &App, caller: &Caller, mail: &Mail) -> Result<bool, Rejection> {
    let Some(name) = &mail.template_id else {
        return Ok(true);
    };
    let texts: usize = mail.content.iter().map(|text| text.value.len()).sum();
    if !posthaste_offload::run(texts, || size::is_close(mail)).await {
        return Ok(true);
    }
    let Some(version) = active(app, caller, name).await? else {
        return Ok(true);
    };
    let texts = app.store.texts(caller.id(), &version.texts).await?;
    // Replaced at this moment: `delivery` measures what it composes.
    let texts = texts.unwrap_or_default();
    Ok(posthaste_offload::run(posthaste_offload::UNKNOWN, || !is_too_large(mail, texts)).await)
}

/// Whether the mail reaches its limit with these texts of its template.
fn is_too_large(mail: &Mail, texts: VersionTexts) -> bool {
    let mut all: Vec<Content> = [
        ("text/plain", texts.plain_content),
        ("text/html", texts.html_content),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(mime_type, value)| Content {
        mime_type: mime_type.to_owned(),
        value,
    })
    .collect();
    // A dynamic template's text replaces the mail's own; a legacy template's wraps it.
    let own = mail.content.iter().filter(|own| {
        let same = |text: &Content| text.mime_type.eq_ignore_ascii_case(&own.mime_type);
        !(mail.is_dynamic() && all.iter().any(same))
    });
    let own: Vec<_> = own.cloned().collect();
    all.extend(own);
    size::is_too_large(mail, &all)
}

/// The fields that the active version supplies; `None` without an active version.
async fn fields(
    app: &App,
    caller: &Caller,
    name: &str,
) -> Result<Option<TemplateFields>, Rejection> {
    let asked = (caller.id().clone(), name.to_owned());
    let now = app.clock.now_ms();
    if let Some(known) = app.templates.get(&asked, now) {
        return Ok(Some(known));
    }
    let Some(version) = active(app, caller, name).await? else {
        return Ok(None);
    };
    let fields = TemplateFields {
        subject: !version.subject.is_empty(),
        content: version.has_content,
    };
    app.templates.put(asked, fields, now);
    Ok(Some(fields))
}

async fn active(app: &App, caller: &Caller, name: &str) -> Result<Option<Version>, Rejection> {
    let Ok(id) = TemplateId::parse(name) else {
        return Ok(None);
    };
    let template = app.store.template(caller.id(), &id).await?;
    Ok(template.and_then(|template| template.active().cloned()))
}
