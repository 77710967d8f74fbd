//! Samples of a subuser's mail, which its parent has sent to an address (`/v3/subusers/{subuser_name}/monitor`).
//!
//! Whether a copy is a sample follows from its id: there is no counter to write, and a job that runs twice makes
//! the same samples. On average one copy in `frequency` is one.

use std::time::Duration;

use posthaste_model::{
    Content, EmailAddress, Event, EventKind, Mail, MessageId, RecipientCopy, cut,
};
use posthaste_queue::{Disposition, Job, JobBody, JobError};
use posthaste_render::{Compiled, Input};
use posthaste_runtime::WorkError;
use sha2::{Digest as _, Sha256};

use crate::App;
use crate::context::JobContext;

/// The bytes of a sample's job, at most: the queue carries it, and not the bucket. Parts that make it larger are left
/// out.
const LARGEST_JOB: usize = 200_000;

/// The bytes of the subject of a mail that is too large for a sample.
const LONGEST_SUBJECT: usize = 200;

/// Sends the copy to the monitor of its account, if it is a sample and has begun its way with these events. A repeated
/// sample is sent once: it has the same id.
///
/// # Errors
/// When it may be sent later. The copy itself has its record, so that a repeated job sends the sample alone.
pub(crate) async fn sample(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    template: Option<&Compiled>,
    events: &[Event],
) -> Result<(), WorkError> {
    let job = context.job;
    let sent = send_sample(app, context, copy, template, events).await;
    match sent {
        Err(error) if error.disposition() == Disposition::Fail => {
            tracing::error!(message.id = %job.message, "no sample of message {} is sent: {error}", job.message);
            Ok(())
        }
        other => other,
    }
}

async fn send_sample(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    template: Option<&Compiled>,
    events: &[Event],
) -> Result<(), WorkError> {
    let JobContext { job, mail, .. } = context;
    let is_first = events
        .iter()
        .any(|event| event.kind == EventKind::Processed);
    if mail.notice || job.attempt > 0 || !is_first {
        return Ok(());
    }
    let Some((parent, monitor)) = app.accounts.monitor(&job.account).await? else {
        return Ok(());
    };
    let digest = digest(&job.message, copy.recipient);
    if !is_sample(digest, monitor.frequency) {
        return Ok(());
    }
    let Ok(to) = EmailAddress::parse_stored(&monitor.email) else {
        return Ok(());
    };
    if !app.store.may_forward_to(&parent, &to).await? {
        tracing::info!(account.id = %job.account, "the monitor of account {} is not confirmed: no sample is sent", job.account);
        return Ok(());
    }
    // Links of the recipient would unsubscribe that person, and count what is opened.
    let input = Input {
        mail,
        copy,
        template,
        settings: context.effective,
        links: None,
    };
    let Ok(rendered) = posthaste_render::render(&input) else {
        return Ok(());
    };
    let from = mail.from_of(copy.personalization).email.clone();
    let mut sampled = Mail::notice(from, to, &rendered.subject, String::new());
    sampled.content = rendered.parts;
    let id = MessageId::from_digest(digest);
    let notice = Job::notice(job.account.clone(), id, app.clock.now_ms(), sampled);
    let notice = if job.is_test {
        notice.of_test()
    } else {
        notice
    };
    let text = fitting(notice)?;
    app.send.send_all(vec![(text, Duration::ZERO)]).await?;
    Ok(())
}

fn digest(message: &MessageId, recipient: u32) -> [u8; 32] {
    Sha256::digest(format!("monitor of {message} {recipient}")).into()
}

/// Whether a copy is one of every `frequency`.
fn is_sample(digest: [u8; 32], frequency: u32) -> bool {
    let [a, b, c, d, ..] = digest;
    u32::from_be_bytes([a, b, c, d]) % frequency.max(1) == 0
}

/// The text of a job that the queue takes: without the last parts of the mail where it is too large.
fn fitting(mut job: Job) -> Result<String, JobError> {
    loop {
        let text = job.to_text()?;
        let JobBody::Mail(mail) = &mut job.body else {
            return Ok(text);
        };
        if text.len() <= LARGEST_JOB {
            return Ok(text);
        }
        mail.content.pop();
        if mail.content.is_empty() {
            mail.content.push(Content {
                mime_type: "text/plain".to_owned(),
                value: "The mail is too large for a sample.".to_owned(),
            });
            mail.subject = mail
                .subject
                .take()
                .map(|subject| cut(&subject, LONGEST_SUBJECT).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::Entropy;

    use super::*;

    #[test]
    fn one_copy_in_so_many_is_a_sample() {
        let entropy = Entropy::counting();
        let messages: Vec<_> = (0..4_000).map(|_| entropy.message_id()).collect();
        for (frequency, want) in [(1, 4_000..=4_000), (4, 900..=1_100), (1_000_000, 0..=1)] {
            let samples = messages
                .iter()
                .filter(|message| is_sample(digest(message, 0), frequency))
                .count();
            assert!(want.contains(&samples), "{samples} of 4000 at {frequency}");
        }
        let digests = [0, 1].map(|recipient| digest(&messages[0], recipient));
        assert_ne!(digests[0], digests[1]);
    }

    #[test]
    fn what_is_too_large_is_left_out() {
        let part = |kind: &str, size| Content {
            mime_type: kind.to_owned(),
            value: "\u{1}".repeat(size),
        };
        let address = || EmailAddress::parse("a@example.com").unwrap();
        let sent = |sizes: [usize; 2], subject: usize| {
            let subject = "\u{1}".repeat(subject);
            let mut mail = Mail::notice(address(), address(), &subject, String::new());
            mail.content = vec![part("text/plain", sizes[0]), part("text/html", sizes[1])];
            let account = posthaste_model::AccountId::from_bytes([7; 10]);
            let id = MessageId::from_bytes([7; 16]);
            let job = Job::notice(account, id, posthaste_model::Millis(0), mail);
            let text = fitting(job).unwrap();
            assert!(text.len() <= LARGEST_JOB, "{} bytes", text.len());
            match Job::from_text(&text).unwrap().body {
                JobBody::Mail(mail) => mail.content.len(),
                _ => panic!("another body"),
            }
        };
        // Each of these characters has six bytes in a job.
        let most = LARGEST_JOB / 6;
        assert_eq!(sent([10, most - 1_000], 10), 2);
        assert_eq!(sent([10, most], 10), 1);
        assert_eq!(sent([most, 10], 10), 1);
        assert_eq!(sent([10, 10], most), 1);
    }
}
