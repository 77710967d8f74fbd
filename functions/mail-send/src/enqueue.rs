//! Makes a mail durable: its jobs, at least one for each second at which some of its recipients are
//! sent to, on the queue or as due rows.

use std::collections::BTreeMap;
use std::time::Duration;

use posthaste_http::{Caller, Rejection, too_large};
use posthaste_model::{BatchId, Mail, MessageId, Millis, Span, Timestamp, due};
use posthaste_queue::{Job, JobBody, JobError, Packing};
use posthaste_store::ScheduledMail;

use crate::App;
use crate::waiting::{Acceptance, listings};

/// Makes the mail durable: immediate mail on the queue, scheduled mail as due rows.
pub(crate) async fn enqueue(
    app: &App,
    caller: &Caller,
    message: &MessageId,
    mail: Mail,
    size: usize,
) -> Result<(), Rejection> {
    let mut groups = groups(&mail, app.clock.now(), app.limits.horizon);
    let accepted = hold_immediate(app, caller, mail.batch_id.as_ref(), &mut groups).await?;
    let batch = mail.batch_id.clone();
    let waiting = if app.searches {
        let accepted = Acceptance {
            message,
            key: &caller.key.id,
            client_ip: caller.ip,
            at: accepted.seconds(),
        };
        listings(&mail, &groups, accepted)
    } else {
        Vec::new()
    };
    let mail_is_whole = mail.submitted.is_some();
    let jobs = groups.len();
    // Submission repeats parts of a request for each recipient.
    let largest = size.saturating_mul(mail.personalizations.len());
    let packed = posthaste_offload::run(largest, || JobBody::pack(mail, jobs)).await;
    let body = match packed.map_err(|error| not_packed(&error))? {
        Packing::Inline(body) => body,
        Packing::Large(bytes) => {
            let name = format!("mail/{}/{message}", caller.id());
            let put = app.blob.put(&name, bytes.into()).await;
            put.map_err(|e| Rejection::unavailable(&e))?;
            JobBody::Blob(name)
        }
    };
    let job = Job {
        v: if mail_is_whole { 2 } else { 1 },
        account: caller.id().clone(),
        message: message.clone(),
        accepted,
        spans: Vec::new(),
        attempt: 0,
        due: None,
        left: false,
        waits_since: None,
        key: Some(caller.key.id.clone()),
        client_ip: caller.ip.map(|ip| ip.to_string()),
        is_test: false,
        body,
    };
    let job = if caller.key.is_test {
        job.of_test()
    } else {
        job
    };
    let written = size.saturating_mul(groups.len());
    let parts = posthaste_offload::run(written, || parts(&job, groups)).await?;
    if !waiting.is_empty() {
        app.store.list_waiting(caller.id(), &waiting).await?;
    }
    persist(app, &job, batch.as_ref(), &parts).await
}

/// When the mail counts as accepted. What is added to a batch that is paused or cancelled, and is to
/// leave at once, becomes scheduled mail of this second, so that the hold reaches it.
async fn hold_immediate(
    app: &App,
    caller: &Caller,
    batch: Option<&BatchId>,
    groups: &mut [(Option<Timestamp>, Vec<Span>)],
) -> Result<Millis, Rejection> {
    let now = app.clock.now_ms();
    let is_immediate = groups.iter().any(|(due, _)| due.is_none());
    let Some(batch) = batch.filter(|_| is_immediate) else {
        return Ok(now);
    };
    let hold = app.store.hold_on(caller.id(), batch, now.seconds()).await?;
    let Some(hold) = hold else { return Ok(now) };
    // The clock of the process that set the hold may be ahead.
    let accepted = now.max(hold.since.millis());
    for (due, _) in groups.iter_mut().filter(|(due, _)| due.is_none()) {
        *due = Some(accepted.seconds());
    }
    Ok(accepted)
}

fn not_packed(error: &JobError) -> Rejection {
    match error {
        JobError::TooLarge(_) => too_large(),
        JobError::TooNew(_) | JobError::Json(_) | JobError::Packed(_) => Rejection::internal(error),
    }
}

/// Scheduled parts first: if one cannot be stored, the request is rejected before anything was
/// sent.
async fn persist(
    app: &App,
    job: &Job,
    batch: Option<&BatchId>,
    parts: &[ScheduledSpans],
) -> Result<(), Rejection> {
    let scheduled: Vec<ScheduledMail<'_>> = parts
        .iter()
        .filter_map(|part| {
            Some(ScheduledMail {
                account: &job.account,
                message: &job.message,
                first: part.spans.first().map_or(0, |span| span.from),
                recipients: part.spans.iter().map(|span| span.to - span.from).sum(),
                accepted: job.accepted.seconds(),
                at: part.due?,
                batch,
                job: &part.text,
            })
        })
        .collect();
    let mut jobs = match scheduled.as_slice() {
        [] => Vec::new(),
        scheduled => app.store.schedule(scheduled, &app.clock).await?,
    };
    let immediate = parts.iter().filter(|part| part.due.is_none());
    jobs.extend(immediate.map(|part| (part.text.clone(), Duration::ZERO)));
    let sent = app.queue.send_all(jobs).await;
    sent.map_err(|e| Rejection::unavailable(&e))
}

/// A job lists at most this many ranges of recipients, some 8 KB: beside the largest body it stays within
/// the 256 KB of a message of SQS. A list of 10,000 recipients that leave at two alternating times
/// (`send_each_at`) has 5,000 ranges for each.
const MAX_SPANS: usize = 256;

/// Recipients that leave at one second, in one job.
struct ScheduledSpans {
    due: Option<Timestamp>,
    spans: Vec<Span>,
    /// The job as it travels.
    text: String,
}

/// The recipients by the second they leave, at most [`MAX_SPANS`] ranges together; what leaves at once comes
/// last.
fn groups(mail: &Mail, now: Timestamp, horizon: i64) -> Vec<(Option<Timestamp>, Vec<Span>)> {
    let mut groups: BTreeMap<Timestamp, Vec<Span>> = BTreeMap::new();
    let mut immediate = Vec::new();
    let mut next = 0_u32;
    for p in &mail.personalizations {
        let to = next.saturating_add(u32::try_from(p.count()).unwrap_or(u32::MAX));
        let span = Span { from: next, to };
        next = to;
        // The horizon was checked with every other rule.
        let spans = match due(mail.send_at_of(p), now, horizon).unwrap_or(None) {
            None => &mut immediate,
            Some(at) => groups.entry(at).or_default(),
        };
        match spans.last_mut() {
            Some(last) if last.to == span.from => last.to = span.to,
            Some(_) | None => spans.push(span),
        }
    }
    let later = groups.into_iter().map(|(at, spans)| (Some(at), spans));
    later
        .chain(std::iter::once((None, immediate)))
        .flat_map(|(at, spans)| {
            let chunks = spans.chunks(MAX_SPANS);
            chunks.map(|chunk| (at, chunk.to_vec())).collect::<Vec<_>>()
        })
        .collect()
}

/// The job of each group, as it travels. The job of an only group names no ranges: it is about all recipients.
fn parts(
    job: &Job,
    groups: Vec<(Option<Timestamp>, Vec<Span>)>,
) -> Result<Vec<ScheduledSpans>, Rejection> {
    let whole = groups.len() == 1;
    let mut parts = Vec::with_capacity(groups.len());
    for (due, spans) in groups {
        let part = Job {
            due,
            spans: if whole { Vec::new() } else { spans.clone() },
            ..job.clone()
        };
        let text = part.to_text().map_err(|e| Rejection::internal(&e))?;
        parts.push(ScheduledSpans { due, spans, text });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use posthaste_model::{AccountId, MessageId, Millis, Personalization};
    use posthaste_queue::{JobBody, Packing};

    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000);

    /// A list of this many recipients, the nth of whom is sent to `at(n)` seconds from now.
    fn list(recipients: usize, at: impl Fn(usize) -> i64, text: String) -> Mail {
        let mail = serde_json::json!({
            "from": {"email": "f@example.com"},
            "content": [{"type": "text/plain", "value": text}],
            "personalizations": [{"to": [{"email": "a@example.com"}]}],
        });
        let mut mail: Mail = serde_json::from_value(mail).unwrap();
        let one = mail.personalizations.remove(0);
        mail.personalizations = (0..recipients)
            .map(|n| Personalization {
                send_at: Some(NOW.plus(at(n))),
                ..one.clone()
            })
            .collect();
        mail
    }

    fn jobs(mail: &Mail) -> Vec<ScheduledSpans> {
        let groups = groups(mail, NOW, 72 * 3_600);
        let body = match JobBody::pack(mail.clone(), groups.len()).unwrap() {
            Packing::Inline(body) => body,
            Packing::Large(_) => JobBody::Blob("mail/a/b".to_owned()),
        };
        let job = Job {
            body,
            ..Job::notice(
                AccountId::parse("abcdefghij").unwrap(),
                MessageId::parse("AAAAAAAAAAAAAAAAAAAAAA").unwrap(),
                Millis(1),
                mail.clone(),
            )
        };
        parts(&job, groups).unwrap_or_else(|_| unreachable!("jobs are JSON"))
    }

    /// Text of which zstd saves little.
    fn noise(bytes: usize) -> String {
        let mut state = 1_u64;
        std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(b'0' + u8::try_from(state >> 58).unwrap())
        })
        .take(bytes)
        .collect()
    }

    #[test]
    fn ten_thousand_recipients_at_alternating_times_fit_the_messages_of_a_queue() {
        for (recipients, is_inline) in [(1_024, true), (10_000, false)] {
            let mail = list(
                recipients,
                |n| 60 + i64::from(n % 2 == 1) * 60,
                noise(230_000),
            );
            let jobs = jobs(&mail);
            let largest = jobs.iter().map(|job| job.text.len()).max().unwrap();
            assert!(largest <= 256 * 1024, "{largest}");
            assert_eq!(largest > 200 * 1024, is_inline, "{largest}");

            let spans = jobs.iter().flat_map(|job| &job.spans);
            let mut reached: Vec<u32> = spans.flat_map(|span| span.from..span.to).collect();
            reached.sort_unstable();
            let all = u32::try_from(recipients).unwrap();
            assert_eq!(reached, (0..all).collect::<Vec<u32>>());
            // A job of scheduled mail is known by its second and its first recipient.
            let names = jobs.iter().map(|job| (job.due, job.spans[0].from));
            let names: std::collections::BTreeSet<_> = names.collect();
            assert_eq!(names.len(), jobs.len());
        }
    }

    #[test]
    fn ten_thousand_times_of_one_list_take_little_memory() {
        let at = |n| 60 + i64::try_from(n).unwrap();
        for text in [String::new(), noise(3_000), noise(180_000)] {
            let mail = list(10_000, at, text);
            let jobs = jobs(&mail);
            assert_eq!(jobs.len(), 10_000);
            let all: usize = jobs.iter().map(|job| job.text.len()).sum();
            assert!(all <= 8 << 20, "{all}");
        }
    }

    #[test]
    fn neighbours_that_leave_together_are_one_range() {
        let mail = list(1_000, |_| 60, String::new());
        let jobs = jobs(&mail);
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].spans, [Span { from: 0, to: 1_000 }]);
    }
}
