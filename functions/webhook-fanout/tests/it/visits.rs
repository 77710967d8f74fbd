//! Opens and clicks reach the row of their copy.

use posthaste_model::{Event, EventKind, MessageId};
use posthaste_store::{Claim, Claimant, Described, VisitKind};

use crate::env::TestEnv;

impl TestEnv {
    /// A copy that is being handed over.
    async fn copy(&self) -> MessageId {
        let message = self.entropy.message_id();
        let who = Claimant {
            owner: "test",
            single_process: true,
            now: self.hand.now(),
            lease: 60,
            retention: 86_400,
        };
        let what = Described {
            email: "ann@example.com",
            from: "me@example.com",
            subject: "Hello",
            accepted_at: self.hand.now(),
        };
        let claim = self
            .store
            .claim((&self.account, &message, 0), 0, who, &what);
        assert_eq!(claim.await.unwrap(), Claim::Won);
        message
    }

    fn visit(&self, kind: EventKind, message: &MessageId, n: u32) -> Event {
        let mut event = self.event(kind);
        event.id = format!("{}-{n}", kind.wire());
        event.message = Some(message.clone());
        event.url = (kind == EventKind::Click).then(|| format!("https://example.com/{n}"));
        event
    }

    async fn counts(&self, message: &MessageId) -> (usize, usize) {
        let row = self.store.recipient(&self.account, message, 0).await;
        let row = row.unwrap().unwrap();
        let of = |kind| row.visits(kind).len();
        (of(VisitKind::Open), of(VisitKind::Click))
    }
}

#[tokio::test]
async fn visits_are_counted_once_in_whatever_company_they_come() {
    let env = TestEnv::open().await;
    let (first, second) = (env.copy().await, env.copy().await);
    let batch = [
        env.visit(EventKind::Open, &first, 1),
        env.visit(EventKind::Open, &first, 2),
        env.visit(EventKind::Click, &first, 3),
        env.visit(EventKind::Open, &second, 4),
        // No copy, and another kind.
        env.event(EventKind::Open),
        env.visit(EventKind::Unsubscribe, &second, 5),
    ];
    env.send_events(&batch).await;
    env.send_events(&batch).await;
    env.send_events(&batch[1..4]).await;
    assert_eq!(env.counts(&first).await, (2, 1));
    assert_eq!(env.counts(&second).await, (1, 0));
    let row = env.store.recipient(&env.account, &first, 0).await;
    let clicks = row.unwrap().unwrap().visits(VisitKind::Click);
    assert_eq!(clicks[0].url.as_deref(), Some("https://example.com/3"));
    assert_eq!(clicks[0].at, env.hand.now());
}
