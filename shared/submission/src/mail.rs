//! Converts a message, its envelope and its `X-SMTPAPI` header to a mail of the service.

use std::collections::HashSet;

use posthaste_mime::submitted::{Flaw, SubmittedHead, received};
use posthaste_model::{
    DropReason, EmailAddress, Hostname, InvalidAddress, Mail, Mailbox, Personalization, Raw,
    Submitted, Timestamp,
};
use posthaste_smtpapi::{HeaderContext, Instructions, Invalid, MOST_BYTES, MOST_COPIED, read};
use posthaste_smtpd::{SmtpEnvelope, SmtpReply};

/// The reserved mailbox of every server.
const POSTMASTER: &str = "postmaster";

/// A submitted message.
pub(super) struct SubmittedMail<'a> {
    pub(super) head: SubmittedHead,
    pub(super) envelope: &'a SmtpEnvelope,
    pub(super) message: &'a [u8],
    /// The new `Received` field.
    pub(super) trace: &'a str,
    /// The host of `postmaster`.
    pub(super) hostname: &'a Hostname,
    pub(super) now: Timestamp,
    /// How far ahead a send may be scheduled, in seconds.
    pub(super) horizon: i64,
}

/// The equivalent mail/send request. A header that cannot be read yields a dropped mail, with the
/// envelope's recipients.
pub(super) fn compose(arrived: &SubmittedMail<'_>) -> Result<Mail, SmtpReply> {
    let head = &arrived.head;
    let flawed = |flaw: Flaw| SmtpReply::new(550, "5.6.0", flaw.to_string());
    if let Some(flaw) = head.flaw {
        return Err(flawed(flaw));
    }
    let Some(from) = head.from.clone() else {
        let text = "the mail needs one From header with one valid address";
        return Err(SmtpReply::new(550, "5.6.0", text));
    };
    let given = arrived.envelope.to.iter();
    let given = given.filter_map(|to| recipient(to, arrived.hostname).ok());
    // The same recipient twice gets one copy (RFC 5321, section 4.1.1.3, lets a server choose).
    let mut seen = HashSet::new();
    let to: Vec<EmailAddress> = given.filter(|to| seen.insert(key(to))).collect();
    let context = HeaderContext {
        recipients: to.len(),
        now: arrived.now,
        horizon: arrived.horizon,
    };
    let text = head.instructions.as_deref();
    let instructions =
        text.map_or_else(|| Ok(Instructions::default()), |text| read(text, &context));
    let instructions = instructions.map_err(|error| error.to_string());
    let read = instructions.and_then(|instructions| {
        let personalizations = personalizations(&instructions, &to)?;
        Ok((instructions, personalizations))
    });
    let wanted = match read {
        Ok((instructions, personalizations)) => HeaderResult {
            instructions,
            personalizations,
            refused: None,
        },
        Err(why) => {
            tracing::info!("a mail is dropped for its X-SMTPAPI header: {why}");
            let instructions = Instructions::default();
            HeaderResult {
                personalizations: instructions.personalizations(&to),
                instructions,
                refused: Some(Invalid::REASON),
            }
        }
    };
    let mime = received(arrived.message, arrived.trace).map_err(flawed)?;
    Ok(mail(arrived, from, mime, wanted))
}

/// A recipient of the envelope. Every server takes mail for its postmaster without a domain (RFC
/// 5321, section 4.5.1); it is the one of this host.
pub(super) fn recipient(to: &str, hostname: &Hostname) -> Result<EmailAddress, InvalidAddress> {
    if to.eq_ignore_ascii_case(POSTMASTER) {
        EmailAddress::parse(&format!("{POSTMASTER}@{hostname}"))
    } else {
        EmailAddress::parse(to)
    }
}

/// The part before the `@` distinguishes letter case, the domain does not (RFC 5321, section 2.4).
fn key(to: &EmailAddress) -> String {
    let (local, domain) = to.as_str().rsplit_once('@').unwrap_or_default();
    format!("{local}@{}", domain.to_ascii_lowercase())
}

/// One personalization for each recipient, with the unique arguments that are meant for it.
fn personalizations(
    instructions: &Instructions,
    to: &[EmailAddress],
) -> Result<Vec<Personalization>, String> {
    let mut all = instructions.personalizations(to);
    let (args, sections) = (&instructions.unique_args, &instructions.sections);
    if args.is_empty() || instructions.substitutions.is_empty() {
        return Ok(all);
    }
    let mut copied = 0;
    let mut budget = posthaste_render::Budget::of_recipients(all.len());
    for one in &mut all {
        let own = posthaste_render::substituted(args, &one.substitutions, sections, &mut budget);
        let own = own.map_err(|error| error.to_string())?;
        let size = own.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>();
        // They come with every event, and the row of a copy has room for so many.
        if size > MOST_BYTES {
            return Err(format!(
                "unique_args: more than {MOST_BYTES} bytes for a recipient, once substituted"
            ));
        }
        copied += size;
        if copied > MOST_COPIED {
            return Err(format!(
                "unique_args: more than {MOST_COPIED} bytes for all recipients together"
            ));
        }
        one.custom_args = own;
    }
    Ok(all)
}

/// What the `X-SMTPAPI` header asks for.
struct HeaderResult {
    instructions: Instructions,
    personalizations: Vec<Personalization>,
    /// The reason of the drop, when the header cannot be read.
    refused: Option<DropReason>,
}

fn mail(arrived: &SubmittedMail<'_>, from: Mailbox, mime: Vec<u8>, wanted: HeaderResult) -> Mail {
    let HeaderResult {
        instructions,
        personalizations,
        refused,
    } = wanted;
    // `Reply-To` may contain tags too (API facts, 2.6); one in the header replaces it.
    let reply_to = if instructions.reply_to.is_empty() {
        arrived.head.reply_to.clone()
    } else {
        instructions.reply_to
    };
    Mail {
        from,
        reply_to,
        subject: Some(arrived.head.subject.clone()),
        content: Vec::new(),
        attachments: Vec::new(),
        template_id: instructions.template_id,
        headers: [].into(),
        categories: instructions.categories,
        custom_args: instructions.unique_args,
        sections: instructions.sections,
        send_at: instructions.send_at,
        batch_id: instructions.batch_id,
        asm: instructions.asm,
        ip_pool_name: instructions.ip_pool,
        mail_settings: instructions.mail_settings,
        tracking_settings: instructions.tracking_settings,
        personalizations,
        notice: false,
        submitted: Some(Submitted {
            mime: Raw::new(mime),
            message_id: arrived.head.message_id.clone(),
            apart: !instructions.to.is_empty(),
            single_category: instructions.single_category,
            refused,
            again: None,
        }),
    }
}

#[cfg(test)]
mod tests;
