//! Which event adds to which counter of its day.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_dns::{Resolver, Zone};
use posthaste_model::{
    BounceType, Category, Event, EventKind, MessageId, RecordKind, Segmentation,
};
use posthaste_store::{DayStats, METRICS};
use posthaste_testkit::FaultProxy;

use webhook_fanout::MailboxHosts;

use crate::env::TestEnv;

impl TestEnv {
    /// The counters of the whole account (no category) or of a category, of all days.
    async fn days(&self, category: &str) -> Vec<DayStats> {
        let days = self.store.day_stats(&self.account, "0000", "9999").await;
        let days = days.unwrap().into_iter();
        days.filter(|day| day.category == category).collect()
    }

    pub(crate) async fn counted(&self, category: &str, metric: &str) -> i64 {
        let days = self.days(category).await;
        days.iter().map(|day| day.metric(metric)).sum()
    }

    /// The counters of a segmentation, of all days: `name metric`, and the count.
    async fn segments(&self, by: Segmentation) -> Vec<(String, i64)> {
        let mut sums = BTreeMap::new();
        for day in self.days("").await {
            for (code, metric, count) in day.segments(by) {
                let all = by.segments();
                let segment = all.iter().find(|segment| segment.code == code).unwrap();
                *sums
                    .entry(format!("{} {metric}", segment.name))
                    .or_default() += count;
            }
        }
        sums.into_iter().collect()
    }

    /// The counters that stand at one, in their order; no other may stand above nothing.
    async fn ones(&self) -> Vec<&'static str> {
        let mut ones = Vec::new();
        for metric in METRICS {
            match self.counted("", metric).await {
                0 => {}
                1 => ones.push(metric),
                more => panic!("{metric} is {more}"),
            }
        }
        ones
    }

    fn visited(&self, kind: EventKind, message: &MessageId, id: &str) -> Event {
        let mut event = self.event(kind);
        event.id = id.to_owned();
        event.message = Some(message.clone());
        event
    }
}

/// Kind, bounce type and reason of an event, and what it adds to.
type Adding = (
    EventKind,
    Option<BounceType>,
    Option<&'static str>,
    Vec<&'static str>,
);

fn adding() -> Vec<Adding> {
    let drops = [
        ("Bounced Address", vec!["bounce_drops", "requests"]),
        (
            "Spam Reporting Address",
            vec!["requests", "spam_report_drops"],
        ),
        (
            "Unsubscribed Address",
            vec!["requests", "unsubscribe_drops"],
        ),
        ("Invalid", vec!["invalid_emails", "requests"]),
        ("Spam Content", vec!["requests"]),
    ];
    let drops = drops.map(|(reason, adds)| (EventKind::Dropped, None, Some(reason), adds));
    let bounces = [
        (None, "bounces"),
        (Some(BounceType::Bounce), "bounces"),
        (Some(BounceType::Blocked), "blocks"),
        (Some(BounceType::Expired), "blocks"),
    ];
    let bounces = bounces.map(|(kind, adds)| (EventKind::Bounce, kind, None, vec![adds]));
    let others = [
        (EventKind::Processed, vec!["processed", "requests"]),
        (EventKind::Delivered, vec!["delivered"]),
        (EventKind::Deferred, vec!["deferred"]),
        (EventKind::Dropped, vec!["requests"]),
        (EventKind::Open, vec!["opens", "unique_opens"]),
        (EventKind::Click, vec!["clicks", "unique_clicks"]),
        (EventKind::SpamReport, vec!["spam_reports"]),
        (EventKind::Unsubscribe, vec!["unsubscribes"]),
        (EventKind::GroupUnsubscribe, vec!["unsubscribes"]),
        (EventKind::GroupResubscribe, vec![]),
        (EventKind::AccountStatusChange, vec![]),
    ];
    let others = others.map(|(kind, adds)| (kind, None, None, adds));
    others.into_iter().chain(bounces).chain(drops).collect()
}

#[tokio::test]
async fn each_event_adds_to_its_counters() {
    for (kind, bounce_type, reason, want) in adding() {
        let env = TestEnv::open().await;
        let mut event = env.event(kind);
        event.bounce_type = bounce_type;
        event.reason = reason.map(str::to_owned);
        env.send_events(std::slice::from_ref(&event)).await;
        assert_eq!(
            env.ones().await,
            want,
            "{kind:?} {bounce_type:?} {reason:?}"
        );
    }
}

#[tokio::test]
async fn a_copy_is_one_request_however_it_ends() {
    let env = TestEnv::open().await;
    let processed = env.event(EventKind::Processed);
    let dropped = |id: String| {
        let mut event = processed.clone();
        event.kind = EventKind::Dropped;
        event.id = id;
        event
    };
    let message = processed.message.clone().unwrap();
    // By SES, and by us at the second attempt.
    let by_ses = dropped(format!("dropped-fb-{message}-0"));
    let later = dropped(Event::derived_id(&message, 0, EventKind::Dropped, 1));
    env.send_events(&[processed.clone(), by_ses]).await;
    env.send_events(&[later]).await;
    assert_eq!(env.counted("", "requests").await, 1);

    let at_once = env.event(EventKind::Dropped);
    env.send_events(&[at_once]).await;
    assert_eq!(env.counted("", "requests").await, 2);
}

#[tokio::test]
async fn every_category_and_the_day_of_the_event_count_and_a_batch_counts_once() {
    let env = TestEnv::open().await;
    let mut many = env.event(EventKind::Delivered);
    many.category = Some(Category::Many(vec!["news".into(), "sale".into()]));
    let mut one = env.event(EventKind::Delivered);
    one.category = Some(Category::One("news".into()));
    one.at = env.hand.now().plus(-86_400);
    let batch = [many, one, env.event(EventKind::Delivered)];

    env.send_events(&batch).await;
    let backwards: Vec<_> = batch.iter().rev().cloned().collect();
    env.send_events(&backwards).await;

    for (category, want) in [("", 3), ("news", 2), ("sale", 1), ("other", 0)] {
        let counted = env.counted(category, "delivered").await;
        assert_eq!(counted, want, "{category}");
    }
    let days: Vec<_> = env
        .days("news")
        .await
        .into_iter()
        .map(|day| day.day)
        .collect();
    let today = env.hand.now().day();
    let yesterday = env.hand.now().plus(-86_400).day();
    assert_eq!(days, [yesterday, today]);
}

#[tokio::test]
async fn the_first_visit_of_a_copy_is_unique_in_whatever_company_it_comes() {
    let env = TestEnv::open().await;
    let [ann, bob] = [(); 2].map(|()| MessageId::from_bytes(env.entropy.bytes()));
    let opens = ["o1", "o2", "o3"].map(|id| env.visited(EventKind::Open, &ann, id));
    let others = [
        env.visited(EventKind::Click, &ann, "c1"),
        env.visited(EventKind::Open, &bob, "o4"),
    ];
    env.send_events(&[opens[1].clone(), opens[0].clone()]).await;
    env.send_events(&opens[2..]).await;
    env.send_events(&others).await;
    assert_eq!(env.counted("", "opens").await, 4);
    assert_eq!(env.counted("", "unique_opens").await, 2);
    assert_eq!(env.counted("", "unique_clicks").await, 1);
}

#[tokio::test]
async fn a_first_visit_that_could_not_be_counted_is_still_unique() {
    let meddler = FaultProxy::default();
    let env = TestEnv::over(meddler.table().await);
    let message = MessageId::from_bytes(env.entropy.bytes());
    let [first, second] = ["o1", "o2"].map(|id| env.visited(EventKind::Open, &message, id));
    meddler.deny("TransactWriteItems", 1);
    env.send_events(std::slice::from_ref(&second)).await;
    let put_off = env.queues.drain("retries").remove(0).0;
    env.send_events(&[first]).await;
    assert_eq!(env.counted("", "unique_opens").await, 0);
    env.work(vec![put_off]).await;
    assert_eq!(env.counted("", "unique_opens").await, 1);
}

#[tokio::test]
async fn many_visits_of_one_copy_are_one_look_and_one_write() {
    let meddler = FaultProxy::default();
    let env = TestEnv::over(meddler.table().await);
    let message = MessageId::from_bytes(env.entropy.bytes());
    let visits: Vec<_> = (0..50)
        .map(|n| env.visited(EventKind::Open, &message, &format!("o{n}")))
        .collect();
    let before = ["PutItem", "GetItem", "UpdateItem"].map(|name| meddler.calls(name));

    env.send_events(&visits).await;

    let after = ["PutItem", "GetItem", "UpdateItem"].map(|name| meddler.calls(name));
    let calls = [0, 1, 2].map(|n| after[n] - before[n]);
    assert_eq!(calls, [1, 0, 1]);
}

fn ones(names: &[&str]) -> Vec<(String, i64)> {
    names.iter().map(|name| ((*name).to_owned(), 1)).collect()
}

#[tokio::test]
async fn the_provider_of_a_recipient_counts_what_becomes_of_the_mail() {
    for (kind, reason, want) in [
        (
            EventKind::Processed,
            None,
            vec!["Gmail processed", "Gmail requests"],
        ),
        (EventKind::Delivered, None, vec!["Gmail delivered"]),
        (EventKind::Deferred, None, vec!["Gmail deferred"]),
        (EventKind::Bounce, None, vec!["Gmail bounces"]),
        (EventKind::SpamReport, None, vec!["Gmail spam_reports"]),
        (EventKind::Unsubscribe, None, vec![]),
        (
            EventKind::Open,
            None,
            vec!["Gmail opens", "Gmail unique_opens"],
        ),
        (
            EventKind::Click,
            None,
            vec!["Gmail clicks", "Gmail unique_clicks"],
        ),
        (
            EventKind::Dropped,
            Some("Invalid"),
            vec!["Gmail drops", "Gmail requests"],
        ),
        (
            EventKind::Dropped,
            Some("Bounced Address"),
            vec!["Gmail drops", "Gmail requests"],
        ),
        // Not because of a list.
        (
            EventKind::Dropped,
            Some("Spam Content"),
            vec!["Gmail requests"],
        ),
    ] {
        let env = TestEnv::open().await;
        let mut event = env.event(kind);
        event.email = "ann@googlemail.com".to_owned();
        event.reason = reason.map(str::to_owned);
        env.send_events(&[event]).await;
        let counted = env.segments(Segmentation::MailboxProvider).await;
        assert_eq!(counted, ones(&want), "{kind:?} {reason:?}");
    }
}

#[tokio::test]
async fn a_company_s_domain_counts_for_the_provider_of_its_exchanges() {
    let mut env = TestEnv::open().await;
    let zone = Arc::new(Zone::default());
    let publish = |domain, exchange| zone.publish(RecordKind::Mx, domain, &[exchange]);
    publish("works.example", "smtp.google.com.");
    publish("xn--bcher-kva.example", "mx.zoho.eu.");
    publish("own.example", "mx.own.example.");
    // A provider's own domain is not looked up.
    publish("gmail.com", "mx.zoho.eu.");
    zone.fail(RecordKind::Mx, "broken.example");
    let resolver = Resolver::Zone(zone.clone());
    env.app.mailbox_hosts = Arc::new(MailboxHosts::new(Some(resolver)));
    let mut number = 0;
    let mut events = |domains: &[&str]| -> Vec<Event> {
        let event = |domain: &&str| {
            number += 1;
            let mut event = env.event(EventKind::Delivered);
            event.id = format!("d{number}");
            event.email = format!("ann@{domain}");
            event
        };
        domains.iter().map(event).collect()
    };
    let first = events(&[
        "Works.example",
        "bücher.example",
        "own.example",
        "gmail.com",
        "broken.example",
        "nobody.example",
    ]);
    let second = events(&["works.example", "broken.example"]);
    let third = events(&["broken.example", "own.example"]);
    env.send_events(&first).await;
    let by = Segmentation::MailboxProvider;
    let delivered = |counts: &[(&str, i64)]| -> Vec<(String, i64)> {
        let named = counts.iter();
        named
            .map(|(name, count)| (format!("{name} delivered"), *count))
            .collect()
    };
    let want = delivered(&[("Gmail", 2), ("Other", 3), ("Zoho", 1)]);
    assert_eq!(env.segments(by).await, want);
    // What was answered holds for a day, a failure for ten minutes.
    publish("works.example", "mx.own.example.");
    publish("own.example", "in1-smtp.messagingengine.com.");
    publish("broken.example", "mail.protonmail.ch.");
    env.send_events(&second).await;
    let want = delivered(&[("Gmail", 3), ("Other", 4), ("Zoho", 1)]);
    assert_eq!(env.segments(by).await, want);
    env.hand.advance(86_400);
    env.send_events(&third).await;
    let want = delivered(&[
        ("Fastmail", 1),
        ("Gmail", 3),
        ("Other", 4),
        ("Proton", 1),
        ("Zoho", 1),
    ]);
    assert_eq!(env.segments(by).await, want);
}

#[tokio::test]
async fn an_open_counts_its_client_and_device_and_a_click_its_browser() {
    let env = TestEnv::open().await;
    let message = MessageId::from_bytes(env.entropy.bytes());
    let visit = |kind, id: &str, agent: &str| {
        let mut event = env.visited(kind, &message, id);
        event.useragent = Some(agent.to_owned());
        event
    };
    let gmail =
        "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
    env.send_events(&[
        visit(EventKind::Open, "o1", gmail),
        visit(EventKind::Click, "c1", firefox),
    ])
    .await;
    let of = async |by| env.segments(by).await;
    assert_eq!(
        of(Segmentation::Client).await,
        ones(&["Gmail opens", "Gmail unique_opens"])
    );
    assert_eq!(
        of(Segmentation::Device).await,
        ones(&["Webmail opens", "Webmail unique_opens"])
    );
    let browsers = ones(&["Firefox clicks", "Firefox unique_clicks"]);
    assert_eq!(of(Segmentation::Browser).await, browsers);
}

/// A stranger calls a link with another user agent each time.
#[tokio::test]
async fn whatever_user_agents_say_a_day_has_the_same_counters() {
    let faults = FaultProxy::default();
    let env = TestEnv::over(faults.table().await);
    let message = MessageId::from_bytes(env.entropy.bytes());
    let visits: Vec<_> = (0..200)
        .map(|n| {
            let mut event = env.visited(EventKind::Open, &message, &format!("o{n}"));
            event.useragent = Some(format!("Agent{n}/{n} (of a stranger)"));
            event
        })
        .collect();
    let before = faults.calls("TransactWriteItems");
    env.send_events(&visits).await;
    assert_eq!(faults.calls("TransactWriteItems") - before, 1);
    let counted = env.segments(Segmentation::Client).await;
    let want = [
        ("Other opens".to_owned(), 200),
        ("Other unique_opens".to_owned(), 1),
    ];
    assert_eq!(counted, want);
    assert_eq!(env.days("").await.len(), 1);
}
