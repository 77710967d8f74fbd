//! A lost folder of large bodies: made anew, unless something in it is still to be sent or posted.

use std::time::Duration;

use posthaste_model::batch::{BatchStatus, Hold, PartFate};
use posthaste_store::{Due, DueTarget, ScheduledMail, Store};
use posthaste_testkit::{TestClock, entropy};
use serde_json::Value;

use super::*;
use crate::StartError;
use crate::engine::Engine;
use crate::engine::{FEEDBACK, INBOUND, SEND};
use crate::table::Table;

const LARGE: &str = r#"{"account":"abcdefghij","message":"AAAAAAAAAAAAAAAAAAAAAA","accepted":1,"body":{"blob":"mail/abcdefghij/x"}}"#;
/// It travels in its job, and has an argument that is called like the name of a body.
const SMALL: &str = r#"{"account":"abcdefghij","message":"AAAAAAAAAAAAAAAAAAAAAA","accepted":1,"body":{"mail":{"from":{"email":"f@example.com"},"custom_args":{"blob":"mail/abcdefghij/x"},"personalizations":[{"to":[{"email":"a@example.com"}]}]}}}"#;
const RECEIVED: &str = r#"{"account":"abcdefghij","hostname":"in.example","id":"x","blob":"inbound/abcdefghij/x","from":"","to":"a@in.example","received":7}"#;
const BOUNCED: &str = r#"{"v":1,"blob":"bounces/x","to":["b-1@bounce.example"]}"#;

/// Where a job waits.
#[derive(Clone, Copy, Debug)]
enum Waits {
    OnQueue(&'static str),
    DeadOn(&'static str),
    UntilDue(DueTarget),
    HeldByItsBatch,
}

/// Starts the parts on a folder as a host does, has `job` wait there, and stops them.
async fn run(root: &Path, jobs: &[(Waits, &str)]) -> Result<(), FolderError> {
    let hand = TestClock::default();
    let folder = Folder::open(root)?;
    let file = folder.path("queue.db");
    let table = Table::start(Some(&folder.path("table.db"))).await.unwrap();
    let engine = Engine::start(Some(&file), hand.clock()).unwrap();
    let blobs = folder.blobs(&table.store).await;
    if blobs.is_ok() {
        folder.note_parts().unwrap();
        for (waits, job) in jobs {
            match waits {
                Waits::OnQueue(queue) => {
                    let queue = engine.queue(queue);
                    let sent = queue.send((*job).to_owned(), Duration::ZERO).await;
                    sent.unwrap();
                }
                Waits::DeadOn(queue) => bury(&file, queue, job),
                Waits::UntilDue(target) => defer(&table.store, &hand, *target, job).await,
                Waits::HeldByItsBatch => hold(&table.store, &hand, job).await,
            }
        }
    }
    engine.stop();
    table.stop().await;
    blobs.map(drop)
}

/// Makes a job a dead letter.
fn bury(file: &Path, queue: &str, job: &str) {
    let database = Connection::open(file).unwrap();
    let sql = "INSERT INTO dead (id, queue, at, count, body) VALUES (1, ?1, 0, 50, ?2)";
    database.execute(sql, (queue, job)).unwrap();
}

async fn defer(store: &Store, hand: &TestClock, target: DueTarget, job: &str) {
    let due = Due {
        target,
        account: entropy().account_id(),
        at: hand.now().plus(3600),
        id: "x".to_owned(),
        body: job.to_owned(),
    };
    store.put_due(&[due], &hand.clock()).await.unwrap();
}

/// Holds a job with its batch, which is paused.
async fn hold(store: &Store, hand: &TestClock, job: &str) {
    let (entropy, now) = (entropy(), hand.now());
    let (account, message) = (entropy.account_id(), entropy.message_id());
    let batch = entropy.batch_id();
    let _ = store.create_batch(&account, &batch, now).await.unwrap();
    let pause = Hold {
        status: BatchStatus::Pause,
        since: now,
    };
    let held = store.hold_batch(&account, &batch, pause, 259_200).await;
    assert_eq!(held, Ok(()));
    let mail = ScheduledMail {
        account: &account,
        message: &message,
        first: 0,
        recipients: 1,
        accepted: now,
        at: now.plus(3600),
        batch: Some(&batch),
        job,
    };
    let fate = store.begin_delivery(&mail, &hand.clock()).await.unwrap();
    assert_eq!(fate, PartFate::Hold);
}

/// Loses the folder of large bodies.
fn lose(root: &Path) {
    fs::remove_dir_all(root.join("blobs")).unwrap();
}

#[tokio::test]
async fn a_body_that_is_still_to_leave_is_not_lost_in_silence() {
    for (waits, job) in [
        (Waits::OnQueue(SEND), LARGE),
        (Waits::OnQueue(INBOUND), RECEIVED),
        (Waits::OnQueue(FEEDBACK), BOUNCED),
        (Waits::DeadOn(SEND), LARGE),
        (Waits::UntilDue(DueTarget::Send), LARGE),
        (Waits::UntilDue(DueTarget::Inbound), RECEIVED),
        (Waits::HeldByItsBatch, LARGE),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        run(root, &[(Waits::OnQueue(SEND), SMALL), (waits, job)])
            .await
            .unwrap();
        lose(root);
        // It stays so until somebody does something about it.
        for _ in 0..2 {
            let error = run(root, &[]).await.expect_err("a body is lost");
            let said = error.to_string();
            assert!(
                said.contains("the folder ") && said.contains("blobs") && said.contains("backup"),
                "{waits:?}: {said}"
            );
            assert!(!said.contains('\n'), "{said}");
            assert_eq!(StartError::from(error).exit_code(), 2, "{waits:?}");
            assert!(!root.join("blobs").exists(), "{waits:?}: made anew");
        }

        // The remedy in the message works, for good.
        let list = root.join(LIST);
        let mut names: Value = serde_json::from_slice(&fs::read(&list).unwrap()).unwrap();
        let files = names["files"].as_array_mut().unwrap();
        files.retain(|name| *name != "blobs");
        fs::write(&list, names.to_string()).unwrap();
        for _ in 0..2 {
            run(root, &[]).await.unwrap();
            assert_eq!(mode(&root.join("blobs")), 0o700);
        }
    }
}

#[tokio::test]
async fn a_folder_that_no_waiting_job_needs_is_made_anew() {
    for jobs in [
        &[][..],
        &[
            (Waits::OnQueue(SEND), SMALL),
            (Waits::DeadOn(SEND), SMALL),
            (Waits::UntilDue(DueTarget::Send), SMALL),
            (Waits::HeldByItsBatch, SMALL),
            (Waits::OnQueue("events"), LARGE),
        ],
    ] {
        let dir = tempfile::tempdir().unwrap();
        run(dir.path(), jobs).await.unwrap();
        lose(dir.path());
        run(dir.path(), &[]).await.unwrap();
        assert_eq!(mode(&dir.path().join("blobs")), 0o700);
    }
}
