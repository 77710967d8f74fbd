//! How large the row of a copy becomes, and what it costs, at the limits of what is taken.

use std::collections::BTreeMap;

use posthaste_model::{AccountId, Category, Event, EventKind, MessageId, Timestamp};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, Store, Visit, VisitKind,
};
use posthaste_testkit::{Scale, entropy};

struct Mail {
    account: AccountId,
    message: MessageId,
    custom_args: BTreeMap<String, String>,
}

impl Mail {
    /// With custom arguments of 10,000 bytes.
    fn largest() -> Self {
        Self {
            account: entropy().account_id(),
            message: entropy().message_id(),
            custom_args: BTreeMap::from([("k".to_owned(), "v".repeat(9_999))]),
        }
    }

    fn copy(&self) -> (&AccountId, &MessageId, u32) {
        (&self.account, &self.message, 0)
    }

    fn event(&self, kind: EventKind, attempt: u32, at: i64) -> Event {
        let id = Event::derived_id(&self.message, 0, kind, attempt);
        let email = "ann@example.com".to_owned();
        let mut event = Event::new(id, self.account.clone(), kind, Timestamp(at), email);
        event.message = Some(self.message.clone());
        event.smtp_id = Some(format!("{}.0@post.example", self.message));
        event.custom_args = self.custom_args.clone();
        event.category = Some(Category::Many(vec!["news".to_owned()]));
        match kind {
            EventKind::Processed => event.send_at = Some(Timestamp(0)),
            EventKind::Deferred => {
                event.response = Some(format!("451 4.7.1 try again, for the {attempt}th time"));
                event.attempt = Some(attempt + 1);
            }
            _ => event.response = Some("250 ok".to_owned()),
        }
        event
    }

    async fn claim(&self, store: &Store, attempt: u32, now: i64, subject: &str) {
        let who = Claimant {
            owner: "test",
            single_process: true,
            now: Timestamp(now),
            lease: 60,
            retention: 86_400,
        };
        let what = Described {
            email: "ann@example.com",
            from: "me@example.com",
            subject,
            accepted_at: Timestamp(900),
        };
        let claim = store.claim(self.copy(), attempt, who, &what).await;
        assert_eq!(claim.unwrap(), Claim::Won, "attempt {attempt}");
    }

    async fn record(&self, store: &Store, attempt: u32, state: CopyState, events: &[Event]) {
        let outcome = AttemptOutcome {
            state,
            now: Timestamp(1_000),
            events,
        };
        let recorded = store.record(self.copy(), attempt, &outcome).await;
        assert!(recorded.unwrap(), "attempt {attempt}");
    }
}

#[tokio::test]
async fn three_hundred_attempts_fit_into_a_row_that_does_not_grow() {
    const ATTEMPTS: u32 = 300;
    let (scale, store) = Scale::table().await;
    let mail = Mail::largest();
    scale.take();
    for attempt in 0..ATTEMPTS {
        let at = 1_000 + i64::from(attempt) * 900;
        mail.claim(&store, attempt, at, "Hello").await;
        let deferred = mail.event(EventKind::Deferred, attempt, at);
        let first = (attempt == 0).then(|| mail.event(EventKind::Processed, 0, at));
        let events: Vec<Event> = first.into_iter().chain([deferred]).collect();
        mail.record(&store, attempt, CopyState::Deferred, &events)
            .await;
    }
    let at = 1_000 + i64::from(ATTEMPTS) * 900;
    mail.claim(&store, ATTEMPTS, at, "Hello").await;
    let delivered = mail.event(EventKind::Delivered, ATTEMPTS, at);
    mail.record(
        &store,
        ATTEMPTS,
        CopyState::Delivered,
        std::slice::from_ref(&delivered),
    )
    .await;

    let written = scale.take();
    let row = scale.heaviest("M#");
    assert!(row.bytes < 12 * 1024, "{row:?}");
    // Two writes for each attempt, none of them of more than the row.
    assert_eq!(written.calls, 2 * (300 + 1));
    assert!(written.units <= written.calls * 12, "{written:?}");

    let row = store.recipient(&mail.account, &mail.message, 0).await;
    let row = row.unwrap().unwrap();
    let last = ATTEMPTS - 1;
    let want = [
        mail.event(EventKind::Processed, 0, 1_000),
        mail.event(EventKind::Deferred, 0, 1_000),
        mail.event(EventKind::Deferred, last, 1_000 + i64::from(last) * 900),
        delivered,
    ];
    assert_eq!(row.events(), want);
    assert_eq!(row.state, CopyState::Delivered);
}

#[tokio::test]
async fn a_row_holds_a_kilobyte_of_a_subject() {
    let (scale, store) = Scale::table().await;
    let mail = Mail::largest();
    for (i, subject) in ["x".repeat(300_000), "ä".repeat(1_000_000)]
        .iter()
        .enumerate()
    {
        let mail = Mail {
            message: entropy().message_id(),
            ..Mail::largest()
        };
        mail.claim(&store, 0, 900, subject).await;
        let row = store.recipient(&mail.account, &mail.message, 0).await;
        let kept = row.unwrap().unwrap().subject;
        assert!(
            kept.len() <= 1_024 && kept.len() > 1_020,
            "{i}: {}",
            kept.len()
        );
        assert!(subject.starts_with(&kept));
    }
    assert!(scale.heaviest("M#").bytes < 2_048);
    drop(mail);
}

/// An ordinary mail: one unit (1 KB) for each write of its copy and of its search rows, as before its
/// row named the client, its search row the key and the events, and an open its program.
#[tokio::test]
async fn look_ups_cost_an_ordinary_mail_no_further_unit() {
    let (scale, store) = Scale::table().await;
    let mail = Mail {
        custom_args: BTreeMap::from([("order".to_owned(), "17-4711".to_owned())]),
        ..Mail::largest()
    };
    scale.take();
    mail.claim(&store, 0, 1_000, "Your order has shipped").await;
    let mut processed = mail.event(EventKind::Processed, 0, 1_000);
    processed.key = Some(entropy().key_id());
    processed.client_ip = Some("198.51.100.200".to_owned());
    let delivered = mail.event(EventKind::Delivered, 0, 1_001);
    let events = [processed, delivered];
    mail.record(&store, 0, CopyState::Delivered, &events).await;
    let written = scale.take();
    assert_eq!((written.calls, written.units), (2, 2), "{written:?}");
    let retention = 30 * 86_400;
    let indexed = store.index(&mail.account, &events, retention).await;
    assert_eq!(indexed.unwrap(), 2);
    let written = scale.take();
    assert_eq!((written.calls, written.units), (2, 2), "{written:?}");

    let agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15";
    let open = Event {
        useragent: Some(agent.to_owned()),
        ..mail.event(EventKind::Open, 1, 2_000)
    };
    let visit = Visit {
        at: open.at,
        id: open.id.clone(),
        url: None,
        agent: open.useragent.clone(),
    };
    let visits = [visit];
    let noted = store.note_visits(mail.copy(), VisitKind::Open, &visits);
    assert!(noted.await.unwrap());
    let written = scale.take();
    assert_eq!((written.calls, written.units), (1, 1), "{written:?}");
    let indexed = store.index(&mail.account, &[open], retention).await;
    assert_eq!(indexed.unwrap(), 1);
    let written = scale.take();
    assert_eq!((written.calls, written.units), (1, 1), "{written:?}");
    let (copy, search) = (scale.heaviest("M#"), scale.heaviest("SEEK#"));
    assert!(
        copy.bytes < 1_024 && search.bytes < 640,
        "{copy:?} {search:?}"
    );
}
