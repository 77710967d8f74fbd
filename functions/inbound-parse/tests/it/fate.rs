//! What becomes of a mail that a receiver takes, refuses, or does not answer for.

use std::path::Path;

use inbound_parse::{ArrivedMail, MailFate, accept};
use posthaste_blob::Blob;
use posthaste_store::DueCursor;
use posthaste_testkit::{Reply, Tenant};

use crate::{BOX, MAIL, PATIENCE, TestApp, job};

impl TestApp {
    /// The bodies of all due rows.
    pub(crate) async fn due(&self) -> Vec<String> {
        let until = self.hand.now().plus(90 * 3600);
        let mut bodies = Vec::new();
        for minute in self.app.store.due_minutes(until).await.unwrap() {
            for shard in 0..minute.shards {
                let place = DueCursor::default();
                let page = self.app.store.due_page(&minute, shard, &place, 100).await;
                let rows = page.unwrap().rows;
                bodies.extend(rows.iter().map(|row| row.value.body.clone()));
                self.app.store.forget_due(&rows).await.unwrap();
            }
        }
        bodies
    }
}

#[tokio::test]
async fn a_receiver_in_trouble_is_tried_for_72_hours_and_the_mail_is_kept() {
    let service = TestApp::new().await;
    service.receiver.always(Reply::status(503));
    service.arrive(BOX, MAIL).await;
    let start = service.hand.now();
    let mut jobs = service.jobs();
    let mut attempts = 0;
    while let Some(text) = jobs.pop() {
        attempts += 1;
        assert!(attempts < 60, "no end");
        assert_eq!(service.work(vec![text.clone()]).await, 0);
        // The same job once more changes nothing.
        assert_eq!(service.work(vec![text]).await, 0);
        assert_eq!(service.receiver.posts().len(), attempts);
        jobs = service.jobs();
        jobs.extend(service.due().await);
        assert!(jobs.len() <= 1, "{jobs:?}");
        service.hand.advance(3 * 3600);
    }
    assert!(attempts > 20, "{attempts} attempts");
    let lost = service
        .app
        .store
        .lost_mails(&service.tenant.account.id, None, 10)
        .await
        .unwrap();
    assert_eq!(lost.len(), 1);
    let lost = &lost[0].value;
    assert!(lost.died_at.since(start) >= 72 * 3600);
    assert_eq!(lost.reason, "answered 503");
    let raw = service.app.blob.get(&job(&lost.job).blob).await.unwrap();
    assert_eq!(raw, MAIL);
}

#[tokio::test]
async fn a_refusal_or_a_redirect_ends_it_at_once_and_a_replay_brings_it_back() {
    for reply in [
        Reply::status(404),
        Reply::redirect(302, "http://127.0.0.1:1/"),
    ] {
        let service = TestApp::new().await;
        service.receiver.script([reply]);
        service.arrive(BOX, MAIL).await;
        assert_eq!(service.work(service.jobs()).await, 0);
        assert!(service.jobs().is_empty() && service.due().await.is_empty());
        let account = &service.tenant.account.id;
        let lost = service
            .app
            .store
            .lost_mails(account, None, 10)
            .await
            .unwrap();
        assert_eq!(lost.len(), 1);

        // As `parse-settings` replays it.
        let again = job(&lost[0].value.job);
        let which = (account, again.id.as_str(), again.attempt);
        let until = service.hand.now().plus(1000);
        assert!(
            service
                .app
                .store
                .revive_arrival(which, until)
                .await
                .unwrap()
        );
        assert_eq!(service.work(vec![again.to_text().unwrap()]).await, 0);
        assert_eq!(service.receiver.posts().len(), 2);

        // A second replay of the same letter finds that it has arrived.
        assert!(
            !service
                .app
                .store
                .revive_arrival(which, until)
                .await
                .unwrap()
        );
        assert_eq!(service.work(vec![again.to_text().unwrap()]).await, 0);
        assert_eq!(service.receiver.posts().len(), 2);
    }
}

#[tokio::test]
async fn a_mail_whose_setting_is_gone_is_kept_with_the_reason() {
    let service = TestApp::new().await;
    service.arrive(BOX, MAIL).await;
    let account = &service.tenant.account.id;
    service
        .app
        .store
        .delete_parse(account, "in.shop.example")
        .await
        .unwrap();
    assert_eq!(service.work(service.jobs()).await, 0);
    let lost = service
        .app
        .store
        .lost_mails(account, None, 10)
        .await
        .unwrap();
    assert_eq!(lost[0].value.reason, "the hostname is no longer parsed");
    assert!(service.receiver.posts().is_empty());
}

#[tokio::test]
async fn a_mail_that_goes_in_circles_is_refused() {
    let service = TestApp::new().await;
    let to = [BOX[0].to_owned()];
    for (hops, refused) in [(99, false), (100, true)] {
        let raw = ["Received: from a by b\r\n".repeat(hops).as_bytes(), MAIL].concat();
        let arrived = ArrivedMail {
            from: "",
            to: &to,
            ip: None,
            hello: "",
            protocol: Some("ESMTP"),
            added: 0,
            object: None,
            judged: None,
        };
        let fate = accept(&service.app, arrived, raw.into()).await.unwrap();
        assert_eq!(fate == MailFate::Loop, refused, "{hops}");
    }
    assert_eq!(service.jobs().len(), 1);
}

#[tokio::test]
async fn a_message_that_cannot_be_read_comes_again_until_it_is_a_dead_letter() {
    let service = TestApp::new().await;
    for bad in ["", "{}", "null", "[1]", "\u{0}"] {
        assert_eq!(service.work(vec![bad.to_owned()]).await, 1);
    }
}

#[tokio::test]
async fn an_announcement_of_aws_is_done() {
    let service = TestApp::new().await;
    for notice in [
        r#"{"Type":"SubscriptionConfirmation","TopicArn":"arn:aws:sns:x:1:t","Token":"t"}"#,
        r#"{"notificationType":"AmazonSnsSubscriptionSucceeded","message":"m"}"#,
    ] {
        assert_eq!(service.work(vec![notice.to_owned()]).await, 0);
    }
}

#[tokio::test]
async fn a_hostname_without_a_valid_domain_takes_no_mail() {
    let service = TestApp::new().await;
    let (store, account) = (&service.app.store, &service.tenant.account.id);
    assert_eq!(service.arrive(BOX, MAIL).await, 1);
    assert!(store.delete_domain(account, 1).await.unwrap());
    assert_eq!(service.arrive(BOX, MAIL).await, 0);
    service.tenant.domain(store, "shop.example").await;
    assert_eq!(service.arrive(BOX, MAIL).await, 1);
    let spoiled = store.update_domain(account, 2, |domain| domain.records[0].valid = false);
    spoiled.await.unwrap().unwrap();
    assert_eq!(service.arrive(BOX, MAIL).await, 0);
}

/// How many raw mails lie in a folder.
fn kept(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { kept(&path) } else { 1 })
        .sum()
}

#[tokio::test]
async fn recipients_share_one_raw_mail_until_the_last_lets_go_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = TestApp::new().await;
    service.app.blob = Blob::folder(folder.path()).unwrap();
    let other = Tenant::new(&service.app.store, "other", service.hand.now()).await;
    other.domain(&service.app.store, "other.example").await;
    service.setting_of(&other, "in.other.example").await;
    let to = [
        "a@in.shop.example",
        "b@in.shop.example",
        "c@in.shop.example",
        // The same once more is no further recipient.
        "a@in.shop.example",
        "a@in.other.example",
    ];
    assert_eq!(service.arrive(&to, MAIL).await, 4);
    assert_eq!(kept(folder.path()), 2, "one for each account");
    let mut jobs = service.jobs();
    jobs.sort_by_key(|text| job(text).to);
    let theirs = jobs.remove(0);
    assert!(!job(&theirs).shared);
    assert_eq!(service.work(vec![theirs]).await, 0);
    assert_eq!(kept(folder.path()), 1);

    // One is refused and waits for a replay; the others, worked twice, let go.
    service.receiver.script([Reply::status(404)]);
    assert_eq!(service.work(vec![jobs[0].clone()]).await, 0);
    for text in [&jobs[1], &jobs[2], &jobs[1], &jobs[2]] {
        assert_eq!(service.work(vec![text.clone()]).await, 0);
    }
    assert_eq!(kept(folder.path()), 1);
    // Delivered again, the mail is stored for no other recipient.
    assert_eq!(service.arrive(&to[..3], MAIL).await, 3);
    assert_eq!(kept(folder.path()), 1);
    assert_eq!(service.work(service.jobs()).await, 0);
    assert_eq!(kept(folder.path()), 1);

    let account = &service.tenant.account.id;
    let lost = service
        .app
        .store
        .lost_mails(account, None, 10)
        .await
        .unwrap();
    assert_eq!(lost.len(), 1);
    let again = job(&lost[0].value.job);
    let which = (account, again.id.as_str(), again.attempt);
    let until = service.hand.now().plus(1000);
    assert!(
        service
            .app
            .store
            .revive_arrival(which, until)
            .await
            .unwrap()
    );
    assert_eq!(service.work(vec![again.to_text().unwrap()]).await, 0);
    assert_eq!(kept(folder.path()), 0);
    assert_eq!(service.receiver.posts().len(), 5);
}

/// Two workers have the same job while the receiver takes its time.
#[tokio::test]
async fn a_job_of_a_mail_that_is_being_posted_is_retried_later() {
    let service = TestApp::new().await;
    service.receiver.script([Reply::Hang]);
    service.arrive(BOX, MAIL).await;
    let jobs = service.jobs();
    let posting = service.work(jobs.clone());
    let meanwhile = async {
        service.receiver.next(PATIENCE).await.unwrap();
        assert_eq!(service.work(jobs.clone()).await, 1, "the claim is held");
        // Whoever held it is long gone: longer than any post takes.
        service.hand.advance(299);
        assert_eq!(service.work(jobs.clone()).await, 1);
        service.hand.advance(1);
        assert_eq!(service.work(jobs.clone()).await, 0);
        assert_eq!(service.receiver.posts().len(), 2);
    };
    tokio::select! {
        _ = posting => panic!("the receiver never answers"),
        () = meanwhile => {}
    }
    // Its attempt is over once another was made.
    assert_eq!(service.work(jobs).await, 0);
    assert_eq!(service.receiver.posts().len(), 2);
}

/// The local host: what a dead process was posting is posted again at once. With the lease of the
/// cloud it would be tried every five seconds until it were a dead letter.
#[tokio::test]
async fn what_a_dead_process_was_posting_is_posted_again_at_once() {
    let mut service = TestApp::new().await;
    service.app.single_process = Some("first".to_owned());
    service.receiver.script([Reply::Hang]);
    service.arrive(BOX, MAIL).await;
    let jobs = service.jobs();
    tokio::select! {
        _ = service.work(jobs.clone()) => panic!("the receiver never answers"),
        post = service.receiver.next(PATIENCE) => drop(post.unwrap()),
    }
    assert_eq!(
        service.work(jobs.clone()).await,
        1,
        "the same process may still be at it"
    );
    service.app.single_process = Some("second".to_owned());
    assert_eq!(service.work(jobs).await, 0);
    assert_eq!(service.receiver.posts().len(), 2);
}

/// A bucket that fails for a moment costs a moment, and not the lease.
#[tokio::test]
async fn a_mail_that_could_not_be_read_is_not_held_for_the_lease() {
    let mut service = TestApp::new().await;
    service.arrive(BOX, MAIL).await;
    let jobs = service.jobs();
    let sound = service.app.blob.clone();
    // A file in the way of the blobs' folder: reading fails, and not because the blob is missing.
    let folder = tempfile::tempdir().unwrap();
    let name = job(&jobs[0]).blob;
    let (parent, _) = name.split_once('/').unwrap();
    std::fs::write(folder.path().join(parent), "in the way").unwrap();
    service.app.blob = Blob::folder(folder.path()).unwrap();
    assert_eq!(service.work(jobs.clone()).await, 1);
    service.app.blob = sound;
    assert_eq!(service.work(jobs).await, 0);
    assert_eq!(service.receiver.posts().len(), 1);
}
