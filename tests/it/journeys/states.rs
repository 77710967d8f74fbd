//! Every accepted recipient ends in a state, once, and is told of, whatever a field of the mail holds: each field
//! at the largest that is taken, over HTTP and over SMTP. What lies past that is refused and leaves nothing.
//!
//! Names, labels and headers in `fields`, settings in `settings`, texts and files as large as a mail in `bodies`,
//! lists of a thousand in `people`, templates in `templates`, what leaves later in `later`, SMTP in `submitted`, what
//! is refused in `refused`.

mod bodies;
mod fields;
mod later;
mod people;
mod refused;
mod settings;
mod submitted;
mod templates;

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_model::{EventKind, MessageId};
use posthaste_store::CopyState;
use posthaste_testkit::Receiver;
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

const MIB: usize = 1 << 20;

/// A composed mail has fewer bytes, and one that is submitted has no more.
const LARGEST_MAIL: usize = 30 * MIB;

/// How a copy can end.
const ENDS: [EventKind; 3] = [EventKind::Delivered, EventKind::Bounce, EventKind::Dropped];

/// How all copies of a mail are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Delivered,
    /// For this reason.
    Dropped(&'static str),
}

impl End {
    fn state(self) -> CopyState {
        match self {
            Self::Delivered => CopyState::Delivered,
            Self::Dropped(_) => CopyState::Dropped,
        }
    }

    /// The event and the reason that a webhook is told.
    fn told(self) -> (&'static str, Value) {
        match self {
            Self::Delivered => ("delivered", Value::Null),
            Self::Dropped(reason) => ("dropped", json!(reason)),
        }
    }
}

/// A mail that was accepted.
struct Accepted {
    name: &'static str,
    copies: usize,
    end: End,
}

/// A service whose webhook is told of every end, and the mails that it accepted.
struct Ledger {
    service: Service,
    receiver: Receiver,
    /// By their ids.
    accepted: BTreeMap<String, Accepted>,
    /// The id of the event that told of the end of a copy, by the id of the copy.
    told: BTreeMap<String, String>,
}

impl Ledger {
    async fn open() -> Self {
        let service = Service::start().await;
        let receiver = Receiver::start().await.expect("a receiver");
        let ledger = Self {
            service,
            receiver,
            accepted: BTreeMap::new(),
            told: BTreeMap::new(),
        };
        let hook = json!({"url": ledger.receiver.url(), "enabled": true, "delivered": true,
            "bounce": true, "dropped": true});
        ledger.made("/v3/user/webhooks/event/settings", &hook).await;
        let pool = json!({"name": wide(64)});
        ledger.made("/v3/ips/pools", &pool).await;
        ledger
    }

    /// What a call that must succeed made.
    async fn made(&self, path: &str, body: &Value) -> Value {
        let answer = self.service.call(Method::POST, path, body).await;
        let status = answer.status();
        let text = answer.text().await.unwrap_or_default();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Sends a mail that must be accepted.
    async fn send(&mut self, name: &'static str, mail: &Value, end: End) {
        let answer = self.service.call(Method::POST, "/v3/mail/send", mail).await;
        let status = answer.status();
        let id = answer.headers().get("x-message-id").cloned();
        let text = answer.text().await.unwrap_or_default();
        assert_eq!(status, 202, "{name}: {text}");
        let id = id.expect("X-Message-Id").to_str().expect("text").to_owned();
        self.accept(id, name, copies(mail), end);
    }

    fn accept(&mut self, id: String, name: &'static str, copies: usize, end: End) {
        self.accepted.insert(id, Accepted { name, copies, end });
    }

    /// Waits until every copy has ended, and looks at each.
    async fn ended(&mut self) {
        const PATIENCE: u32 = 120;
        let awaited: usize = self.accepted.values().map(|mail| mail.copies).sum();
        let mut silent = 0;
        while self.told.len() < awaited {
            if let Some(post) = self.receiver.next(Duration::from_secs(1)).await {
                silent = 0;
                let events: Vec<Value> = serde_json::from_slice(&post.body).expect("events");
                events.iter().for_each(|event| self.hear(event));
            } else {
                silent += 1;
                assert!(silent < PATIENCE, "never told of {:?}", self.open_mails());
                // A post that found others waiting for the webhook comes a second later by this clock.
                self.service.pass(1).await;
            }
        }
        for (id, mail) in &self.accepted {
            self.check(id, mail).await;
        }
    }

    fn hear(&mut self, event: &Value) {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let (copy, id) = (text("sg_message_id"), text("sg_event_id"));
        let message = copy.split('.').next().unwrap_or_default();
        let Some(mail) = self.accepted.get(message) else {
            panic!("told of a mail that was not accepted: {event}");
        };
        let (kind, reason) = mail.end.told();
        let told = (event["event"].as_str(), &event["reason"]);
        assert_eq!(told, (Some(kind), &reason), "{}", mail.name);
        let name = mail.name;
        // A post may come twice; an end may not.
        let before = self.told.insert(copy, id.clone());
        assert!(before.is_none_or(|before| before == id), "{name}: {id}");
    }

    /// The mails of which a copy has not ended.
    fn open_mails(&self) -> Vec<&'static str> {
        let ended = |id: &str| self.told.keys().filter(|copy| copy.starts_with(id)).count();
        let open = self.accepted.iter();
        let open = open.filter(|(id, mail)| ended(id.as_str()) < mail.copies);
        open.map(|(_, mail)| mail.name).collect()
    }

    /// Each copy of the mail has a row with the one end that was told.
    async fn check(&self, id: &str, mail: &Accepted) {
        let Accepted { name, copies, end } = mail;
        let message = MessageId::parse(id).expect("a message id");
        let rows = self.service.rows_of(id, *copies).await;
        assert_eq!(rows.len(), *copies, "{name}");
        for (recipient, row) in (0_u32..).zip(&rows) {
            assert_eq!(row.state, end.state(), "{name}: {recipient}");
            let events = row.events().into_iter();
            let ends = events.filter(|event| ENDS.contains(&event.kind));
            let ends: Vec<String> = ends.map(|event| event.id).collect();
            let told = &self.told[&message.of_copy(recipient)];
            assert_eq!(&ends, std::slice::from_ref(told), "{name}: {recipient}");
        }
    }

    /// Stops the service once the relay has recorded each delivered copy, and nothing beside them.
    async fn close(self) {
        let delivered = self.accepted.values();
        let delivered = delivered.filter(|mail| mail.end == End::Delivered);
        let delivered: usize = delivered.map(|mail| mail.copies).sum();
        let recorded = self.service.recorded().await;
        assert_eq!(recorded, u64::try_from(delivered).ok());
        self.service.stop().await;
    }
}

/// How many recipients a mail has.
fn copies(mail: &Value) -> usize {
    let envelopes = mail["personalizations"].as_array().expect("envelopes");
    let lists = envelopes
        .iter()
        .flat_map(|envelope| ["to", "cc", "bcc"].map(move |list| &envelope[list]));
    lists.filter_map(Value::as_array).map(Vec::len).sum()
}

/// A mail to two people, with one change.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut mail = mail("ann@example.com");
    mail["personalizations"] = json!([
        {"to": [{"email": "ann@example.com"}]},
        {"to": [{"email": "bob@example.com"}]},
    ]);
    change(&mut mail);
    mail
}

/// Four bytes each, the longest that UTF-8 has.
fn wide(count: usize) -> String {
    "\u{10348}".repeat(count)
}

/// A text, continued to so many bytes by lines that need no encoding.
fn filled(text: &str, bytes: usize) -> String {
    // Longer lines are encoded, which makes them longer.
    let line = format!("{}\n", "x".repeat(70));
    let rest = bytes - text.len();
    let lines = line.repeat(rest / line.len());
    format!("{text}{lines}{}", "x".repeat(rest % line.len()))
}

/// So many letters of base64, a multiple of four, that compression makes little shorter.
fn noise(letters: usize) -> String {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    let bytes: Vec<u8> = std::iter::repeat_with(next).take(letters / 4 * 3).collect();
    STANDARD.encode(bytes)
}

/// So many people, each with an address of the same length.
fn mailboxes(count: usize) -> Value {
    let one = |n| json!({"email": format!("p{n:04}@example.com")});
    (0..count).map(one).collect()
}

/// The ids of as many unsubscribe groups as a mail may show.
async fn groups(ledger: &Ledger) -> Vec<i64> {
    let mut ids = Vec::new();
    for n in 0..25 {
        let group = json!({"name": format!("{n:02}{}", wide(28)), "description": wide(100)});
        let group = ledger.made("/v3/asm/groups", &group).await;
        ids.push(group["id"].as_i64().expect("an id"));
    }
    ids
}
