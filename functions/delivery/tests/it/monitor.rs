//! Samples of a subuser's mail.

use posthaste_model::{EmailAddress, Mail, MessageId};
use posthaste_queue::{Job, JobBody};
use posthaste_store::Monitor;
use posthaste_testkit::{Tenant, entropy};

use crate::signing::TestApp;

const WATCHER: &str = "reviews@parent.example";

impl TestApp {
    /// A subuser whose parent watches one copy in so many.
    async fn watched(&self, frequency: u32) -> Tenant {
        let sub = self.tenant.subuser(&self.store, "acme").await;
        let changed = self.store.update_account(&sub.account.id, |account| {
            account.monitor = Some(Monitor {
                email: WATCHER.to_owned(),
                frequency,
            });
        });
        assert!(changed.await.unwrap().is_some());
        sub
    }

    fn job_of(&self, sub: &Tenant, recipients: usize) -> Job {
        let mut job = self.job("ann@example.com", recipients);
        job.account = sub.account.id.clone();
        job
    }

    /// Delivers the samples that are queued; how many there were.
    async fn deliver_samples(&self) -> usize {
        let sent = self.drain_send();
        for text in &sent {
            self.work(&Job::from_text(text).unwrap()).await;
        }
        sent.len()
    }
}

#[tokio::test]
async fn each_sampled_copy_goes_to_a_confirmed_address_once_and_without_the_recipients_links() {
    let app = TestApp::new().await;
    let sub = app.watched(1).await;
    let mut job = app.job_of(&sub, 2);
    if let JobBody::Mail(mail) = &mut job.body {
        mail.content[0].value = "Hello, see https://shop.example/".to_owned();
    }

    app.work(&job).await;
    assert_eq!(
        app.drain_send().len(),
        0,
        "an address that is not confirmed"
    );
    app.tenant.domain(&app.store, "parent.example").await;
    // The job comes again: the copies are not sent twice, and their samples are sent.
    app.work(&job).await;
    app.work(&job).await;
    assert_eq!(app.relay.received().len(), 2);
    assert_eq!(app.deliver_samples().await, 4);

    let received = app.relay.received();
    let samples = &received[2..];
    assert_eq!(samples.len(), 2, "each once");
    for sample in samples {
        let text = String::from_utf8(sample.bytes.clone()).unwrap();
        assert!(
            text.contains(WATCHER) && text.contains("Subject: Hello"),
            "{text}"
        );
        assert!(text.contains("https://shop.example/"), "{text}");
        assert!(
            !text.contains("/ls/click") && !text.contains("bob"),
            "{text}"
        );
    }
    // A sample is no mail of the subuser's that is sampled again.
    assert_eq!(app.drain_send().len(), 0);
}

#[tokio::test]
async fn one_copy_in_so_many_is_sampled_and_no_notice() {
    let app = TestApp::new().await;
    app.tenant.domain(&app.store, "parent.example").await;
    let sub = app.watched(4).await;
    let mut samples = 0;
    for n in 0..60 {
        let mut job = app.job_of(&sub, 1);
        job.message = MessageId::from_bytes([n; 16]);
        app.work(&job).await;
        samples += app.drain_send().len();
    }
    assert!((5..=25).contains(&samples), "{samples} of 60");

    let mut job = app.job_of(&sub, 1);
    let address = |text| EmailAddress::parse(text).unwrap();
    for _ in 0..40 {
        let (from, to) = (address("no-reply@post.example"), address("ann@example.net"));
        job.message = entropy().message_id();
        job.body = JobBody::Mail(Box::new(Mail::notice(from, to, "Confirm", "Please".into())));
        app.work(&job).await;
    }
    assert_eq!(app.drain_send().len(), 0);
}

#[tokio::test]
async fn an_account_without_a_monitor_has_no_samples() {
    let app = TestApp::new().await;
    app.work(&app.job("ann@example.com", 20)).await;
    assert_eq!(app.drain_send().len(), 0);
}
