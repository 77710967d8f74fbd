//! Posts events to webhooks again: one event, those of a mail, or those of a span of time.
//!
//! The events are read from the copies of mails, which store them, and go to the retry queue, one lot for each
//! enabled webhook that subscribes to them; `webhook-fanout` posts them as it posts whatever waited there. They have
//! the ids of before, by which a receiver knows them: so asking twice, or a step that is repeated after a crash, posts
//! events twice and does no other harm. What a receiver refuses again is with the events that were not taken.
//!
//! A span is looked through in the rows of the search, which are in the order of time; it may hold more than one
//! request has time for, so it is a job: [`Replayer::start`] stores it with a due row and takes its first steps, and
//! `schedule-sweep` continues it every minute in bounded steps. An account has one such job at a time.
//!
//! Of a copy's deferrals the first and the last are stored, and of its opens and clicks the first hundred or so: the
//! others cannot be posted again.

mod job;

use std::time::Duration;

use posthaste_model::{AccountId, Clock, Event, EventKind, MessageId, WebhookId};
use posthaste_queue::{Queue, Retry, WebhookRetry};
use posthaste_runtime::WorkError;
use posthaste_store::{Recipient, Store, VisitKind, Webhook};

pub use job::{LONGEST_SPAN, LOOK_BACK, SpanStart};

/// Posts events again.
#[derive(Clone, Copy)]
pub struct Replayer<'a> {
    pub store: &'a Store,
    /// The webhook retry queue.
    pub retries: &'a Queue,
    pub clock: &'a Clock,
}

/// The events of one mail, or some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailEvents {
    pub message: MessageId,
    /// The copy; all copies when it is `None`.
    pub recipient: Option<u32>,
    /// The id of the event; all events when it is `None`.
    pub event: Option<String>,
}

/// What was put on the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuedEvents {
    /// Events, each counted for every webhook that it goes to.
    pub events: u64,
    /// Messages that hold them.
    pub messages: u64,
}

/// What posting a mail's events again came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostedAgain {
    Queued(QueuedEvents),
    /// Nothing is stored of such a mail, or it has no such event.
    NoEvent,
    /// No enabled webhook subscribes to the events.
    NoWebhook,
}

impl MailEvents {
    /// The event of this id, which ends with the mail and the position of its recipient; `None` for an id that names
    /// no mail.
    pub fn of_event(id: &str) -> Option<Self> {
        /// Characters of the id of a message.
        const MESSAGE: usize = 22;
        let (rest, recipient) = id.rsplit_once('-')?;
        let at = rest.len().checked_sub(MESSAGE)?;
        rest.get(..at).filter(|before| before.ends_with('-'))?;
        Some(Self {
            message: MessageId::parse(rest.get(at..)?).ok()?,
            recipient: Some(recipient.parse().ok()?),
            event: Some(id.to_owned()),
        })
    }
}

/// The events of a copy, with what its reader did, in chronological order.
pub fn events_of(account: &AccountId, message: &MessageId, row: &Recipient) -> Vec<Event> {
    let mut all = row.events();
    // Those that are stored as visits have what each of them has to itself.
    let first = all.first().cloned();
    for (visits, kind) in [
        (VisitKind::Open, EventKind::Open),
        (VisitKind::Click, EventKind::Click),
    ] {
        all.extend(row.visits(visits).into_iter().map(|visit| {
            let event = Event::new(visit.id, account.clone(), kind, visit.at, row.email.clone());
            Event {
                message: Some(message.clone()),
                recipient: first.as_ref().map_or(0, |first| first.recipient),
                category: first.as_ref().and_then(|first| first.category.clone()),
                custom_args: first
                    .as_ref()
                    .map(|first| first.custom_args.clone())
                    .unwrap_or_default(),
                asm_group_id: first.as_ref().and_then(|first| first.asm_group_id),
                template_id: first.as_ref().and_then(|first| first.template_id.clone()),
                url: visit.url,
                useragent: visit.agent,
                ..event
            }
        }));
    }
    // Events of the same second stay in the order they were written.
    all.sort_by_key(|event| event.at);
    all
}

impl Replayer<'_> {
    /// Posts events of a mail again, to one webhook or to all of the account's.
    ///
    /// # Errors
    /// When the table or the queue fails; some events may be queued then.
    pub async fn mail(
        self,
        account: &AccountId,
        mail: &MailEvents,
        webhook: Option<&WebhookId>,
    ) -> Result<PostedAgain, WorkError> {
        let MailEvents {
            message,
            recipient,
            event,
        } = mail;
        let rows = match recipient {
            Some(recipient) => {
                let row = self.store.recipient(account, message, *recipient).await?;
                row.into_iter().collect()
            }
            None => self.store.recipients(account, message).await?,
        };
        let all = rows.iter().flat_map(|row| events_of(account, message, row));
        let events = all.filter(|one| event.as_ref().is_none_or(|id| one.id == *id));
        let events: Vec<Event> = events.collect();
        if events.is_empty() {
            return Ok(PostedAgain::NoEvent);
        }
        let webhooks = self.webhooks(account, webhook).await?;
        let queued = self.queue(account, &webhooks, &events).await?;
        Ok(match queued.events {
            0 => PostedAgain::NoWebhook,
            _ => PostedAgain::Queued(queued),
        })
    }

    /// The enabled webhooks of an account, or the one of this id.
    async fn webhooks(
        &self,
        account: &AccountId,
        only: Option<&WebhookId>,
    ) -> Result<Vec<Webhook>, WorkError> {
        let mut webhooks = self.store.webhooks(account).await?;
        webhooks.retain(|webhook| webhook.enabled && only.is_none_or(|id| *id == webhook.id));
        Ok(webhooks)
    }

    /// Puts events on the queue for each of these webhooks that subscribes to them.
    async fn queue(
        &self,
        account: &AccountId,
        webhooks: &[Webhook],
        events: &[Event],
    ) -> Result<QueuedEvents, WorkError> {
        let mut queued = QueuedEvents::default();
        let mut messages = Vec::new();
        for webhook in webhooks {
            let wanted = events
                .iter()
                .filter(|event| webhook.kinds.contains(&event.kind));
            let waiting = WebhookRetry {
                retry: Retry {
                    account: account.clone(),
                    webhook: webhook.id.clone(),
                    attempt: 0,
                    not_before: self.clock.now(),
                    last: String::new(),
                },
                events: wanted.cloned().collect(),
            };
            queued.events += u64::try_from(waiting.events.len()).unwrap_or(u64::MAX);
            let texts = waiting.to_texts()?.into_iter();
            messages.extend(texts.map(|text| (text, Duration::ZERO)));
        }
        queued.messages = u64::try_from(messages.len()).unwrap_or(u64::MAX);
        if !messages.is_empty() {
            self.retries.send_all(messages).await?;
        }
        Ok(queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_event_names_its_mail() {
        let message = MessageId::from_bytes([0xfb; 16]);
        assert!(message.as_str().contains(['-', '_']));
        for id in [
            Event::derived_id(&message, 7, EventKind::Delivered, 3),
            format!("open-00ff00ff00ff00ff-{message}-7"),
            format!("bounce-fb-{message}-7"),
        ] {
            let mail = MailEvents::of_event(&id).unwrap();
            assert_eq!(
                (mail.message, mail.recipient),
                (message.clone(), Some(7)),
                "{id}"
            );
        }
        for id in [
            String::new(),
            "7".to_owned(),
            format!("{message}-7"),
            format!("open-{message}"),
            format!("open-{message}-x"),
            format!("open-{message}-99999999999"),
            format!("open-ä{}-7", &message.as_str()[2..]),
            format!("open{message}-7"),
        ] {
            assert_eq!(MailEvents::of_event(&id), None, "{id}");
        }
    }
}
