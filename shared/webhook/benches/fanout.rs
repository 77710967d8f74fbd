//! What one post of a hundred events costs: its events, its body, its signature.
//!
//! The last line is the whole; the budget is 10,000 events a second and core, a hundred posts.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use posthaste_model::{AccountId, Category, Entropy, Event, EventKind, MessageId, Timestamp};
use posthaste_webhook::{WebhookKeyPair, batch, event_json};

const EVENTS: usize = 100;
const NOW: Timestamp = Timestamp(1_700_000_000);

fn events(entropy: &Entropy) -> Vec<Event> {
    let account = AccountId::from_bytes([7; 10]);
    let events = (0..EVENTS).map(|n| {
        let message = MessageId::from_bytes(entropy.bytes());
        let id = Event::derived_id(&message, 0, EventKind::Delivered, 1);
        let email = format!("customer.number.{n}@mail.example.com");
        let mut event = Event::new(id, account.clone(), EventKind::Delivered, NOW, email);
        event.smtp_id = Some(format!("{message}.0@mail.example.com"));
        event.message = Some(message);
        event.category = Some(Category::Many(vec!["receipts".into(), "spring".into()]));
        event.custom_args = [("order", "A-1001"), ("customer", "4711")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        event.response = Some("250 2.0.0 OK: queued as 4F2A1C0B".into());
        event.ip = Some("192.0.2.25".into());
        event.tls = Some(true);
        event
    });
    events.collect()
}

fn fanout(c: &mut Criterion) {
    let entropy = Entropy::counting();
    let pair = WebhookKeyPair::generate(&entropy).expect("the counter gives usable bytes");
    let events = events(&entropy);
    let json: Vec<_> = events.iter().map(event_json).collect();
    let body = batch::pack(&json).remove(0).body;
    let time = NOW.to_string();

    let mut group = c.benchmark_group("post of 100 events");
    group.throughput(Throughput::Elements(EVENTS as u64));
    group.bench_function("events to JSON", |b| {
        b.iter(|| events.iter().map(event_json).collect::<Vec<_>>());
    });
    group.bench_function("JSON to body", |b| b.iter(|| batch::pack(black_box(&json))));
    group.bench_function("sign", |b| b.iter(|| pair.sign(black_box(&time), &body)));
    group.bench_function("all of it", |b| {
        b.iter(|| {
            let json: Vec<_> = events.iter().map(event_json).collect();
            let posts = batch::pack(&json).into_iter();
            posts
                .map(|post| (batch::headers(Some(&pair), NOW, &post.body), post.body))
                .collect::<Vec<_>>()
        });
    });
    group.finish();
}

criterion_group!(benches, fanout);
criterion_main!(benches);
