//! Mails with events, and webhooks that subscribe to them.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, Clock, Event, EventKind, MessageId, Timestamp};
use posthaste_queue::{Queue, WebhookRetry};
use posthaste_replay::Replayer;
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, CreateOutcome, Described, Store, Visit, VisitKind,
    Webhook,
};
use posthaste_testkit::{Services, entropy};

pub(crate) const DAY: i64 = 86_400;

pub(crate) struct TestEnv {
    pub(crate) services: Services,
    pub(crate) account: AccountId,
    pub(crate) retries: Queue,
    pub(crate) clock: Clock,
}

impl TestEnv {
    pub(crate) async fn new() -> Self {
        Self::on(Services::start().await)
    }

    pub(crate) fn on(services: Services) -> Self {
        Self {
            account: entropy().account_id(),
            retries: services.queues.queue("retries"),
            clock: services.clock.clock(),
            services,
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.services.store
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn replayer(&self) -> Replayer<'_> {
        Replayer {
            store: self.store(),
            retries: &self.retries,
            clock: &self.clock,
        }
    }

    /// A webhook that subscribes to these events.
    pub(crate) async fn hook(&self, kinds: &[EventKind]) -> Webhook {
        let webhook = Webhook {
            id: entropy().webhook_id(),
            account: self.account.clone(),
            enabled: true,
            url: "https://hook.example/".to_owned(),
            target: format!("https://hook.example/{}", entropy().webhook_id()),
            friendly_name: None,
            created_at: None,
            updated_at: self.now(),
            kinds: kinds.iter().copied().collect::<BTreeSet<_>>(),
            oauth_client_id: None,
            oauth_token_url: None,
            oauth_client_secret: None,
            signing: None,
            failing_since: None,
            slow_since: None,
            unreported: None,
        };
        let created = self.store().create_webhook(&webhook, 99).await.unwrap();
        assert_eq!(created, CreateOutcome::Done);
        webhook
    }

    /// A mail that is accepted and delivered now, to as many recipients, with the rows of the search.
    pub(crate) async fn mail(&self, recipients: u32) -> MessageId {
        let message = entropy().message_id();
        for recipient in 0..recipients {
            self.copy(&message, recipient).await;
        }
        message
    }

    async fn copy(&self, message: &MessageId, recipient: u32) {
        let now = self.now();
        let copy = (&self.account, message, recipient);
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: 30 * DAY,
        };
        let email = format!("ann+{recipient}@example.com");
        let what = Described {
            email: &email,
            from: "me@example.com",
            subject: "Hello",
            accepted_at: now,
        };
        let claim = self.store().claim(copy, 0, who, &what).await.unwrap();
        assert_eq!(claim, Claim::Won);
        let events = [EventKind::Processed, EventKind::Delivered];
        let events = events.map(|kind| self.event(message, recipient, kind));
        let outcome = AttemptOutcome {
            state: CopyState::Delivered,
            now,
            events: &events,
        };
        assert!(self.store().record(copy, 0, &outcome).await.unwrap());
        self.index(&events).await;
    }

    pub(crate) fn event(&self, message: &MessageId, recipient: u32, kind: EventKind) -> Event {
        let id = Event::derived_id(message, recipient, kind, 0);
        let email = format!("ann+{recipient}@example.com");
        let mut event = Event::new(id, self.account.clone(), kind, self.now(), email);
        event.message = Some(message.clone());
        event.recipient = recipient;
        event
    }

    /// An open of a copy, now; its id.
    pub(crate) async fn open(&self, message: &MessageId, recipient: u32) -> String {
        let mut event = self.event(message, recipient, EventKind::Open);
        event.id = format!("open-0123456789abcdef-{message}-{recipient}");
        let visit = Visit {
            at: event.at,
            id: event.id.clone(),
            url: None,
            agent: Some("Mail".to_owned()),
        };
        let copy = (&self.account, message, recipient);
        let visits = [visit];
        let noted = self.store().note_visits(copy, VisitKind::Open, &visits);
        assert!(noted.await.unwrap());
        self.index(std::slice::from_ref(&event)).await;
        event.id
    }

    async fn index(&self, events: &[Event]) {
        let indexed = self.store().index(&self.account, events, 30 * DAY).await;
        indexed.unwrap();
    }

    /// The ids of the events on the queue that happened at a second.
    pub(crate) fn queued_at(&self, at: Timestamp) -> Vec<String> {
        let texts = self.services.queues.drain("retries").into_iter();
        let lots = texts.map(|(text, _)| WebhookRetry::from_text(&text).unwrap());
        let events = lots.flat_map(|lot| lot.events);
        events
            .filter(|event| event.at == at)
            .map(|event| event.id)
            .collect()
    }

    /// What is on the queue since the clock moved last: webhooks with the ids of their events, sorted.
    pub(crate) fn queued(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (text, _) in self.services.queues.drain("retries") {
            let lot = WebhookRetry::from_text(&text).unwrap();
            assert_eq!((lot.retry.attempt, lot.retry.not_before), (0, self.now()));
            let hook = lot.retry.webhook.to_string();
            found.extend(lot.events.into_iter().map(|event| (hook.clone(), event.id)));
        }
        found.sort();
        found
    }
}
