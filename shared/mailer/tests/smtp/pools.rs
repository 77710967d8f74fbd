//! Connections: reused, shared, replaced and closed.

use std::sync::Arc;
use std::time::Duration;

use posthaste_testkit::relay::{At, Does, Relay, Script};

use crate::{SOON, config, hand_over, mailer, outcome, to_relay};

#[tokio::test]
async fn one_connection_carries_mail_after_mail_even_after_refusals() {
    let script = Script::new()
        .on_recipient(At::RcptTo, "bad@example.com", Does::say("550 5.1.1 no"))
        .on_recipient(At::Message, "spam@example.com", Does::say("554 5.7.1 no"));
    let relay = Relay::start(script).await;
    let mailer = to_relay(&relay);
    for (to, want) in [
        ("ann@example.com", "accepted 250"),
        ("bad@example.com", "bounced 550 at rcpt"),
        ("bob@example.com", "accepted 250"),
        ("spam@example.com", "bounced 554 at data"),
        ("bad@example.com", "bounced 550 at rcpt"),
        ("bad@example.com", "bounced 550 at rcpt"),
        ("cem@example.com", "accepted 250"),
    ] {
        assert_eq!(outcome(&hand_over(&mailer, to).await), want, "{to}");
    }
    assert_eq!(relay.connections(), 1);
    let to: Vec<_> = relay
        .received()
        .into_iter()
        .map(|mail| mail.envelope.to)
        .collect();
    assert_eq!(
        to,
        [
            ["ann@example.com"],
            ["bob@example.com"],
            ["cem@example.com"]
        ]
    );
}

#[tokio::test]
async fn there_are_never_more_connections_than_allowed() {
    let relay = Relay::start(Script::new()).await;
    let mut narrow = config(&relay.url());
    narrow.max_connections = 2;
    let mailer = Arc::new(mailer(narrow));
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..40 {
        let mailer = Arc::clone(&mailer);
        tasks
            .spawn(async move { outcome(&hand_over(&mailer, &format!("a{n}@example.com")).await) });
    }
    let outcomes = tasks.join_all().await;
    assert!(
        outcomes.iter().all(|outcome| outcome == "accepted 250"),
        "{outcomes:?}"
    );
    assert_eq!(relay.received_at_least(40, SOON).await.len(), 40);
    assert!(relay.connections() <= 2, "{}", relay.connections());
}

#[tokio::test]
async fn a_connection_the_relay_has_left_is_replaced_without_an_attempt() {
    for goodbye in [Does::HangUp, Does::say("421 4.4.2 idle too long")] {
        let relay = Relay::start(Script::new()).await;
        let mailer = to_relay(&relay);
        assert_eq!(
            outcome(&hand_over(&mailer, "ann@example.com").await),
            "accepted 250"
        );
        relay.follow(Script::new().on(At::MailFrom, goodbye).times(1));
        assert_eq!(
            outcome(&hand_over(&mailer, "bob@example.com").await),
            "accepted 250"
        );
        assert_eq!((relay.received().len(), relay.connections()), (2, 2));
    }
}

#[tokio::test]
async fn a_relay_that_leaves_after_hearing_of_the_mail_has_had_its_attempt() {
    for at in [At::RcptTo, At::Data, At::Message] {
        let relay = Relay::start(Script::new()).await;
        let mailer = to_relay(&relay);
        assert_eq!(
            outcome(&hand_over(&mailer, "ann@example.com").await),
            "accepted 250"
        );
        relay.follow(Script::new().on(at, Does::HangUp).times(1));
        let attempt = hand_over(&mailer, "bob@example.com").await;
        assert_eq!(
            outcome(&attempt),
            "deferred by an error at this mail",
            "{at:?}"
        );
        assert_eq!(relay.connections(), 1, "{at:?}");
    }
}

#[tokio::test]
async fn connections_wear_out_rest_too_long_and_are_closed() {
    let relay = Relay::start(Script::new()).await;
    let mut short = config(&relay.url());
    short.mails_per_connection = 2;
    let worn = mailer(short.clone());
    for _ in 0..5 {
        assert_eq!(
            outcome(&hand_over(&worn, "ann@example.com").await),
            "accepted 250"
        );
    }
    assert_eq!(relay.connections(), 3);
    short.idle = Duration::ZERO;
    let tired = mailer(short);
    for _ in 0..2 {
        assert_eq!(
            outcome(&hand_over(&tired, "ann@example.com").await),
            "accepted 250"
        );
    }
    assert_eq!(relay.connections(), 5);
    let closed = to_relay(&relay);
    for _ in 0..2 {
        assert_eq!(
            outcome(&hand_over(&closed, "ann@example.com").await),
            "accepted 250"
        );
        closed.close().await;
    }
    assert_eq!(relay.connections(), 7);
}

#[tokio::test]
async fn a_hand_over_given_up_half_way_does_not_spoil_the_next() {
    let relay = Relay::start(Script::new().on(At::Message, Does::Hang)).await;
    let mailer = to_relay(&relay);
    let patience = Duration::from_millis(200);
    let given_up = tokio::time::timeout(patience, hand_over(&mailer, "ann@example.com")).await;
    assert!(given_up.is_err());
    relay.follow(Script::new());
    assert_eq!(
        outcome(&hand_over(&mailer, "bob@example.com").await),
        "accepted 250"
    );
    assert_eq!((relay.received().len(), relay.connections()), (1, 2));
}
