//! Converts a message, its envelope and its `X-SMTPAPI` header to a mail of the service.

use posthaste_mime::submitted::{SubmittedHead, received};
use posthaste_model::{EmailAddress, Mail, Mailbox, Personalization, Raw, Submitted, Timestamp};
use posthaste_smtpapi::{HeaderContext, Instructions, MOST_BYTES, MOST_COPIED, REASON, read};
use posthaste_smtpd::{SmtpEnvelope, SmtpReply};

/// A submitted message.
pub(super) struct SubmittedMail<'a> {
    pub(super) head: SubmittedHead,
    pub(super) envelope: &'a SmtpEnvelope,
    pub(super) message: &'a [u8],
    /// The new `Received` field.
    pub(super) trace: &'a str,
    pub(super) now: Timestamp,
    /// How far ahead a send may be scheduled, in seconds.
    pub(super) horizon: i64,
}

/// The equivalent mail/send request. A header that cannot be read yields a dropped mail, with the
/// envelope's recipients.
pub(super) fn compose(arrived: &SubmittedMail<'_>) -> Result<Mail, SmtpReply> {
    let head = &arrived.head;
    if let Some(flaw) = head.flaw {
        return Err(SmtpReply::new(550, "5.6.0", flaw.to_string()));
    }
    let Some(from) = head.from.clone() else {
        let text = "the mail needs one From header with one valid address";
        return Err(SmtpReply::new(550, "5.6.0", text));
    };
    let to: Vec<EmailAddress> = arrived
        .envelope
        .to
        .iter()
        .filter_map(|to| EmailAddress::parse(to).ok())
        .collect();
    let world = HeaderContext {
        recipients: to.len(),
        now: arrived.now,
        horizon: arrived.horizon,
    };
    let text = head.instructions.as_deref();
    let instructions = text.map_or_else(|| Ok(Instructions::default()), |text| read(text, &world));
    let instructions = instructions.map_err(|error| error.to_string());
    let told = instructions.and_then(|instructions| {
        let people = people(&instructions, &to)?;
        Ok((instructions, people))
    });
    let (instructions, personalizations, refused) = match told {
        Ok((instructions, people)) => (instructions, people, None),
        Err(why) => {
            tracing::info!("a mail is dropped for its X-SMTPAPI header: {why}");
            let none = Instructions::default();
            let people = none.personalizations(&to);
            (none, people, Some(REASON.to_owned()))
        }
    };
    Ok(made(arrived, from, instructions, personalizations, refused))
}

/// One envelope for each recipient, with the unique arguments that are meant for it.
fn people(
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

fn made(
    arrived: &SubmittedMail<'_>,
    from: Mailbox,
    instructions: Instructions,
    personalizations: Vec<Personalization>,
    refused: Option<String>,
) -> Mail {
    // `Reply-To` may contain tags too (API facts, 2.6); one in the header replaces it.
    let reply_to = match instructions.reply_to.is_empty() {
        true => arrived.head.reply_to.clone(),
        false => instructions.reply_to,
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
            mime: Raw::new(received(arrived.message, arrived.trace)),
            message_id: arrived.head.message_id.clone(),
            apart: !instructions.to.is_empty(),
            refused,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compose_of(header: &str, to: &[&str]) -> Result<Mail, SmtpReply> {
        let message = format!("From: Ann <ann@example.com>\r\n{header}\r\nhello\r\n");
        let envelope = SmtpEnvelope {
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            ..SmtpEnvelope::default()
        };
        compose(&SubmittedMail {
            head: SubmittedHead::read(message.as_bytes()),
            envelope: &envelope,
            message: message.as_bytes(),
            trace: "from here; now",
            now: Timestamp(1_800_000_000),
            horizon: 3600,
        })
    }

    fn recipients(mail: &Mail) -> Vec<&str> {
        mail.copies()
            .map(|copy| copy.mailbox.email.as_str())
            .collect()
    }

    #[test]
    fn the_envelope_is_written_to_unless_the_header_says_otherwise() {
        let plain = compose_of("To: x@example.com\r\n", &["a@example.com", "b@example.com"]);
        let plain = plain.unwrap();
        assert_eq!(recipients(&plain), ["a@example.com", "b@example.com"]);
        let whole = plain.submitted.as_ref().unwrap();
        assert!(!whole.apart && whole.refused.is_none());
        assert!(
            whole
                .mime
                .bytes()
                .starts_with(b"Received: from here;\r\n\tnow\r\nFrom: Ann")
        );
        let told = compose_of(
            "X-SMTPAPI: {\"to\": [\"c@example.com\", \"d@example.com\"]}\r\n",
            &["a@example.com"],
        );
        let told = told.unwrap();
        assert_eq!(recipients(&told), ["c@example.com", "d@example.com"]);
        assert!(told.submitted.unwrap().apart);
    }

    #[test]
    fn unique_arguments_are_substituted_for_each_recipient() {
        let header = "X-SMTPAPI: {\"sub\": {\"-n-\": [\"1\", \"-s-\"]}, \"section\": {\"-s-\": \"two\"},\r\n \
            \"unique_args\": {\"number\": \"no -n-\"}}\r\n";
        let mail = compose_of(header, &["a@example.com", "b@example.com"]).unwrap();
        let args: Vec<_> = mail
            .personalizations
            .iter()
            .map(|p| mail.merged_args(p)["number"].clone())
            .collect();
        assert_eq!(args, ["no 1", "no two"]);
    }

    #[test]
    fn a_header_that_cannot_be_read_drops_the_mail_for_everybody() {
        for header in [
            "{\"to\": [",
            "[]",
            "{\"send_at\": 1800003601}",
            "{\"to\": [\"x\"]}",
        ] {
            let header = format!("X-SMTPAPI: {header}\r\n");
            let mail = compose_of(&header, &["a@example.com"]).unwrap();
            let whole = mail.submitted.as_ref().unwrap();
            assert_eq!(whole.refused.as_deref(), Some(REASON), "{header}");
            assert_eq!(recipients(&mail), ["a@example.com"]);
        }
    }

    #[test]
    fn unique_arguments_that_grow_past_their_limit_drop_the_mail() {
        for (times, dropped) in [(99, false), (100, true)] {
            let (tags, value) = ("-n-".repeat(times), "v".repeat(100));
            let header = format!(
                "X-SMTPAPI: {{\"sub\": {{\"-n-\": \"{value}\"}}, \"unique_args\": {{\"k\": \"{tags}\"}}}}\r\n"
            );
            let mail = compose_of(&header, &["a@example.com"]).unwrap();
            let reason = mail.submitted.unwrap().refused;
            assert_eq!(reason.is_some(), dropped, "{times}");
        }
    }

    #[test]
    fn unique_arguments_that_fill_the_memory_drop_the_mail() {
        // 8 MiB in 8,192 copies of one KiB, and a tag of three letters that becomes one.
        let header = |fill: usize| {
            let args = "x".repeat(fill);
            format!(
                "X-SMTPAPI: {{\"sub\": {{\"-n-\": \"1\"}}, \"unique_args\": {{\"k\": \"-n-{args}\"}}}}\r\n"
            )
        };
        let to = vec!["a@example.com"; 8192];
        for (fill, dropped) in [(1022, false), (1023, true)] {
            let mail = compose_of(&header(fill), &to).unwrap();
            let reason = mail.submitted.unwrap().refused;
            assert_eq!(reason.is_some(), dropped, "{fill}");
        }
    }

    #[test]
    fn a_mail_whose_author_receivers_may_not_agree_on_is_refused() {
        for header in [
            "From: b@example.com\r\n",
            "Sender: a@evil.example <b@good.example>\r\n",
            "Reply-To: A\u{2028}B <b@good.example>\r\n",
            "X-A: a\0b\r\n",
            "From : b@evil.example\r\n",
            "no field\r\n",
        ] {
            let reply = compose_of(header, &["a@example.com"]).unwrap_err();
            assert_eq!(reply.code, 550, "{header:?}");
        }
    }
}
