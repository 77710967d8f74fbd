//! Rows of a fixed form: each holds keys, numbers and at most one text of bounded size, and stays below what the
//! crate's documentation says. Rows that list a bounded number of things are built full.

use std::collections::BTreeMap;
use std::net::IpAddr;

use posthaste_model::batch::{BatchStatus, Hold, PartFate};
use posthaste_model::{
    AccountId, BatchId, Clock, EmailAddress, MessageId, TIMESTAMP_MAX, Timestamp,
};
use posthaste_store::{
    AccessRecord, Account, Acquire, Allow, Allowance, ArrivalStage, Arriving, AuditEntry,
    ChangedBy, Counted, Frequency, Group, GroupSaved, HoldError, IdempotentRequest, MoveError, Put,
    REMEMBERED, RateWindow, ScheduledMail, SenderLink, SystemMail, Tally, largest,
};
use posthaste_testkit::{Scale, Tenant, entropy};

use crate::NOW;

/// An address as long as a form of the API takes one, in letters of four bytes.
fn address(n: usize) -> EmailAddress {
    let local = format!("{n:03}{}", "\u{10348}".repeat(15));
    EmailAddress::parse(&format!("{local}@{}.example.com", "d".repeat(63))).unwrap()
}

fn hours(n: i64) -> Timestamp {
    NOW.plus(n * 3_600)
}

fn at_second(at: Timestamp) -> Clock {
    Clock::new(move || at.millis())
}

#[tokio::test]
async fn an_account_with_a_thousand_sending_addresses() {
    let (scale, store) = Scale::table().await;
    let parent = Tenant::new(&store, "parent", NOW).await;
    let mut account = Account::new(entropy().account_id(), &"u".repeat(64), NOW);
    account.parent = Some(parent.account.id);
    account.email = address(1).as_str().to_owned();
    assert!(store.create_account(&account).await.unwrap());
    let assign = |account: &mut Account| {
        account.ips = vec!["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff".to_owned(); 1_000];
    };
    assert!(
        store
            .update_account(&account.id, assign)
            .await
            .unwrap()
            .is_some()
    );
    let row = scale.heaviest(&format!("A#{}", account.id));
    assert!((30_000..=largest::ACCOUNT).contains(&row.bytes), "{row:?}");
}

#[tokio::test]
async fn an_account_holds_a_hundred_batches_and_no_more() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let hold = Hold {
        status: BatchStatus::Cancel,
        since: NOW,
    };
    for n in 0..=100 {
        let batch = entropy().batch_id();
        assert_eq!(
            store.create_batch(&account, &batch, NOW).await.unwrap(),
            Put::Stored
        );
        let held = store.hold_batch(&account, &batch, hold, 259_200).await;
        let full = Err(HoldError::Full);
        assert_eq!(held, if n < 100 { Ok(()) } else { full });
    }
    let row = scale.heaviest("A#");
    assert_eq!(row.sk, "HOLDS");
    assert!((5_000..=largest::HOLDS).contains(&row.bytes), "{row:?}");
}

/// A mail of a batch that waits, with a job of the largest size.
struct Waiting {
    account: AccountId,
    message: MessageId,
    batch: BatchId,
    job: String,
}

impl Waiting {
    fn new() -> Self {
        Self {
            account: entropy().account_id(),
            message: entropy().message_id(),
            batch: entropy().batch_id(),
            job: "j".repeat(256 * 1024),
        }
    }

    fn mail(&self, at: Timestamp) -> ScheduledMail<'_> {
        ScheduledMail {
            account: &self.account,
            message: &self.message,
            first: 9_999,
            recipients: 10_000,
            accepted: Timestamp(0),
            at,
            batch: Some(&self.batch),
            job: &self.job,
        }
    }
}

#[tokio::test]
async fn a_scheduled_mail_is_moved_fifty_times_and_no_more() {
    let (scale, store) = Scale::table().await;
    let (waiting, clock) = (Waiting::new(), at_second(NOW));
    let near = store.schedule(&[waiting.mail(hours(1))], &clock).await;
    assert_eq!(near.unwrap(), []);
    let pieces = store.pieces(&waiting.account, &waiting.message).await;
    let mut piece = pieces.unwrap().remove(0).value;
    for n in 2..60 {
        match store.move_piece(&waiting.account, &piece, hours(n)).await {
            Ok(moved) => piece = moved,
            Err(error) => {
                assert_eq!(error, MoveError::TooOften);
                break;
            }
        }
    }
    assert_eq!(piece.was.len(), 50);
    for family in ["M#", "B#"] {
        assert!(scale.heaviest(family).bytes <= largest::SMALL, "{family}");
    }
    for family in ["DUE#", "DUES#"] {
        assert!(scale.heaviest(family).bytes <= largest::CARRIER, "{family}");
    }
}

#[tokio::test]
async fn a_held_message_of_the_largest_size() {
    let (scale, store) = Scale::table().await;
    let waiting = Waiting::new();
    let (account, batch) = (&waiting.account, &waiting.batch);
    let at = hours(1);
    let scheduled = store.schedule(&[waiting.mail(at)], &at_second(NOW)).await;
    assert_eq!(scheduled.unwrap(), []);
    assert_eq!(
        store.create_batch(account, batch, NOW).await.unwrap(),
        Put::Stored
    );
    let hold = Hold {
        status: BatchStatus::Pause,
        since: NOW,
    };
    let held = store.hold_batch(account, batch, hold, 259_200).await;
    assert_eq!(held, Ok(()));
    let fate = store
        .begin_delivery(&waiting.mail(at), &at_second(at))
        .await;
    assert_eq!(fate.unwrap(), PartFate::Hold);
    let row = scale.heaviest("HELD#");
    assert!(
        (256 * 1024..=largest::CARRIER).contains(&row.bytes),
        "{}",
        row.bytes
    );
}

#[tokio::test]
async fn addresses_to_forward_to_and_the_mails_that_ask_them() {
    let (scale, store) = Scale::table().await;
    let tenant = Tenant::new(&store, "ann", NOW).await;
    let line = [tenant.account.id.clone()];
    for n in 0..6 {
        let to = address(n);
        let mail = SystemMail {
            accounts: &line,
            to: &to,
            about: &"a".repeat(2_000),
            resend: false,
        };
        let counted = store.count_system_mail(&mail, NOW).await.unwrap();
        assert_eq!(matches!(counted, Counted::Limited { .. }), n == 5, "{n}");
        let link = SenderLink::new(&"t".repeat(64), hours(72));
        store
            .ask_to_forward(&line[0], &to, &link, NOW)
            .await
            .unwrap();
    }
    for family in ["SYSTEMMAILS", "LINK#"] {
        assert!(scale.heaviest(family).bytes <= largest::SMALL, "{family}");
    }
    let rows = scale.rows(&format!("A#{}", line[0])).into_iter();
    let of_forwarding =
        rows.filter(|row| row.sk.starts_with("FORWARD#") || row.sk == "SYSTEMMAILS");
    let bytes: BTreeMap<String, usize> = of_forwarding.map(|row| (row.sk, row.bytes)).collect();
    assert_eq!(bytes.len(), 7, "six addresses, one counter: {bytes:?}");
    assert!(
        bytes.values().all(|bytes| *bytes <= largest::SMALL),
        "{bytes:?}"
    );
}

#[tokio::test]
async fn a_group_with_the_longest_name_and_description() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let texts = ["\u{10348}".repeat(30), "\u{10348}".repeat(100)];
    let saved = store
        .create_group(&account, (&texts[0], &texts[1]), true)
        .await;
    let GroupSaved::Done(group) = saved.unwrap() else {
        panic!("a first group is created");
    };
    store
        .note_group_mailed(&account, group.id, NOW)
        .await
        .unwrap();
    let saved: Option<Group> = store.group(&account, group.id).await.unwrap();
    assert!(saved.is_some_and(|group| group.mailed_at.is_some()));
    assert_eq!(
        scale.rows("A#").len(),
        5,
        "the group, its name, the default, two counters"
    );
    assert!(scale.heaviest("").bytes <= largest::SMALL);
}

#[tokio::test]
async fn what_is_stored_of_a_request() {
    let (scale, store) = Scale::table().await;
    let tenant = Tenant::new(&store, "ann", NOW).await;
    let account = &tenant.account.id;
    let ip: IpAddr = "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff".parse().unwrap();
    let seen = AccessRecord {
        ip,
        auth_method: "bearer",
        allowed: false,
        at: TIMESTAMP_MAX,
    };
    store.record_attempt(account, seen).await.unwrap();
    let entry = AuditEntry {
        at: TIMESTAMP_MAX.millis(),
        method: "DELETE".to_owned(),
        path: "p".repeat(1_024),
        status: 204,
        created: Some("c".repeat(1_024)),
        by: ChangedBy::ApiKey,
        name: "\u{10348}".repeat(255),
        key: Some("k".repeat(22)),
        acting_account: Some(account.to_string()),
        ip: Some(ip),
    };
    let request = "r".repeat(64);
    let written = store.record_change(account, &request, &entry, hours(1));
    written.await.unwrap();
    let window = RateWindow {
        account,
        // Method and path template: the longest of the API is shorter.
        endpoint: &"e".repeat(200),
        number: i64::from(u32::MAX),
        end: hours(1),
    };
    store.lease(window, u32::MAX).await.unwrap();
    let allowance = Allowance {
        frequency: Some(Frequency::Monthly),
        total: u32::MAX,
    };
    assert!(
        store
            .set_credits(account, Some(allowance), NOW)
            .await
            .unwrap()
    );
    let nets = [format!("{ip}/128").parse().unwrap()];
    let allowed = store.allow_ips(account, &nets, NOW).await.unwrap();
    assert!(matches!(allowed, Allow::Added(_)));
    let request = IdempotentRequest {
        account,
        key: &"k".repeat(255),
        body: &vec![b' '; 1 << 20],
        remembered: REMEMBERED,
    };
    let message = entropy().message_id();
    let taken = store.begin(request, &message, NOW).await.unwrap();
    assert!(matches!(taken, Acquire::Acquired(_)));
    store.set_first_account(account).await.unwrap();
    store
        .mark_erased(account, address(1).as_str(), NOW)
        .await
        .unwrap();
    for family in ["SEEN#", "AUDIT#", "RATE#", "A#", "ONCE#", "HOST"] {
        assert!(scale.heaviest(family).bytes <= largest::SMALL, "{family}");
    }
}

#[tokio::test]
async fn what_is_stored_of_a_received_mail_and_of_a_batch_that_counts() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    // The worker that receives names a mail by a hash.
    let content = "c".repeat(64);
    let id = store
        .arrival_id((&account, &content), &"i".repeat(64), (NOW, 600))
        .await;
    let id = id.unwrap();
    let begun = store
        .begin_arrival(
            (&account, &id, 1),
            (NOW, 60),
            hours(1),
            Some(&"p".repeat(64)),
        )
        .await;
    assert!(matches!(begun.unwrap(), Arriving::Go { first: true }));
    store
        .end_arrival((&account, &id, 1), ArrivalStage::Waiting, hours(1))
        .await
        .unwrap();
    let blob = format!("inbound/{}/{}", account, "b".repeat(64));
    store.hold_raw(&blob, &[id], hours(1)).await.unwrap();
    let mut tally = Tally::default();
    let bounced = (
        "2026-11-29".to_owned(),
        "Mailbox Unavailable".to_owned(),
        "d".repeat(253),
    );
    tally.bounces.insert(bounced, i64::MAX);
    store
        .count_batch(&account, &"b".repeat(64), &tally, NOW)
        .await
        .unwrap();
    assert!(
        scale.heaviest("").bytes <= largest::SMALL,
        "{:?}",
        scale.heaviest("")
    );
}
