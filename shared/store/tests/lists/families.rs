//! Every family of rows whose texts come from others, built at the limits of what is taken: what it
//! weighs is what the crate's documentation says.

use std::collections::BTreeMap;

use posthaste_model::{
    AccountId, BounceType, Category, Event, EventKind, MessageId, Timestamp, WebhookId,
};
use posthaste_store::{
    AccountSettings, AttemptOutcome, Claim, Claimant, CopyState, DeadLetter, Described,
    FeedbackOutcome, FeedbackUpdate, LostMail, Store, StoreError, Tally, Visit, VisitKind,
    WebhookPost, largest,
};
use posthaste_testkit::{Scale, Tenant, entropy};

use crate::NOW;

/// The longest address that was ever accepted: 320 characters, 900 octets.
fn address() -> String {
    let local = format!("{}{}", "\u{10348}".repeat(130), "\u{23a}".repeat(170));
    format!("{local}@example.com")
}

/// As long as what another server may say, and longer than what is stored of it.
fn said() -> Option<String> {
    Some("\"\u{10348}".repeat(100_000))
}

struct Mail {
    account: AccountId,
    message: MessageId,
}

impl Mail {
    fn new() -> Self {
        Self {
            account: entropy().account_id(),
            message: entropy().message_id(),
        }
    }

    fn copy(&self) -> (&AccountId, &MessageId, u32) {
        (&self.account, &self.message, 7)
    }

    /// With all that a sender may add, in the letters that take most as JSON.
    fn event(&self, kind: EventKind, id: &str, at: i64) -> Event {
        let mut event = Event::new(
            id.to_owned(),
            self.account.clone(),
            kind,
            Timestamp(at),
            address(),
        );
        event.message = Some(self.message.clone());
        event.recipient = 7;
        event.smtp_id = Some("m".repeat(250));
        let args = (0..2_500).map(|n| (format!("\u{1}{n:03}"), String::new()));
        event.custom_args = args.collect();
        let categories = (0..10).map(|n| format!("{n}{}", "\u{1}".repeat(254)));
        event.category = Some(Category::Many(categories.collect()));
        event.reason = said();
        event.response = said();
        event
    }

    async fn sent(&self, store: &Store) {
        let who = Claimant {
            owner: "test",
            single_process: true,
            now: NOW,
            lease: 60,
            retention: 86_400,
        };
        let email = address();
        let what = Described {
            email: &email,
            from: &email,
            subject: &"\u{10348}".repeat(300_000),
            accepted_at: NOW,
        };
        let claim = store.claim(self.copy(), 0, who, &what).await;
        assert_eq!(claim.unwrap(), Claim::Won);
        let id = Event::derived_id(&self.message, 7, EventKind::Processed, 0);
        let outcome = AttemptOutcome {
            state: CopyState::Handed,
            now: NOW,
            events: &[self.event(EventKind::Processed, &id, 1)],
        };
        assert!(store.record(self.copy(), 0, &outcome).await.unwrap());
    }

    /// Whether the row took it.
    async fn hears(&self, store: &Store, event: Event, state: Option<CopyState>) -> bool {
        let news = |_: &posthaste_store::Recipient| {
            let event = Some(event.clone());
            Some(FeedbackUpdate { event, state })
        };
        let heard = store.record_feedback(self.copy(), NOW, news).await.unwrap();
        matches!(heard, FeedbackOutcome::New(_))
    }
}

#[tokio::test]
async fn a_copy_with_everything_that_others_can_add_to_it() {
    let (scale, store) = Scale::table().await;
    let mail = Mail::new();
    mail.sent(&store).await;
    for n in 0..300 {
        let id = format!("deferred-fb{n}-{}-7", mail.message);
        assert!(
            mail.hears(&store, mail.event(EventKind::Deferred, &id, n), None)
                .await
        );
    }
    let full = scale.heaviest("M#");
    for (kind, state) in [
        (EventKind::Delivered, Some(CopyState::Delivered)),
        (EventKind::Bounce, Some(CopyState::Bounced)),
        (EventKind::SpamReport, None),
        (EventKind::Unsubscribe, None),
    ] {
        let id = format!("{}-fb-{}-7", kind.wire(), mail.message);
        assert!(mail.hears(&store, mail.event(kind, &id, 400), state).await);
    }
    for kind in [VisitKind::Open, VisitKind::Click] {
        for n in 0..400 {
            let visit = Visit {
                at: Timestamp(n),
                id: format!("{n:0100}"),
                url: Some("\"".repeat(10_000)),
                agent: Some("\"".repeat(10_000)),
            };
            let noted = store.note_visits(mail.copy(), kind, &[visit]).await;
            assert_eq!(noted.unwrap(), n < 100);
        }
    }
    let row = scale.heaviest("M#");
    assert!(row.bytes <= largest::COPY, "{full:?} {row:?}");
    let row = store.recipient(&mail.account, &mail.message, 7).await;
    let row = row.unwrap().unwrap();
    assert_eq!((row.deferrals(), row.state), (300, CopyState::Bounced));
    let events = row.events();
    let mut deferred = events.iter().filter(|e| e.kind == EventKind::Deferred);
    let last = deferred.next_back().unwrap();
    assert_eq!(last.at, Timestamp(299));
    assert_eq!(events.last().unwrap().custom_args.len(), 2_500);

    let events = [mail.event(EventKind::Open, "o", 5)];
    assert_eq!(
        store.index(&mail.account, &events, 86_400).await.unwrap(),
        2
    );
    assert!(scale.heaviest("SEEK").bytes <= largest::SEARCHED);
}

#[tokio::test]
async fn an_address_on_every_list_with_the_longest_reasons() {
    let (scale, store) = Scale::table().await;
    let mail = Mail::new();
    for (n, kind, bounce, status) in [
        (1, EventKind::Bounce, Some(BounceType::Bounce), "5.1.1"),
        (2, EventKind::Bounce, Some(BounceType::Bounce), "5.1.2"),
        (3, EventKind::Bounce, Some(BounceType::Blocked), "5.7.1"),
        (4, EventKind::SpamReport, None, ""),
        (5, EventKind::Unsubscribe, None, ""),
    ] {
        let mut event = mail.event(kind, "x", n);
        event.bounce_type = bounce;
        event.status = Some(status.to_owned());
        store.apply_suppressions(&[event]).await.unwrap();
    }
    for group in 0..200 {
        let mut event = mail.event(EventKind::GroupUnsubscribe, "x", group);
        event.asm_group_id = Some(group);
        event.reason = None;
        store.apply_suppressions(&[event]).await.unwrap();
    }
    assert!(scale.heaviest("SUP").bytes <= largest::SUPPRESSED);
    let listed = scale.rows("SUPS#").len();
    assert_eq!(listed, 205);
}

#[tokio::test]
async fn counters_of_the_longest_category() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let day = "2026-11-29".to_owned();
    // Two that differ in their last letter only.
    let categories = ["a", "b"].map(|end| format!("{}{end}", "\u{10348}".repeat(254)));
    let mut tally = Tally::default();
    for category in &categories {
        let counters = BTreeMap::from([("delivered", 1)]);
        tally
            .counters
            .insert((day.clone(), category.clone()), counters);
    }
    store
        .count_batch(&account, "batch", &tally, NOW)
        .await
        .unwrap();
    let stats = store.day_stats(&account, &day, &day).await.unwrap();
    let found: Vec<&str> = stats.iter().map(|row| row.category.as_str()).collect();
    assert_eq!(found, categories);
    assert!(scale.heaviest("STATS#").bytes <= largest::COUNTED);
}

#[tokio::test]
async fn letters_and_mails_that_were_not_taken() {
    let (scale, store) = Scale::table().await;
    let account = entropy().account_id();
    let letter = DeadLetter {
        account: account.clone(),
        webhook: WebhookId::from_bytes([1; 16]),
        first: NOW,
        last: NOW,
        events: 1,
        died_at: NOW,
        attempts: 9,
        reason: said().unwrap(),
        message: "m".repeat(256 * 1024),
    };
    store.put_dead_letter(&letter, NOW.plus(60)).await.unwrap();
    let post = WebhookPost {
        account: account.clone(),
        webhook: WebhookId::from_bytes([1; 16]),
        at: NOW,
        attempt: 9,
        url: "u".repeat(2_048 * 3),
        accepted: false,
        status: Some(503),
        answer: said().unwrap(),
        took_ms: Some(10_000),
        signature: Some("s".repeat(200)),
        message: "m".repeat(256 * 1024),
    };
    store.put_post(&post).await.unwrap();
    let lost = LostMail {
        account: account.clone(),
        id: "i".repeat(64),
        hostname: "h".repeat(253),
        received: NOW,
        died_at: NOW,
        attempts: 9,
        reason: said().unwrap(),
        job: "j".repeat(256 * 1024),
    };
    store.lose_mail(&lost, NOW.plus(60)).await.unwrap();
    for family in ["DEAD#", "POSTS#", "LOST#"] {
        assert!(scale.heaviest(family).bytes <= largest::CARRIER, "{family}");
    }
}

#[tokio::test]
async fn settings_of_an_account_that_fills_them_all() {
    let (scale, store) = Scale::table().await;
    let account = Tenant::new(&store, "ann", NOW).await.account;
    let fill = |all: &mut AccountSettings| {
        let text = |bytes| "\u{1}".repeat(bytes);
        all.landing.html = text(50_000);
        all.landing.url = text(1_000);
        all.whitelist.list = (0..500).map(|n| format!("{n:03}{}", text(97))).collect();
        all.defaults.wrapper.html = text(100_000);
        all.defaults.footer.html = Some(text(20_000));
        all.defaults.footer.text = Some(text(20_000));
        all.defaults.subscription.html = Some(text(20_000));
        all.defaults.subscription.text = Some(text(20_000));
        Ok::<_, StoreError>(())
    };
    let changed = store.change_settings(&account.id, fill).await;
    assert!(changed.unwrap().is_some());
    let prefix = format!("A#{}", account.id);
    assert!(scale.heaviest(&prefix).bytes <= largest::SETTINGS);
}
