//! The jobs of a mail: at least one for each second at which some of its recipients are sent to.

use std::collections::BTreeMap;

use posthaste_http::Rejection;
use posthaste_model::{Mail, Span, Timestamp, due};
use posthaste_queue::Job;

/// A job lists at most this many ranges of recipients, some 8 KB: beside the largest body it stays within
/// the 256 KB of a message of SQS. A list of 10,000 recipients that leave at two alternating times
/// (`send_each_at`) has 5,000 ranges for each.
const MAX_SPANS: usize = 256;

/// Recipients that leave at one second, in one job.
pub(crate) struct ScheduledSpans {
    pub(crate) due: Option<Timestamp>,
    pub(crate) spans: Vec<Span>,
    /// The job as it travels.
    pub(crate) text: String,
}

/// The recipients by the second they leave, at most [`MAX_SPANS`] ranges together; what leaves at once comes
/// last.
pub(crate) fn groups(
    mail: &Mail,
    now: Timestamp,
    horizon: i64,
) -> Vec<(Option<Timestamp>, Vec<Span>)> {
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
pub(crate) fn parts(
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
            // A job of a later send is known by its second and its first recipient.
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
