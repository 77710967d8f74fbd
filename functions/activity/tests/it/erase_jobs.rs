//! Jobs of erasures: their state, their steps, and processes that die in between.

use posthaste_erasure::Eraser;
use posthaste_model::{ErasureId, Timestamp, WebhookId};
use posthaste_store::{CopyState, DeadLetter, DueCursor};
use posthaste_testkit::{FailAfter, Response, Tenant};
use schedule_sweep::{Share, sweep};
use serde_json::{Value, json};

use crate::erase::ANN;
use crate::{DAY, TestApp};

impl TestApp {
    async fn request_erasure(&self, addresses: &Value) -> Response {
        let ask = self.api.post("/v3/recipients/erasejob");
        let body = json!({"email_addresses": addresses});
        ask.key(&self.tenant.key).json(&body).send().await
    }

    async fn start(&self, addresses: &[&str]) -> ErasureId {
        let answer = self.request_erasure(&json!(addresses)).await;
        let answer = answer.expect(202).json();
        ErasureId::parse(answer["job_id"].as_str().unwrap()).unwrap()
    }

    async fn job(&self, id: &ErasureId) -> Value {
        let path = format!("/v3/recipients/erasejob/{id}");
        self.get(&path).await.expect(200).json()
    }

    /// Some 30 MB of another account, in more than 30 pages of a scan.
    async fn fill(&self) {
        let other = Tenant::new(&self.store, "other", self.hand.now()).await;
        let filler = "x".repeat(300_000);
        for n in 0..100_u8 {
            let letter = DeadLetter {
                account: other.account.id.clone(),
                webhook: WebhookId::from_bytes([n; 16]),
                first: self.hand.now(),
                last: self.hand.now(),
                events: 1,
                died_at: self.hand.now(),
                attempts: 1,
                reason: String::new(),
                message: format!("{n}{filler}"),
            };
            let until = self.hand.now().plus(DAY);
            self.store.put_dead_letter(&letter, until).await.unwrap();
        }
    }

    /// The ids of the due rows of all times.
    async fn due_rows(&self) -> Vec<String> {
        let mut ids = Vec::new();
        for minute in self
            .store
            .due_minutes(Timestamp(9_999_999_999))
            .await
            .unwrap()
        {
            for shard in 0..minute.shards {
                let first = DueCursor::default();
                let page = self.store.due_page(&minute, shard, &first, 100);
                ids.extend(page.await.unwrap().rows.into_iter().map(|row| row.value.id));
            }
        }
        ids
    }
}

#[tokio::test]
async fn a_job_of_many_addresses_has_a_state_and_is_one_however_often_it_is_started() {
    let app = TestApp::new().await;
    let names = |n: usize| -> Vec<String> { (0..n).map(|n| format!("p{n}@example.com")).collect() };
    let all = names(60);
    let mut messages = Vec::new();
    for email in &all {
        messages.push(app.searchable(email, CopyState::Delivered).await);
    }
    let other = app
        .searchable("bob@example.com", CopyState::Delivered)
        .await;
    let all: Vec<&str> = all.iter().map(String::as_str).collect();

    let id = app.start(&all).await;
    let answer = app.job(&id).await;
    assert_eq!(
        (&answer["status"], &answer["addresses"]),
        (&json!("pending"), &json!(60))
    );
    // In another order and case, and one of them twice.
    let mut again: Vec<&str> = all.iter().rev().copied().collect();
    again.push("P3@EXAMPLE.com");
    assert_eq!(app.start(&again).await, id);
    assert_ne!(app.start(&all[1..]).await, id);
    app.sweep().await;
    let answer = app.job(&id).await;
    assert_eq!(
        (&answer["status"], &answer["under_way"]),
        (&json!("done"), &json!(0))
    );
    // The other job, which has most of the addresses too, erased some of it.
    assert!(answer["erased"].as_u64().unwrap() > 0, "{answer}");
    assert_eq!(answer["finished_at"], app.hand.now().0);
    for message in &messages {
        assert!(!app.is_kept(message).await);
    }
    assert!(app.is_kept(&other).await);
    // What has ended begins anew.
    let late = app.copy(all[0], CopyState::Delivered).await;
    app.hand.advance(60);
    assert_eq!(app.start(&all).await, id);
    app.sweep().await;
    assert!(!app.is_kept(&late).await);
    // Nothing of the job's own holds an address after it.
    let account = &app.tenant.account.id;
    let job = app.store.erasure(account, &id).await.unwrap().unwrap();
    let addresses = app.store.erasure_addresses(&job.value);
    assert!(addresses.await.unwrap().is_empty());
}

#[tokio::test]
async fn a_large_table_takes_many_steps_and_each_goes_on_where_the_last_one_stopped() {
    let app = TestApp::with(false).await;
    let account = &app.tenant.account.id;
    let mut messages = Vec::new();
    for _ in 0..3 {
        messages.push(app.copy(ANN, CopyState::Delivered).await);
    }
    let waiting = app.copy(ANN, CopyState::Claimed).await;
    app.fill().await;
    let id = app.start(&[ANN]).await;
    // Processes that die after one step each.
    let eraser = Eraser {
        store: &app.store,
        blob: &app.blob,
        clock: &app.hand.clock(),
        elsewhere: None,
    };
    let mut steps = 0;
    while eraser.resume(account, &id, None).await.unwrap() {
        steps += 1;
        assert!(steps < 200, "it does not end");
        app.hand.advance(60);
        if !eraser.advance(account, &id, 1).await.unwrap() {
            break;
        }
    }
    assert!(steps > 30, "{steps} steps of a table of some 30 MB");
    let answer = app.erase("").await.expect(202).json();
    assert_eq!(
        (&answer["status"], &answer["under_way"]),
        (&json!("waiting"), &json!(1))
    );
    // What an earlier page held is not forgotten on the way.
    for message in &messages {
        assert!(!app.is_kept(message).await);
    }
    assert!(app.is_kept(&waiting).await);
    // The due rows of steps before are stale: the sweep drops them, and waits.
    app.sweep().await;
    let answer = app.erase("").await.expect(202).json();
    assert_eq!(answer["status"], "waiting");
    app.hand.advance(6 * DAY);
    app.sweep().await;
    app.erase("").await.expect(204);
    assert!(!app.is_kept(&waiting).await);
    app.hand.advance(60);
    app.sweep().await;
    assert!(app.due_rows().await.is_empty());
}

#[tokio::test]
async fn an_erasure_survives_every_death_of_its_process() {
    let faults = FailAfter::default();
    let app = TestApp::failing(&faults).await;
    let account = app.tenant.account.id.clone();
    let mut deaths = 0;
    for deaf in [false, true] {
        // Every third, from another one when the answer is lost: all of them take minutes.
        for calls in (u32::from(deaf)..).step_by(3) {
            faults.restore();
            app.hand.advance(600);
            let message = app.searchable(ANN, CopyState::Delivered).await;
            let other = app
                .searchable("bob@example.com", CopyState::Delivered)
                .await;
            faults.fail_after(calls, deaf);
            let sweeper = app.services.open(schedule_sweep::App::from_env);
            app.request_erasure(&json!([ANN])).await;
            let _ = sweep(&sweeper, Share::ALL).await;
            let died = faults.restore();
            deaths += usize::from(died);
            // The client asks again, and the next sweeps come.
            app.start(&[ANN]).await;
            for _ in 0..3 {
                app.hand.advance(60);
                app.sweep().await;
            }
            assert!(!app.is_kept(&message).await, "death after {calls} calls");
            assert!(app.is_kept(&other).await);
            assert!(app.due_rows().await.is_empty(), "death after {calls} calls");
            let found = app
                .store
                .seek_to((&account, ANN), None, None, 10)
                .await
                .unwrap();
            assert!(found.rows.is_empty(), "death after {calls} calls");
            if !died {
                break;
            }
        }
    }
    assert!(deaths > 15, "{deaths}");
}

#[tokio::test]
async fn a_wrong_list_of_addresses_starts_nothing() {
    let app = TestApp::new().await;
    let many: Vec<String> = (0..5_001).map(|n| format!("p{n}@example.com")).collect();
    for (addresses, field) in [
        (Value::Null, "email_addresses"),
        (json!([]), "email_addresses"),
        (json!(many), "email_addresses"),
        (json!(ANN), "email_addresses"),
        (json!([ANN, 1]), "email_addresses.1"),
        (json!([ANN, "ann", ""]), "email_addresses.1"),
    ] {
        let answer = app.request_erasure(&addresses).await;
        let (answer, _) = answer.expect(400).error();
        assert_eq!(answer.as_deref(), Some(field), "{field}");
    }
    assert!(app.due_rows().await.is_empty());
    for id in ["x", "AAAAAAAAAAAAAAAAAAAAAA", "%20"] {
        let path = format!("/v3/recipients/erasejob/{id}");
        app.get(&path).await.expect(404);
    }
}
