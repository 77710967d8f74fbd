//! Rows whose time is over while the table has yet to delete them: they read as rows that are gone.

use posthaste_model::{AccountId, BatchId, MessageId, Millis, Timestamp};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, DeadLetter, DeadLetterFilter, Described, Embedded,
    Put, Store,
};
use posthaste_testkit::{Scale, TABLE, TestClock, entropy};
use serde_json::json;

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

/// The search rows of a delivered copy as release 0.1 wrote them: the row under its recipient, with a pointer in
/// the order of time.
async fn old_rows(table: &TestTable, message: &MessageId) {
    let account = &table.account;
    let place = format!("{}#{message}#00000", 9_999_999_999_i64 - NOW.0);
    let ends = NOW.plus(9 * DAY).0.to_string();
    let part = table
        .scale
        .rows(&format!("SEEKS#{account}#"))
        .into_iter()
        .find(|row| row.sk == place);
    let pointer = json!({
        "pk": {"S": part.unwrap().pk}, "sk": {"S": place}, "v": {"N": "1"}, "rev": {"N": "1"}, "exp": {"N": ends},
        "to": {"S": "ann@example.com"},
    });
    let now = NOW.0.to_string();
    let row = json!({
        "pk": {"S": format!("SEEK#{account}#ann@example.com")}, "sk": {"S": place},
        "v": {"N": "1"}, "rev": {"N": "1"}, "exp": {"N": ends},
        "message": {"S": message.to_string()}, "recipient": {"N": "0"}, "to": {"S": "ann@example.com"},
        "from": {"S": ""}, "subject": {"S": "old"}, "status": {"S": "delivered"}, "opens": {"N": "0"},
        "clicks": {"N": "0"}, "accepted_at": {"N": now}, "last_event_at": {"N": now},
        "events": {"L": [{"S": "delivered"}]}, "seen": {"L": [{"N": "7"}]},
    });
    for item in [pointer, row] {
        let put = json!({"TableName": TABLE, "Item": item}).to_string();
        let answer = table.scale.call("PutItem", put.as_bytes()).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

#[tokio::test]
async fn search_rows_of_release_0_1_are_found_changed_and_erased_where_they_lie() {
    let table = TestTable::new().await;
    let (store, account) = (&table.store, &table.account);
    let (old, new) = (
        MessageId::from_bytes([1; 16]),
        MessageId::from_bytes([2; 16]),
    );
    for message in [&old, &new] {
        table.searchable(message, 9 * DAY).await;
    }
    old_rows(&table, &old).await;
    let mut open = posthaste_model::Event::new(
        "open".to_owned(),
        account.clone(),
        posthaste_model::EventKind::Open,
        NOW,
        "ann@example.com".to_owned(),
    );
    open.message = Some(old.clone());
    for written in [1, 0] {
        let open = [open.clone()];
        let indexed = store.index(account, &open, 9 * DAY).await;
        assert_eq!(indexed.unwrap(), written);
    }
    assert_eq!(table.scale.rows("SEEK").len(), 4);
    let all = store.seek(account, None, None, 10).await.unwrap();
    let to = store.seek_to((account, "ann@example.com"), None, None, 10);
    let one = store.seek_message((account, &old, Some(0)), None, 10);
    for found in [&all, &to.await.unwrap()] {
        let opens: Vec<_> = found
            .rows
            .iter()
            .map(|row| (&row.message, row.opens))
            .collect();
        assert_eq!(opens, [(&old, 1), (&new, 0)]);
    }
    assert_eq!(one.await.unwrap().rows[0].subject, "old");
    let copies = store.unindex(account, "ann@example.com").await.unwrap();
    assert_eq!(copies, [(old, 0), (new, 0)]);
    assert!(table.scale.rows("SEEK").is_empty());
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
