//! Mails that arrive again, and mails that only look so.

use inbound_parse::{ArrivedMail, MailFate, RETRY_WINDOW, accept};
use posthaste_blob::{Blob, BlobError};
use posthaste_runtime::WorkError;
use posthaste_testkit::Reply;

use crate::{BOX, MAIL, TestApp, job};

#[tokio::test]
async fn the_same_mail_handed_in_twice_is_posted_once_and_not_kept() {
    let service = TestApp::new().await;
    service.arrive(BOX, MAIL).await;
    service.arrive(BOX, MAIL).await;
    let jobs = service.jobs();
    assert_eq!(jobs.len(), 2);
    for job in &jobs {
        assert_eq!(service.work(vec![job.clone()]).await, 0);
    }
    service.arrive(BOX, MAIL).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(service.receiver.posts().len(), 1);
    let gone = service.app.blob.get(&job(&jobs[0]).blob).await;
    assert!(matches!(gone, Err(BlobError::Missing(_))));

    let day = service.hand.now().day();
    let account = &service.tenant.account.id;
    let counted = service.app.store.received(account, &day, &day).await;
    assert_eq!(counted.unwrap().get(&day), Some(&1));
}

/// What a camera sends: the same bytes for every alarm.
const ALARM: &[u8] = b"From: cam@sender.example\r\nTo: box@in.shop.example\r\n\
    Subject: Motion detected\r\n\r\nMotion detected\r\n";

#[tokio::test]
async fn content_without_a_message_id_is_a_repeat_only_within_the_retry_window() {
    let service = TestApp::new().await;
    let mut posts = Vec::new();
    // Seconds since the alarm before, and how many were posted by then. The window counts from the
    // first: repeats do not put off the next mail for ever.
    for (later, want) in [
        (0, 1),
        (0, 1),
        (RETRY_WINDOW - 1, 1),
        (1, 2),
        (RETRY_WINDOW / 2, 2),
        (RETRY_WINDOW / 2 + 1, 3),
        (20 * 86_400, 4),
    ] {
        service.hand.advance(later);
        assert_eq!(service.arrive(BOX, ALARM).await, 1);
        assert_eq!(service.work(service.jobs()).await, 0);
        posts.push((service.receiver.posts().len(), want));
    }
    let (got, want): (Vec<_>, Vec<_>) = posts.into_iter().unzip();
    assert_eq!(got, want);
    // A clock that was set back does not swallow mail until it has caught up.
    service.hand.advance(-2 * RETRY_WINDOW);
    service.arrive(BOX, ALARM).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(service.receiver.posts().len(), 5);
}

#[tokio::test]
async fn a_message_id_is_known_for_as_long_as_arrivals_are_kept() {
    let service = TestApp::new().await;
    for (later, want) in [(0, 1), (RETRY_WINDOW, 1), (20 * 86_400, 1)] {
        service.hand.advance(later);
        service.arrive(BOX, MAIL).await;
        assert_eq!(service.work(service.jobs()).await, 0);
        assert_eq!(service.receiver.posts().len(), want);
    }
    // The same one over other bytes is another mail, such as the copy of a list.
    let copy = [MAIL, b"-- \r\nThe list\r\n"].concat();
    service.arrive(BOX, &copy).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(service.receiver.posts().len(), 2);
}

/// Each has its raw mail and its state: neither takes the other's away.
#[tokio::test]
async fn a_second_mail_with_the_bytes_of_one_that_waits_is_posted_beside_it() {
    let service = TestApp::new().await;
    service.receiver.script([Reply::status(503)]);
    service.arrive(BOX, ALARM).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    let mut waiting = service.jobs();
    waiting.extend(service.due().await);
    assert_eq!(waiting.len(), 1);
    service.hand.advance(RETRY_WINDOW);
    service.arrive(BOX, ALARM).await;
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(service.receiver.posts().len(), 2);
    assert_eq!(service.work(waiting).await, 0);
    assert_eq!(service.receiver.posts().len(), 3);
}

/// A mail that could not be kept was answered 451 and not promised.
#[tokio::test]
async fn a_retry_after_a_mail_that_could_not_be_kept_is_posted() {
    let mut service = TestApp::new().await;
    let folder = tempfile::tempdir().unwrap();
    let blobs = folder.path().join("blobs");
    service.app.blob = Blob::folder(&blobs).unwrap();
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::write(&blobs, "no folder").unwrap();
    let to = [BOX[0].to_owned()];
    let arrived = ArrivedMail {
        from: "cam@sender.example",
        to: &to,
        ip: None,
        hello: "",
        protocol: Some("ESMTP"),
        added: 0,
        object: None,
        judged: None,
    };
    let kept = accept(&service.app, arrived, ALARM.into()).await;
    assert!(matches!(kept, Err(WorkError::Blob(_))), "{kept:?}");
    assert!(service.jobs().is_empty());
    std::fs::remove_file(&blobs).unwrap();
    service.hand.advance(60);
    let fate = accept(&service.app, arrived, ALARM.into()).await.unwrap();
    assert_eq!(fate, MailFate::Accepted(1));
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(service.receiver.posts().len(), 1);
}
