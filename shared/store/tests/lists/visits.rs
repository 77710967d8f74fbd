//! Opens and clicks in the row of a copy.

use posthaste_model::{Event, EventKind, MessageId, Timestamp};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, MOST_VISITS, Store, Visit, VisitKind,
};
use posthaste_testkit::{entropy, table};

fn visit(i: i64) -> Visit {
    Visit {
        at: Timestamp(1_000 + i),
        id: format!("open-{i}"),
        url: None,
        agent: None,
    }
}

async fn claimed(store: &Store) -> (posthaste_model::AccountId, MessageId) {
    let (account, message) = (entropy().account_id(), entropy().message_id());
    let who = Claimant {
        owner: "test",
        single_process: true,
        now: Timestamp(900),
        lease: 60,
        retention: 86_400,
    };
    let what = Described {
        email: "ann@example.com",
        from: "me@example.com",
        subject: "Hello",
        accepted_at: Timestamp(900),
    };
    let claim = store.claim((&account, &message, 0), 0, who, &what).await;
    assert_eq!(claim.unwrap(), Claim::Won);
    (account, message)
}

#[tokio::test]
async fn the_same_visits_twice_are_the_same_visits() {
    let store = table().await;
    let (account, message) = claimed(&store).await;
    let copy = (&account, &message, 0);
    let click = Visit {
        url: Some("https://example.com/?a=1".to_owned()),
        ..visit(7)
    };
    for _ in 0..2 {
        let opens = [visit(2), visit(1)];
        assert!(
            store
                .note_visits(copy, VisitKind::Open, &opens)
                .await
                .unwrap()
        );
        let clicks = [click.clone()];
        assert!(
            store
                .note_visits(copy, VisitKind::Click, &clicks)
                .await
                .unwrap()
        );
    }
    assert!(!store.note_visits(copy, VisitKind::Open, &[]).await.unwrap());
    let row = store
        .recipient(&account, &message, 0)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.visits(VisitKind::Open), [visit(1), visit(2)]);
    assert_eq!(row.visits(VisitKind::Click), [click]);

    // A visit may come before the outcome, which leaves it alone.
    let event = Event::new(
        "d".into(),
        account.clone(),
        EventKind::Delivered,
        Timestamp(1_001),
        "ann@example.com".into(),
    );
    let outcome = AttemptOutcome {
        state: CopyState::Delivered,
        now: Timestamp(1_001),
        events: &[event],
    };
    assert!(store.record(copy, 0, &outcome).await.unwrap());
    let row = store
        .recipient(&account, &message, 0)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.visits(VisitKind::Open).len(), 2);
    assert_eq!(row.events().len(), 1);
}

#[tokio::test]
async fn a_copy_that_is_gone_gets_no_row_for_its_visits() {
    let store = table().await;
    let (account, message) = claimed(&store).await;
    let visits = [visit(1)];
    let noted = store.note_visits((&account, &message, 1), VisitKind::Open, &visits);
    assert!(!noted.await.unwrap());
    let row = store.recipient(&account, &message, 1).await.unwrap();
    assert!(row.is_none());
}

#[tokio::test]
async fn a_copy_keeps_so_many_visits_and_no_more() {
    let store = table().await;
    let (account, message) = claimed(&store).await;
    let copy = (&account, &message, 0);
    let many: Vec<_> = (0..500).map(visit).collect();
    // Each batch adds twenty at most.
    for (i, batch) in many.chunks(100).enumerate() {
        let noted = store.note_visits(copy, VisitKind::Open, batch).await;
        assert!(noted.unwrap(), "{i}");
    }
    assert!(
        !store
            .note_visits(copy, VisitKind::Open, &[visit(999)])
            .await
            .unwrap()
    );
    let row = store
        .recipient(&account, &message, 0)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.visits(VisitKind::Open).len(), MOST_VISITS);
}
