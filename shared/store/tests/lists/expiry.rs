//! Rows whose time is over while the table has yet to delete them: they read as rows that are gone.

use posthaste_model::{AccountId, BatchId, MessageId, Millis, Timestamp};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, DeadLetter, DeadLetterFilter, Described, Put, Store,
};
use posthaste_testkit::{Scale, TestClock, entropy};

use crate::NOW;

const DAY: i64 = 86_400;

struct TestTable {
    scale: Scale,
    store: Store,
    hand: TestClock,
    account: AccountId,
}

impl TestTable {
    async fn new() -> Self {
        let (scale, store) = Scale::table().await;
        let hand = TestClock::at(NOW);
        Self {
            store: store.with_clock(hand.clock()),
            account: entropy().account_id(),
            scale,
            hand,
        }
    }

    async fn create(&self, batch: &BatchId) -> Put {
        let now = self.hand.now();
        let put = self.store.create_batch(&self.account, batch, now).await;
        put.unwrap()
    }

    async fn letter(&self, at: i64, keep: i64) {
        let letter = DeadLetter {
            account: self.account.clone(),
            webhook: posthaste_model::WebhookId::from_bytes([1; 16]),
            first: Timestamp(at),
            last: Timestamp(at),
            events: 1,
            died_at: NOW,
            attempts: 1,
            reason: String::new(),
            message: format!("letter {at}"),
        };
        let expires = NOW.plus(keep);
        self.store.put_dead_letter(&letter, expires).await.unwrap();
    }

    /// The seconds of the letters that are read.
    async fn letters(&self, limit: usize) -> Vec<i64> {
        let wanted = DeadLetterFilter {
            limit,
            ..DeadLetterFilter::default()
        };
        let rows = self.store.dead_letters(&self.account, &wanted).await;
        rows.unwrap().iter().map(|row| row.value.first.0).collect()
    }

    /// A copy that was delivered and is searched for `retention` seconds.
    async fn searchable(&self, message: &MessageId, retention: i64) {
        let copy = (&self.account, message, 0);
        let who = Claimant {
            owner: "test",
            single_process: true,
            now: NOW,
            lease: 60,
            retention: 100 * DAY,
        };
        let what = Described {
            email: "ann@example.com",
            from: "",
            subject: "",
            accepted_at: NOW,
        };
        let claim = self.store.claim(copy, 0, who, &what).await;
        assert_eq!(claim.unwrap(), Claim::Won);
        let mut event = posthaste_model::Event::new(
            message.to_string(),
            self.account.clone(),
            posthaste_model::EventKind::Delivered,
            NOW,
            "ann@example.com".to_owned(),
        );
        event.message = Some(message.clone());
        let outcome = AttemptOutcome {
            state: CopyState::Delivered,
            now: NOW,
            events: std::slice::from_ref(&event),
        };
        assert!(self.store.record(copy, 0, &outcome).await.unwrap());
        let indexed = self.store.index(&self.account, &[event], retention).await;
        assert_eq!(indexed.unwrap(), 2);
    }
}

#[tokio::test]
async fn a_row_is_read_until_its_second_and_its_key_is_free_from_then_on() {
    let table = TestTable::new().await;
    let batch = entropy().batch_id();
    assert_eq!(table.create(&batch).await, Put::Stored);
    let life = 40 * DAY;
    for (later, is_there) in [(life - 1, true), (1, false)] {
        table.hand.advance(later);
        let row = table.store.batch(&table.account, &batch).await.unwrap();
        assert_eq!(row.is_some(), is_there, "{later}");
        let want = if is_there { Put::Taken } else { Put::Stored };
        assert_eq!(table.create(&batch).await, want, "{later}");
    }
    assert_eq!(table.scale.rows("A#").len(), 1, "in the place of the old");
}

#[tokio::test]
async fn a_mark_is_forgotten_when_its_time_is_over_and_not_when_it_is_deleted() {
    let table = TestTable::new().await;
    let (store, account) = (&table.store, &table.account);
    store.mark_erased(account, "a@b.co", NOW).await.unwrap();
    let erased = async || store.erased_at(account, "a@b.co").await.unwrap();
    assert_eq!(erased().await, Some(NOW));
    table.hand.advance(8 * DAY);
    assert_eq!(erased().await, None);
    assert_eq!(table.scale.rows("A#").len(), 1);
    // Without a clock it is there until it is deleted.
    let timeless = store
        .clone()
        .with_clock(posthaste_model::Clock::new(|| Millis(0)));
    let erased = timeless.erased_at(account, "a@b.co").await.unwrap();
    assert_eq!(erased, Some(NOW));
}

#[tokio::test]
async fn a_page_is_filled_over_rows_whose_time_is_over() {
    let table = TestTable::new().await;
    for at in 0..250 {
        // Every fifth stays.
        table
            .letter(at, if at % 5 == 0 { 9 } else { 1 } * DAY)
            .await;
    }
    table.hand.advance(DAY);
    assert_eq!(table.letters(3).await, [0, 5, 10]);
    let all: Vec<i64> = (0..250).step_by(5).collect();
    assert_eq!(table.letters(1_000).await, all);
    table.hand.advance(8 * DAY);
    assert!(table.letters(1_000).await.is_empty());
    assert_eq!(table.scale.rows("DEAD#").len(), 250);
}

#[tokio::test]
async fn a_search_goes_on_past_rows_whose_time_is_over_and_an_erasure_deletes_them() {
    let table = TestTable::new().await;
    let (store, account) = (&table.store, &table.account);
    for n in 0..12 {
        let keep = if n % 4 == 3 { 9 } else { 1 } * DAY;
        let message = MessageId::from_bytes([n; 16]);
        table.searchable(&message, keep).await;
    }
    table.hand.advance(DAY);
    let (mut to, mut all) = (0, 0);
    let mut after = None;
    loop {
        let found = store.seek_to((account, "ann@example.com"), None, after, 2);
        let found = found.await.unwrap();
        to += found.rows.len();
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    loop {
        let found = store.seek(account, None, after, 2).await.unwrap();
        all += found.rows.len();
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((to, all), (3, 3));
    let copies = store.unindex(account, "ann@example.com").await.unwrap();
    assert_eq!(copies.len(), 12);
    assert!(table.scale.rows("SEEK").is_empty());
}
