//! Erasing addresses, by jobs that the sweep continues.

use bytes::Bytes;
use posthaste_model::{EmailAddress, Event, EventKind, MessageId, WebhookId};
use posthaste_queue::{Inbound, Retry, WebhookRetry};
use posthaste_store::{
    CopyState, DeadLetter, DeadLetterFilter, LostMail, Mark, SuppressionList, WebhookPost,
};
use posthaste_testkit::{Response, Tenant};
use schedule_sweep::{Share, sweep};
use serde_json::Value;

use crate::{DAY, TestApp};

pub(crate) const ANN: &str = "ann@example.com";

impl TestApp {
    pub(crate) async fn erase(&self, more: &str) -> Response {
        let path = format!("/v3/messages/recipients/Ann@Example.com{more}");
        self.api.delete(&path).key(&self.tenant.key).send().await
    }

    /// Erases, and sweeps until the job has ended; the last answer.
    async fn erase_all(&self, more: &str) {
        self.erase(more).await.expect(202);
        self.sweep().await;
        self.erase(more).await.expect(204);
    }

    /// One sweep, on time.
    pub(crate) async fn sweep(&self) {
        let app = self.services.open(schedule_sweep::App::from_env);
        let swept = sweep(&app, Share::ALL).await.unwrap();
        assert_eq!((swept.failed, swept.unreadable), (0, 0));
        assert!(!swept.unfinished);
    }

    pub(crate) async fn is_kept(&self, message: &MessageId) -> bool {
        let account = &self.tenant.account.id;
        let row = self.store.recipient(account, message, 0).await.unwrap();
        row.is_some()
    }

    /// Events that no webhook took.
    async fn letter(&self, events: Vec<Event>) {
        let account = self.tenant.account.id.clone();
        let webhook = WebhookId::from_bytes([9; 16]);
        let inside = WebhookRetry {
            retry: Retry {
                account: account.clone(),
                webhook: webhook.clone(),
                attempt: 9,
                not_before: self.hand.now(),
                last: String::new(),
            },
            events,
        };
        let now = self.hand.now();
        for message in inside.to_texts().unwrap() {
            let letter = DeadLetter {
                account: account.clone(),
                webhook: webhook.clone(),
                first: now,
                last: now,
                events: 2,
                died_at: now,
                attempts: 9,
                reason: "404".to_owned(),
                message,
            };
            self.store
                .put_dead_letter(&letter, now.plus(DAY))
                .await
                .unwrap();
        }
    }

    /// The addresses in what no webhook took.
    async fn undelivered(&self) -> Vec<String> {
        let wanted = DeadLetterFilter {
            limit: 100,
            ..DeadLetterFilter::default()
        };
        let account = &self.tenant.account.id;
        let rows = self.store.dead_letters(account, &wanted).await.unwrap();
        let inside = rows
            .iter()
            .flat_map(|row| WebhookRetry::from_text(&row.value.message).unwrap().events);
        inside.map(|event| event.email).collect()
    }

    /// A received mail that no receiver took.
    async fn lost(&self, id: &str, from: &str) {
        let (account, now) = (self.tenant.account.id.clone(), self.hand.now());
        let job = Inbound {
            v: 1,
            account: account.clone(),
            hostname: "in.example.com".to_owned(),
            id: id.to_owned(),
            blob: format!("inbound/{account}/{id}"),
            shared: false,
            from: from.to_owned(),
            to: "box@in.example.com".to_owned(),
            ip: None,
            hello: String::new(),
            trace: None,
            received: now,
            attempt: 9,
            judged: None,
        };
        let raw = Bytes::from_static(b"raw");
        self.blob.put(&job.blob, raw).await.unwrap();
        let lost = LostMail {
            account,
            id: id.to_owned(),
            hostname: job.hostname.clone(),
            received: now,
            died_at: now,
            attempts: 9,
            reason: "404".to_owned(),
            job: job.to_text().unwrap(),
        };
        self.store.lose_mail(&lost, now.plus(DAY)).await.unwrap();
    }
}

#[tokio::test]
async fn everything_of_an_address_goes_and_nothing_of_another() {
    for searches in [true, false] {
        let app = TestApp::with(searches).await;
        let mut hers = Vec::new();
        let mut his = Vec::new();
        for (email, state) in [
            ("Ann@example.com", CopyState::Delivered),
            (ANN, CopyState::Bounced),
            ("ANN@EXAMPLE.COM", CopyState::Handed),
            ("bob@example.com", CopyState::Delivered),
        ] {
            let message = if searches {
                app.searchable(email, state).await
            } else {
                app.copy(email, state).await
            };
            if email.starts_with("bob") {
                his.push(message);
            } else {
                hers.push(message);
            }
        }
        let events =
            [ANN, "bob@example.com"].map(|email| app.event(EventKind::Delivered, &hers[0], email));
        app.letter(events.to_vec()).await;
        app.lost("l1", ANN).await;
        app.lost("l2", "bob@example.com").await;

        app.erase_all("").await;
        for message in &hers {
            assert!(!app.is_kept(message).await);
            app.get(&format!("/v3/messages/{message}"))
                .await
                .expect(404);
        }
        assert!(app.is_kept(&his[0]).await);
        assert_eq!(app.undelivered().await, ["bob@example.com"]);
        let account = &app.tenant.account.id;
        let lost = app.store.lost_mails(account, None, 10).await.unwrap();
        assert_eq!(lost.len(), 1);
        assert!(
            !app.blob
                .has(&format!("inbound/{account}/l1"))
                .await
                .unwrap()
        );
        assert!(
            app.blob
                .has(&format!("inbound/{account}/l2"))
                .await
                .unwrap()
        );
        if searches {
            let found = app.store.seek(account, None, None, 10).await.unwrap();
            assert_eq!(found.rows.len(), 1);
            assert_eq!(found.rows[0].to, "bob@example.com");
        }
    }
}

#[tokio::test]
async fn a_letter_with_events_of_others_keeps_its_own_end() {
    let app = TestApp::new().await;
    let account = &app.tenant.account.id;
    let message = app.delivered().await;
    let events =
        [ANN, "bob@example.com"].map(|email| app.event(EventKind::Delivered, &message, email));
    app.letter(events.to_vec()).await;
    let end = app.hand.now().plus(DAY);
    app.hand.advance(60);

    app.erase_all("").await;

    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let rows = app.store.dead_letters(account, &wanted).await.unwrap();
    assert_eq!(rows.len(), 1);
    let raw = app.store.get::<Value>(&rows[0].key).await.unwrap();
    assert_eq!(raw.unwrap().value["exp"], end.0);
}

#[tokio::test]
async fn an_erasure_leaves_a_mark_of_its_latest_time() {
    let app = TestApp::new().await;
    let account = &app.tenant.account.id;
    for _ in 0..2 {
        app.hand.advance(60);
        let at = app.hand.now();
        app.erase_all("").await;
        let marked = app.store.erased_at(account, ANN).await.unwrap();
        assert_eq!(marked, Some(at));
    }
    let other = app.store.erased_at(account, "bob@example.com").await;
    assert_eq!(other.unwrap(), None);
}

#[tokio::test]
async fn suppressions_stay_unless_they_are_asked_for() {
    let app = TestApp::new().await;
    let account = &app.tenant.account.id;
    let folded = EmailAddress::parse(ANN).unwrap().folded();
    let mark = Mark::at(app.hand.now());
    let hers = [folded.clone()];
    for list in [SuppressionList::Bounces, SuppressionList::Group(4)] {
        let put = app.store.suppress_all(account, &hers, list, &mark);
        put.await.unwrap();
    }
    app.erase_all("").await;
    let lists = app.store.suppressed(account, &folded).await.unwrap();
    assert_eq!(lists.count(), 2);
    app.erase_all("?suppressions=true").await;
    let lists = app.store.suppressed(account, &folded).await.unwrap();
    assert_eq!(lists.count(), 0);
    app.erase("?suppressions=maybe").await.expect(400);
}

#[tokio::test]
async fn what_is_under_way_is_erased_when_it_has_ended() {
    let app = TestApp::new().await;
    let waiting = app.copy(ANN, CopyState::Claimed).await;
    let done = app.copy(ANN, CopyState::Delivered).await;
    let large = app.copy(ANN, CopyState::Delivered).await;
    let account = &app.tenant.account.id;
    let body = format!("mail/{account}/{large}");
    app.blob.put(&body, Bytes::from_static(b"x")).await.unwrap();

    let state = app.erase("").await.expect(202).json();
    assert_eq!(state["status"], "pending");
    app.sweep().await;
    let state = app.erase("").await.expect(202).json();
    assert_eq!(
        (state["status"].as_str(), state["under_way"].as_i64()),
        (Some("waiting"), Some(2))
    );
    assert!(app.is_kept(&waiting).await && app.is_kept(&large).await);
    assert!(!app.is_kept(&done).await);

    // It ends, and events of it are indexed that were on their way.
    let event = app.event(EventKind::Delivered, &waiting, ANN);
    app.record(&waiting, CopyState::Delivered, &event).await;
    app.index(&[event]).await;
    app.hand.advance(DAY / 4);
    app.sweep().await;
    assert!(!app.is_kept(&waiting).await && app.is_kept(&large).await);
    // After six days no job can need the large body.
    app.hand.advance(6 * DAY);
    app.sweep().await;
    app.erase("").await.expect(204);
    assert!(!app.is_kept(&large).await);
    assert!(!app.blob.has(&body).await.unwrap());
    let found = app.store.seek(account, None, None, 10).await.unwrap();
    assert!(found.rows.is_empty());
}

#[tokio::test]
async fn no_other_account_is_touched() {
    let app = TestApp::new().await;
    let message = app.searchable(ANN, CopyState::Delivered).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let path = "/v3/messages/recipients/ann@example.com";
    let started = app.api.delete(path).key(&other.key).send().await;
    let started = started.expect(202).json();
    app.sweep().await;
    assert!(app.is_kept(&message).await);
    let found = app.store.seek(&app.tenant.account.id, None, None, 10).await;
    assert_eq!(found.unwrap().rows.len(), 1);
    // Nor is its job shown.
    let path = format!(
        "/v3/recipients/erasejob/{}",
        started["job_id"].as_str().unwrap()
    );
    app.get(&path).await.expect(404);
    let shown = app.api.get(&path).key(&other.key).send().await;
    assert_eq!(shown.expect(200).json()["status"], "done");
}

#[tokio::test]
async fn what_is_no_address_is_refused() {
    let app = TestApp::new().await;
    for wrong in ["ann", "%20", "@", "a@b@", "ann%40"] {
        let path = format!("/v3/messages/recipients/{wrong}");
        let answer = app.api.delete(&path).key(&app.tenant.key).send().await;
        let (field, _) = answer.expect(400).error();
        assert_eq!(field.as_deref(), Some("email"), "{wrong}");
    }
}

#[tokio::test]
async fn posts_that_hold_an_event_of_the_address_go_and_others_stay() {
    let app = TestApp::with(true).await;
    let (account, now) = (app.tenant.account.id.clone(), app.hand.now());
    let webhook = WebhookId::from_bytes([9; 16]);
    for (attempt, to) in [
        (1, vec![ANN, "bob@example.com"]),
        (2, vec!["bob@example.com"]),
    ] {
        let event = |to: &&str| {
            let (id, to) = (format!("event to {to}"), (*to).to_owned());
            Event::new(id, account.clone(), EventKind::Delivered, now, to)
        };
        let inside = WebhookRetry {
            retry: Retry {
                account: account.clone(),
                webhook: webhook.clone(),
                attempt: 0,
                not_before: now,
                last: String::new(),
            },
            events: to.iter().map(event).collect(),
        };
        let post = WebhookPost {
            account: account.clone(),
            webhook: webhook.clone(),
            at: now,
            attempt,
            url: String::new(),
            accepted: true,
            status: Some(200),
            answer: String::new(),
            took_ms: None,
            signature: None,
            message: inside.to_texts().unwrap().remove(0),
        };
        app.store.put_post(&post).await.unwrap();
    }
    app.erase_all("").await;
    let left = app.store.posts(&account, &webhook).await.unwrap();
    let left: Vec<_> = left.iter().map(|post| post.attempt).collect();
    assert_eq!(left, [2]);
}
