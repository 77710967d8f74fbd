//! Turns the request into a [`Mail`], or reports every problem in it.
//!
//! Stages 0 and 1 (is it JSON, are the types right) are `wire::decode`'s. This is stage 2: every
//! rule that depends on the request alone, reported in one response, in the order of the v3 API's
//! field table. Stage 3, the checks that depend on the account (sender identity, template, groups,
//! batch), follows in `account`. `ERRORS.md` lists every message.

mod attachments;
mod content;
mod envelope;
mod headers;
mod mailboxes;
mod metadata;
mod settings;

use posthaste_model::{HORIZON, Mail, Personalization, Problem, Timestamp, due};

use crate::errors::{JsonPath, ValidationErrors};
use crate::wire;

/// The limits that an operator may change. The others are those of the v3 API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendLimits {
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
}

impl Default for SendLimits {
    fn default() -> Self {
        Self { horizon: HORIZON }
    }
}

/// A request that passes every check that does not depend on the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedMail {
    pub mail: Mail,
}

/// Decodes the decompressed body of mail/send and checks it.
///
/// # Errors
/// Every problem of the first stage that has one, in a stable order; never empty.
pub fn decode_and_check(
    body: &[u8],
    now: Timestamp,
    limits: &SendLimits,
) -> Result<CheckedMail, Vec<Problem>> {
    let wire = wire::decode(body)?;
    let mut found = ValidationErrors::default();
    let schedule = SendAt {
        now,
        horizon: limits.horizon,
    };
    match check(wire, schedule, &mut found) {
        Some(mail) if found.is_empty() => Ok(CheckedMail { mail }),
        Some(_) | None => Err(found.into_vec()),
    }
}

/// `None` only if a problem was found.
fn check(wire: wire::Mail<'_>, schedule: SendAt, found: &mut ValidationErrors) -> Option<Mail> {
    let root = &JsonPath::Root;
    let template_id = metadata::template_id(wire.template_id);
    let dynamic = template_id
        .as_deref()
        .is_some_and(|id| id.starts_with("d-"));

    let personalizations = envelope::all(wire.personalizations, schedule, dynamic, found);
    let from = mailboxes::from(wire.from, root, found);
    let reply_to = mailboxes::reply_to(wire.reply_to, wire.reply_to_list, found);
    let subject = content::subject(wire.subject, root, found);
    if template_id.is_none() {
        content::subject_is_there(subject.as_deref(), &personalizations, found);
    }
    let content = content::parts(wire.content, template_id.is_some(), found);
    let attachments = attachments::all(wire.attachments, found);
    let headers = headers::check(wire.headers, root, &headers::MESSAGE, found);
    let categories = metadata::categories(wire.categories, found);
    let custom_args = metadata::of_message(wire.custom_args, found);
    check_merged_args(&custom_args, &personalizations, found);
    let sections = metadata::sections(wire.sections, found);
    let send_at = schedule.check(wire.send_at, root, found);
    let batch_id = metadata::batch_id(wire.batch_id, found);
    let asm = settings::asm(wire.asm, found);
    let ip_pool_name = metadata::ip_pool_name(wire.ip_pool_name, found);
    let mail_settings = settings::mail(wire.mail_settings, found);

    Some(Mail {
        from: from?,
        reply_to,
        subject,
        content,
        attachments,
        template_id,
        headers,
        categories,
        custom_args,
        sections,
        send_at,
        batch_id,
        asm,
        ip_pool_name,
        mail_settings,
        tracking_settings: settings::tracking(wire.tracking_settings),
        personalizations,
        notice: false,
        submitted: None,
    })
}

/// Custom arguments of the message count in every envelope that does not override them.
fn check_merged_args(
    message: &metadata::ArgsMap,
    envelopes: &[Personalization],
    found: &mut ValidationErrors,
) {
    let all = JsonPath::Root.key("personalizations");
    for (i, envelope) in envelopes.iter().enumerate() {
        metadata::check_merged(message, &envelope.custom_args, &all.index(i), found);
    }
}

/// The current time and the scheduling horizon.
#[derive(Clone, Copy, Debug)]
struct SendAt {
    now: Timestamp,
    /// In seconds.
    horizon: i64,
}

impl SendAt {
    /// A time in the past is valid: the mail is sent at once.
    fn check(
        self,
        given: Option<i64>,
        at: &JsonPath<'_>,
        found: &mut ValidationErrors,
    ) -> Option<Timestamp> {
        let send_at = given.map(Timestamp);
        if due(send_at, self.now, self.horizon).is_err() {
            let hours = self.horizon / 3600;
            found.push_error(
                &at.key("send_at"),
                format!("Scheduling more than {hours} hours in advance is forbidden."),
            );
        }
        send_at
    }
}
