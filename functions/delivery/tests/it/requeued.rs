//! Copies that a recipient's server defers while their retry cannot be queued.

use delivery::handle;
use posthaste_model::EventKind::{Deferred, Delivered, Processed};
use posthaste_queue::Job;
use posthaste_store::DueCursor;
use posthaste_testkit::relay::{At, Does, Relay, Script};
use posthaste_testkit::{FaultProxy, sqs_event};

use crate::lists;
use crate::signing::TestApp;

fn greylisting() -> Script {
    Script::new().on(At::Message, Does::say("451 4.7.1 later"))
}

impl TestApp {
    /// Does the job; whether it comes again.
    async fn comes_again(&self, job: &Job) -> bool {
        let answer = handle(&self.app, &sqs_event([job.to_text().unwrap()])).await;
        answer.unfinished().count() == 1
    }

    /// The rows of what is due within a day.
    async fn due(&self) -> usize {
        let mut count = 0;
        let minutes = self.store.due_minutes(self.hand.now().plus(86_400)).await;
        for minute in minutes.unwrap() {
            for shard in 0..minute.shards {
                let begin = DueCursor::default();
                let page = self.store.due_page(&minute, shard, &begin, 100).await;
                count += page.unwrap().rows.len();
            }
        }
        count
    }
}

/// The job's claim lasts for a quarter of an hour.
#[tokio::test]
async fn a_copy_whose_retry_could_not_be_queued_is_offered_again_at_once() {
    let app = TestApp::new().await;
    app.relay.follow(greylisting());
    let mut job = app.job("ann@example.com", 1);
    app.queues.set_broken(true);
    assert!(app.comes_again(&job).await);
    app.queues.set_broken(false);
    app.hand.advance(10);
    assert!(!app.comes_again(&job).await);
    assert_eq!(app.told(), [Processed, Deferred]);
    assert_eq!(app.queues.drain("send").len(), 1);

    app.relay.follow(Script::new());
    app.hand.advance(60);
    job.attempt = 1;
    assert!(!app.comes_again(&job).await);
    assert_eq!(app.told(), [Delivered]);
    assert_eq!(app.relay.received().len(), 1);
}

/// Its next attempt is further away than the queue delays a message.
#[tokio::test]
async fn one_throttle_of_the_table_neither_loses_nor_holds_up_a_late_retry() {
    for call in 0.. {
        let table = FaultProxy::default();
        let relay = Relay::start(greylisting()).await;
        let services = lists::services_on(table.table().await, &relay);
        let app = TestApp::on(services, relay).await;
        let mut job = app.job("ann@example.com", 1);
        job.attempt = 6;
        table.throttle(call, 1);
        let again = app.comes_again(&job).await;
        let is_over = table.has_throttled();
        table.throttle(0, 0);
        app.hand.advance(10);
        assert!(!again || !app.comes_again(&job).await, "call {call}");
        assert_eq!(app.due().await, 1, "call {call}");
        if !is_over {
            // The account, its settings, the lists, the claim, the due row, the outcome.
            assert!(call >= 5, "{call} calls");
            break;
        }
    }
}
