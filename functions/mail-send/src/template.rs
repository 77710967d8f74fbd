//! Whether the account has the template that a mail names, and what the template leaves to the
//! mail.

use std::sync::Arc;

use posthaste_http::{Cache, Caller, Rejection};
use posthaste_model::{AccountId, Mail, Problems, TemplateId};

use crate::App;
use crate::check::{CONTENT_REQUIRED, SUBJECT_REQUIRED};

/// What is remembered of templates for a few seconds.
pub type Templates = Arc<Cache<(AccountId, String), Brings>>;

/// What the active version of a template brings along.
#[derive(Clone, Copy, Debug)]
pub struct Brings {
    subject: bool,
    content: bool,
}

/// Refuses a template that the account does not have, or that has no active version; and a mail
/// that lacks what its template does not bring (API facts 2.6).
pub(crate) async fn check(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    let Some(name) = &mail.template_id else {
        return Ok(());
    };
    let brings = brings(app, caller, name).await?;
    let mut found = Problems::default();
    let every = || mail.personalizations.iter().all(|p| p.subject.is_some());
    let subject = brings.subject || mail.subject.is_some() || every();
    found.unless(subject, "subject", SUBJECT_REQUIRED);
    let content = brings.content || !mail.content.is_empty() || mail.submitted.is_some();
    found.unless(content, "content", CONTENT_REQUIRED);
    Ok(found.into_result()?)
}

async fn brings(app: &App, caller: &Caller, name: &str) -> Result<Brings, Rejection> {
    let asked = (caller.id().clone(), name.to_owned());
    let now = app.clock.now_ms();
    if let Some(known) = app.templates.get(&asked, now) {
        return Ok(known);
    }
    let unknown = || {
        let message = format!(
            "The Template ID must be a valid template id for your account. You provided {name}."
        );
        Rejection::on("template_id", message)
    };
    let id = TemplateId::parse(name).map_err(|_| unknown())?;
    let template = app.store.template(caller.id(), &id).await?;
    let template = template.ok_or_else(unknown)?;
    let version = template.active().ok_or_else(unknown)?;
    let brings = Brings {
        subject: !version.subject.is_empty(),
        content: version.has_content,
    };
    app.templates.put(asked, brings, now);
    Ok(brings)
}
