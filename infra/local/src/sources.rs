//! The sources of a copy's details on the mailbox page: its events out of the table, and the most recent answers
//! of webhooks, in memory since the start.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use posthaste_mailbox::{Lookup, Sources};
use posthaste_model::{AccountId, EventKind, MessageId};
use posthaste_store::{Recipient, Store, VisitKind};
use posthaste_webhook::PostOutcome;
use serde_json::{Value, json};
use webhook_fanout::{Posted, Watch};

/// Copies whose answers are stored.
const COPIES: usize = 10_000;

/// Answers stored per copy.
const OF_A_COPY: usize = 100;

/// Characters of a body shown.
const SHOWN: usize = 500;

/// The sources of the mailbox page.
pub(crate) fn sources(store: &Store, answers: &Answers) -> Sources {
    let store = store.clone();
    Sources {
        events: Some(Arc::new(move |trace| {
            let store = store.clone();
            Box::pin(async move {
                let Some(verp) = trace.verp else {
                    return Vec::new();
                };
                let row = store
                    .recipient(&verp.account, &verp.message, verp.recipient)
                    .await;
                row.ok()
                    .flatten()
                    .map(|row| history(&row))
                    .unwrap_or_default()
            })
        })),
        webhooks: Some(answers.lookup()),
    }
}

/// The events of a copy and the actions on it, in chronological order.
fn history(row: &Recipient) -> Vec<Value> {
    let events = row.events();
    let events = events
        .iter()
        .filter_map(|event| Some((event.at, serde_json::to_value(event).ok()?)));
    let visits = [
        (VisitKind::Open, EventKind::Open),
        (VisitKind::Click, EventKind::Click),
    ];
    let visits = visits.into_iter().flat_map(|(kind, name)| {
        row.visits(kind).into_iter().map(move |visit| {
            let (at, url) = (visit.at, visit.url);
            let value = json!({"kind": name, "at": at, "email": row.email, "url": url});
            (at, value)
        })
    });
    let mut all: Vec<_> = events.chain(visits).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, value)| value).collect()
}

type CopyId = (AccountId, MessageId, u32);

#[derive(Default)]
struct Memory {
    answers: HashMap<CopyId, Vec<Arc<Value>>>,
    order: VecDeque<CopyId>,
}

/// The answers of this run.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<Memory>>);

impl Answers {
    /// Records the result of every post.
    pub(crate) fn watch(&self) -> Watch {
        let answers = self.clone();
        Watch::new(move |posted| answers.note(posted))
    }

    /// Finds the answers about a copy, oldest first.
    pub(crate) fn lookup(&self) -> Lookup {
        let answers = self.clone();
        Arc::new(move |trace| {
            let copy = trace
                .verp
                .map(|verp| (verp.account, verp.message, verp.recipient));
            let found = copy.map(|copy| answers.of(&copy)).unwrap_or_default();
            Box::pin(async move { found })
        })
    }

    fn of(&self, copy: &CopyId) -> Vec<Value> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = memory.answers.get(copy).into_iter().flatten();
        found.map(|answer| (**answer).clone()).collect()
    }

    fn note(&self, posted: &Posted<'_>) {
        let answer = Arc::new(describe(posted));
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for event in posted.events {
            let Some(message) = &event.message else {
                continue;
            };
            let copy = (event.account.clone(), message.clone(), event.recipient);
            memory.keep(copy, &answer);
        }
    }
}

impl Memory {
    fn keep(&mut self, copy: CopyId, answer: &Arc<Value>) {
        if !self.answers.contains_key(&copy) {
            if self.order.len() >= COPIES
                && let Some(oldest) = self.order.pop_front()
            {
                self.answers.remove(&oldest);
            }
            self.order.push_back(copy.clone());
        }
        let answers = self.answers.entry(copy).or_default();
        // One post may contain several events of one copy.
        let is_last = answers.last().is_some_and(|last| Arc::ptr_eq(last, answer));
        if !is_last && answers.len() < OF_A_COPY {
            answers.push(answer.clone());
        }
    }
}

fn describe(posted: &Posted<'_>) -> Value {
    let mut answer = json!({
        "url": posted.webhook.target,
        "webhook_id": posted.webhook.id,
        "at": posted.at,
        "attempt": posted.attempt,
        "events": posted.events.iter().map(|event| event.kind.wire()).collect::<Vec<_>>(),
    });
    let mut set = |name: &str, value: Value| {
        if let Some(members) = answer.as_object_mut() {
            members.insert(name.to_owned(), value);
        }
    };
    match posted.outcome {
        PostOutcome::Answered(answered) => {
            let body = String::from_utf8_lossy(&answered.body_head);
            set("status", answered.status.as_u16().into());
            set(
                "answer",
                body.chars().take(SHOWN).collect::<String>().into(),
            );
            set("took_ms", answered.took_ms.into());
        }
        silent @ (PostOutcome::Refused(_)
        | PostOutcome::Unreachable { .. }
        | PostOutcome::TimedOut
        | PostOutcome::NoToken(_)) => set("error", silent.to_string().into()),
    }
    answer
}
