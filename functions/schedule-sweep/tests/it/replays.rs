//! Events of a span of time that are posted again: the sweep continues what a request began.

use std::collections::BTreeSet;

use posthaste_model::{Event, EventKind};
use posthaste_queue::WebhookRetry;
use posthaste_replay::{Replayer, SpanStart};
use posthaste_store::{
    AttemptOutcome, Claimant, CopyState, Described, EventReplay, ReplaySpan, Webhook,
};
use posthaste_testkit::{Services, entropy};
use schedule_sweep::{App, Share, sweep};

/// A mail that was delivered, and a webhook that subscribes to that; the event.
async fn delivered(services: &Services) -> Event {
    let (account, message) = (entropy().account_id(), entropy().message_id());
    let now = services.clock.now();
    let webhook = Webhook {
        id: entropy().webhook_id(),
        account: account.clone(),
        enabled: true,
        url: "https://hook.example/".to_owned(),
        target: "https://hook.example/".to_owned(),
        friendly_name: None,
        created_at: None,
        updated_at: now,
        kinds: BTreeSet::from([EventKind::Delivered]),
        oauth_client_id: None,
        oauth_token_url: None,
        oauth_client_secret: None,
        signing: None,
        failing_since: None,
        slow_since: None,
        unreported: None,
    };
    let _created = services.store.create_webhook(&webhook, 5).await.unwrap();
    let copy = (&account, &message, 0);
    let who = Claimant {
        owner: "test",
        single_process: true,
        now,
        lease: 60,
        retention: 86_400,
    };
    let what = Described {
        email: "ann@example.com",
        from: "me@example.com",
        subject: "Hello",
        accepted_at: now,
    };
    let _won = services.store.claim(copy, 0, who, &what).await.unwrap();
    let id = Event::derived_id(&message, 0, EventKind::Delivered, 0);
    let email = "ann@example.com".to_owned();
    let mut event = Event::new(id, account.clone(), EventKind::Delivered, now, email);
    event.message = Some(message.clone());
    let outcome = AttemptOutcome {
        state: CopyState::Delivered,
        now,
        events: std::slice::from_ref(&event),
    };
    assert!(services.store.record(copy, 0, &outcome).await.unwrap());
    let indexed = services.store.index(&account, outcome.events, 86_400).await;
    assert!(indexed.unwrap() > 0);
    event
}

async fn job(services: &Services, event: &Event) -> EventReplay {
    let row = services.store.event_replay(&event.account).await.unwrap();
    row.unwrap().value
}

#[tokio::test]
async fn a_span_whose_request_could_not_queue_it_is_queued_by_the_sweep() {
    let services = Services::start().await;
    let app: App = services.open(App::from_env);
    let event = delivered(&services).await;
    let clock = services.clock.clock();
    let replayer = Replayer {
        store: &services.store,
        retries: &app.retries,
        clock: &clock,
    };
    let span = ReplaySpan {
        first: event.at,
        last: event.at,
        webhook: None,
    };
    services.queues.set_broken(true);
    let id = entropy().replay_id();
    let started = replayer.start(&event.account, id, span).await.unwrap();
    assert!(matches!(started, SpanStart::Job(job) if job.finished_at.is_none()));
    services.queues.set_broken(false);

    // Not before its time.
    sweep(&app, Share::ALL).await.unwrap();
    assert_eq!(job(&services, &event).await.events, 0);
    services.clock.advance(61);
    let swept = sweep(&app, Share::ALL).await.unwrap();
    assert_eq!((swept.failed, swept.unfinished), (0, false));
    let done = job(&services, &event).await;
    assert_eq!(
        (done.events, done.finished_at),
        (1, Some(services.clock.now()))
    );
    let sent = services.queues.drain("retries");
    let lots = sent
        .iter()
        .map(|(text, _)| WebhookRetry::from_text(text).unwrap());
    let events: Vec<_> = lots.flat_map(|lot| lot.events).collect();
    assert_eq!(events, std::slice::from_ref(&event));

    // The due row by which it would go on leads to nothing.
    services.clock.advance(120);
    sweep(&app, Share::ALL).await.unwrap();
    assert_eq!(services.queues.drain("retries"), []);
    assert_eq!(job(&services, &event).await, done);
}
