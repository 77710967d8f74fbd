//! Derives the state of a copy, its events and the time of the next attempt from the relay's answer.

use std::time::Duration;

use posthaste_mailer::{Attempt, Cause, meaning};
use posthaste_model::{
    BounceType, Category, Classification, DropReason, Event, EventKind, Mail, Millis, Timestamp,
};
use posthaste_queue::Job;
use posthaste_store::CopyState;

use crate::wait::RelayWait;

/// A copy that no relay accepts within this many seconds expires (DESIGN: 72 hours).
pub(crate) const SHELF_LIFE: i64 = 72 * 3600;

/// The cause that sets the pace of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// The receiving side deferred the mail: 1, 2, 4 … minutes, at most an hour.
    Recipient,
    /// The relay refuses the sender: the same, until the operator or the account resolves it.
    Sender,
    /// SES was called and did not answer: 2, 4, 8 … minutes, at most an hour. If the mail left,
    /// SES's event says so before the next attempt, which then finds the copy handed over.
    Unanswered,
}

impl From<Cause> for RetryReason {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Recipient => Self::Recipient,
            // A relay that takes nothing, or not this mail: the copy waits, and only its end is
            // decided here.
            Cause::Sender | Cause::Mail | Cause::Relay => Self::Sender,
        }
    }
}

/// The pause after attempt `attempt` (from 0), plus up to a tenth of `jitter` (0 to 99), so that
/// copies which failed together are not retried together.
pub fn pause(reason: RetryReason, attempt: u32, jitter: u64) -> Duration {
    let (first, most) = match reason {
        RetryReason::Recipient | RetryReason::Sender => (60_000, 3_600_000),
        RetryReason::Unanswered => (120_000, 3_600_000),
    };
    let plain: u64 = (first << attempt.min(16)).min(most);
    let spread = plain / 1000 * jitter.min(99);
    Duration::from_millis((plain + spread).min(most))
}

/// From when on the next deferral of the job's copies ends them.
pub(crate) fn expiry(job: &Job) -> Timestamp {
    let start = job.due.unwrap_or_else(|| job.accepted.seconds());
    start.plus(SHELF_LIFE)
}

/// Whether the next deferral of the job's copies ends them.
pub(crate) fn is_expired(job: &Job, now: Millis) -> bool {
    now.seconds() >= expiry(job)
}

/// The number that the events of a wait, and the drop that ends one, have in place of their attempt's
/// in their ids.
pub(crate) fn waiting_number(attempt: u32) -> u32 {
    attempt.saturating_add(1_000_000)
}

/// The fields that all events of a copy share.
#[derive(Clone, Copy)]
pub(crate) struct EventContext<'a> {
    pub job: &'a Job,
    pub recipient: u32,
    pub email: &'a str,
    pub message_id: &'a str,
    pub mail: &'a Mail,
    pub personalization: &'a posthaste_model::Personalization,
    pub now: Millis,
}

/// The result of an attempt for a copy.
#[derive(Debug)]
pub(crate) struct RecordResult {
    pub state: CopyState,
    /// The event that can already be published.
    pub event: Option<Event>,
    /// Why there is another attempt.
    pub retry: Option<RetryReason>,
    /// What a recipient with a fixed outcome says of the mail.
    pub reports: Vec<Event>,
}

/// The categories of a mail in the shape they were sent in: a list, or the text of an X-SMTPAPI
/// header.
fn category(mail: &Mail) -> Option<Category> {
    let is_single = mail.submitted.as_ref().is_some_and(|m| m.single_category);
    match mail.categories.as_slice() {
        [] => None,
        [one] if is_single => Some(Category::One(one.clone())),
        several => Some(Category::Many(several.to_vec())),
    }
}

impl EventContext<'_> {
    /// An event of this copy with the shared fields.
    pub(crate) fn event(&self, kind: EventKind) -> Event {
        let job = self.job;
        let id = Event::derived_id(&job.message, self.recipient, kind, job.attempt);
        let at = self.now.seconds();
        let mut event = Event::new(id, job.account.clone(), kind, at, self.email.to_owned());
        event.message = Some(job.message.clone());
        event.recipient = self.recipient;
        event.smtp_id = Some(self.message_id.to_owned());
        event.custom_args = self.mail.merged_args(self.personalization);
        event.asm_group_id = self.mail.asm.as_ref().map(|asm| asm.group_id);
        event.template_id = self.mail.template_id.clone();
        event.is_test = job.is_test;
        event.category = category(self.mail);
        event
    }

    /// `processed`, if nothing was reported of the copy before.
    pub(crate) fn first_processed(&self) -> Option<Event> {
        let is_first = self.job.attempt == 0 && self.job.waits_since.is_none();
        is_first.then(|| self.processed())
    }

    /// The events that report the beginning of a wait; `None` where it has begun, or is none for the
    /// relay.
    pub(crate) fn start_of(&self, wait: &RelayWait) -> Option<Vec<Event>> {
        match wait {
            RelayWait::Outage { response, .. } if self.job.waits_since.is_none() => {
                let waiting = self.waiting(response);
                Some(
                    self.first_processed()
                        .into_iter()
                        .chain([waiting])
                        .collect(),
                )
            }
            RelayWait::Outage { .. } | RelayWait::Quota { .. } => None,
        }
    }

    /// `processed`: the copy is ready for the relay. Published once, with the first attempt.
    pub(crate) fn processed(&self) -> Event {
        let mut event = self.event(EventKind::Processed);
        let planned = self.mail.send_at_of(self.personalization);
        event.send_at = Some(planned.unwrap_or(Timestamp(0)));
        event.key.clone_from(&self.job.key);
        event.client_ip.clone_from(&self.job.client_ip);
        event.pool = self
            .mail
            .ip_pool_name
            .as_ref()
            .map(|name| posthaste_model::Pool {
                name: name.clone(),
                id: 0,
            });
        event
    }

    /// The copy is not handed over.
    pub(crate) fn dropped(&self, reason: &DropReason) -> RecordResult {
        let mut event = self.event(EventKind::Dropped);
        if self.job.waits_since.is_some() {
            // Not the drop of a first attempt: that would count the copy as a request once more.
            let attempt = waiting_number(self.job.attempt);
            let kind = EventKind::Dropped;
            event.id = Event::derived_id(&self.job.message, self.recipient, kind, attempt);
        }
        event.reason = Some(reason.to_string());
        event.status = Some("5.0.0".to_owned());
        event.key.clone_from(&self.job.key);
        event.client_ip.clone_from(&self.job.client_ip);
        RecordResult {
            state: CopyState::Dropped,
            event: Some(event),
            retry: None,
            reports: Vec::new(),
        }
    }

    /// The copy could not be built because of the service's configuration: it is retried, and
    /// raises the same alarm as a relay failure, since operators resolve both.
    pub(crate) fn unbuilt(&self) -> RecordResult {
        // RFC 3463, section 3.4: the system is not configured correctly.
        let status = Some("4.3.5".to_owned());
        let response = "the service is not configured to build this mail".to_owned();
        self.deferred(response, status, RetryReason::Sender, None)
    }

    /// The copy waits because the relay takes no mail. Its attempt is still to come.
    fn waiting(&self, response: &str) -> Event {
        let mut event = self.event(EventKind::Deferred);
        // The attempt itself may be deferred later, by the recipient.
        let attempt = waiting_number(self.job.attempt);
        let kind = EventKind::Deferred;
        event.id = Event::derived_id(&self.job.message, self.recipient, kind, attempt);
        event.response = Some(response.to_owned());
        event.attempt = Some(self.job.attempt + 1);
        event
    }

    /// The copy has waited too long for the relay.
    pub(crate) fn expired(&self, response: String) -> RecordResult {
        self.deferred(response, None, RetryReason::Sender, None)
    }

    /// The result that the relay's answer means.
    pub(crate) fn end(&self, attempt: Attempt) -> RecordResult {
        match attempt {
            Attempt::Accepted {
                response, ip, tls, ..
            } => {
                let mut event = self.event(EventKind::Delivered);
                event.response = Some(response);
                event.ip = ip;
                event.tls = Some(tls);
                RecordResult {
                    state: CopyState::Delivered,
                    event: Some(event),
                    retry: None,
                    reports: Vec::new(),
                }
            }
            // `ses-feedback` reports the rest.
            Attempt::Handed { .. } => RecordResult {
                state: CopyState::Handed,
                event: None,
                retry: None,
                reports: Vec::new(),
            },
            Attempt::Unsupported => self.dropped(&DropReason::Invalid),
            Attempt::Deferred {
                response,
                status,
                cause,
                ip,
            } => {
                let status = status.map(|status| status.to_string());
                self.deferred(response, status, cause.into(), ip)
            }
            Attempt::Unanswered { response } => {
                self.deferred(response, None, RetryReason::Unanswered, None)
            }
            // Only a copy that is too old to wait for the quota of another day comes here.
            Attempt::Throttled { response, .. } => self.expired(response),
            Attempt::Bounced {
                code,
                response,
                status,
                stage,
                ip,
                tls,
            } => {
                let mut event = self.event(EventKind::Bounce);
                let meaning = meaning(code, status, &response, stage);
                event.bounce_type = Some(meaning.kind);
                event.bounce_classification = Some(meaning.class.as_str().to_owned());
                event.status = Some(status.map_or_else(|| "5.0.0".to_owned(), |s| s.to_string()));
                event.reason = Some(response);
                event.ip = ip;
                event.tls = Some(tls);
                RecordResult {
                    state: CopyState::Bounced,
                    event: Some(event),
                    retry: None,
                    reports: Vec::new(),
                }
            }
        }
    }

    fn deferred(
        &self,
        response: String,
        status: Option<String>,
        reason: RetryReason,
        ip: Option<String>,
    ) -> RecordResult {
        if is_expired(self.job, self.now) {
            let mut event = self.event(EventKind::Bounce);
            event.bounce_type = Some(BounceType::Expired);
            // A failure of the service must not count against the address, see `Store::apply_suppressions`.
            let class = match reason {
                RetryReason::Sender | RetryReason::Unanswered => Classification::Technical,
                RetryReason::Recipient => Classification::Unclassified,
            };
            event.bounce_classification = Some(class.as_str().to_owned());
            event.status = status.or_else(|| Some("4.4.7".to_owned()));
            event.reason = Some(response);
            event.ip = ip;
            return RecordResult {
                state: CopyState::Bounced,
                event: Some(event),
                retry: None,
                reports: Vec::new(),
            };
        }
        let mut event = self.event(EventKind::Deferred);
        event.response = Some(response);
        event.status = status;
        event.attempt = Some(self.job.attempt + 1);
        event.ip = ip;
        RecordResult {
            state: CopyState::Deferred,
            event: Some(event),
            retry: Some(reason),
            reports: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::{AccountId, Mail, Timestamp};
    use posthaste_queue::JobBody;

    use super::*;

    #[test]
    fn what_cannot_be_built_for_a_reason_of_our_own_is_tried_for_as_long_as_the_relay() {
        let mail: Mail = serde_json::from_value(serde_json::json!({
            "from": {"email": "shop@example.com"}, "subject": "Hello",
            "content": [{"type": "text/plain", "value": "Hi"}],
            "personalizations": [{"to": [{"email": "ann@example.com"}]}],
        }))
        .unwrap();
        let accepted = Timestamp(1_800_000_000);
        let job = Job {
            v: 1,
            account: AccountId::from_bytes([7; 10]),
            message: posthaste_testkit::entropy().message_id(),
            accepted: accepted.millis(),
            spans: Vec::new(),
            attempt: 3,
            due: None,
            left: false,
            waits_since: None,
            key: None,
            client_ip: None,
            is_test: false,
            body: JobBody::Mail(Box::new(mail.clone())),
        };
        let at = |later| EventContext {
            job: &job,
            recipient: 0,
            email: "ann@example.com",
            message_id: "1@post.example",
            mail: &mail,
            personalization: &mail.personalizations[0],
            now: accepted.plus(later).millis(),
        };
        let end = at(SHELF_LIFE - 1).unbuilt();
        assert_eq!(
            (end.state, end.retry),
            (CopyState::Deferred, Some(RetryReason::Sender))
        );
        let event = end.event.unwrap();
        assert_eq!(
            (event.kind, event.status.as_deref()),
            (EventKind::Deferred, Some("4.3.5"))
        );
        // A failure of the service does not count against the address.
        let end = at(SHELF_LIFE).unbuilt();
        assert_eq!((end.state, end.retry), (CopyState::Bounced, None));
        let event = end.event.unwrap();
        assert_eq!(event.bounce_type, Some(BounceType::Expired));
        assert_eq!(
            event.bounce_classification.as_deref(),
            Some(Classification::Technical.as_str())
        );
    }

    #[test]
    fn pauses_grow_to_their_limit() {
        let seconds = |reason, attempt| pause(reason, attempt, 0).as_secs();
        let recipient: Vec<_> = (0..8).map(|n| seconds(RetryReason::Recipient, n)).collect();
        assert_eq!(recipient, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        let unanswered = (0..5).map(|n| seconds(RetryReason::Unanswered, n));
        assert_eq!(unanswered.collect::<Vec<_>>(), [120, 240, 480, 960, 1920]);
        assert_eq!(seconds(RetryReason::Recipient, u32::MAX), 3600);
    }

    #[test]
    fn jitter_adds_less_than_a_tenth() {
        let most = pause(RetryReason::Recipient, 0, u64::MAX);
        assert!(
            most > Duration::from_secs(65) && most < Duration::from_secs(66),
            "{most:?}"
        );
    }
}
