//! What each refusal at each stage becomes, pipelined and not.

use posthaste_mailer::{Attempt, EnhancedStatus};
use posthaste_smtpd::Extensions;
use posthaste_testkit::relay::{At, Does, Relay, Script};

use crate::{config, hand_over, hasty, mailer, outcome, response, to_relay};

/// Runs each rule against a fresh relay, then checks that the next mail goes through.
async fn check(pipelining: bool, rules: &[(At, &str, &str)]) {
    for (at, line, want) in rules {
        let offers = Extensions {
            pipelining,
            ..Extensions::default()
        };
        let script = Script::new()
            .offering(offers)
            .wanting_login("ann", "x")
            .on(*at, Does::say(line));
        let relay = Relay::start(script).await;
        let mailer = mailer(config(&format!("smtp://ann:x@{}", relay.addr())));
        let attempt = hand_over(&mailer, "ann@example.com").await;
        assert_eq!(outcome(&attempt), *want, "{at:?} {line}");
        assert_eq!(response(&attempt), *line, "{at:?}");
        assert!(relay.received().is_empty());
        relay.follow(Script::new());
        let next = hand_over(&mailer, "bob@example.com").await;
        assert_eq!(outcome(&next), "accepted 250", "after {at:?} {line}");
        assert_eq!(relay.received()[0].envelope.to, ["bob@example.com"]);
        assert_eq!(relay.received()[0].user.as_deref(), Some("ann"));
    }
}

const RULES: [(At, &str, &str); 25] = [
    (
        At::Connect,
        "421 4.3.2 too busy",
        "deferred by a relay error",
    ),
    (
        At::Connect,
        "554 5.7.1 we do not know you",
        "deferred by a relay error",
    ),
    (At::Hello, "550 5.7.1 not you", "deferred by a relay error"),
    (At::Hello, "421 4.7.0 not now", "deferred by a relay error"),
    (At::Auth, "454 4.7.0 later", "deferred by a relay error"),
    (At::Auth, "535 5.7.8 wrong", "deferred by a relay error"),
    (
        At::MailFrom,
        "530 5.7.0 log in",
        "deferred by a relay error",
    ),
    (
        At::MailFrom,
        "550 5.7.1 sender refused",
        "deferred for its sender",
    ),
    (At::MailFrom, "451 4.3.0 later", "deferred by a relay error"),
    (
        At::MailFrom,
        "421 4.3.2 bye",
        "deferred by an error at this mail",
    ),
    (At::MailFrom, "552 5.3.4 too big", "bounced 552 at data"),
    (At::RcptTo, "450 4.2.1 busy", "deferred by the recipient"),
    (
        At::RcptTo,
        "421 4.3.2 bye",
        "deferred by an error at this mail",
    ),
    (At::RcptTo, "550 5.1.1 no such user", "bounced 550 at rcpt"),
    (At::RcptTo, "553 no", "bounced 553 at rcpt"),
    (
        At::RcptTo,
        "554 5.7.1 Relay access denied",
        "deferred for its sender",
    ),
    (At::RcptTo, "530 5.7.0 log in", "deferred by a relay error"),
    (At::Data, "451 4.3.0 later", "deferred by the recipient"),
    (At::Data, "554 5.6.0 no", "bounced 554 at data"),
    (
        At::Data,
        "421 4.3.2 bye",
        "deferred by an error at this mail",
    ),
    (
        At::Message,
        "451 4.7.1 greylisted",
        "deferred by the recipient",
    ),
    (
        At::Message,
        "452 4.3.1 disk full",
        "deferred by the recipient",
    ),
    (At::Message, "550 5.7.1 spam", "bounced 550 at data"),
    (At::Message, "554 no", "bounced 554 at data"),
    (
        At::Message,
        "421 4.3.2 bye",
        "deferred by an error at this mail",
    ),
];

#[tokio::test]
async fn refusals_in_a_pipelined_conversation() {
    check(true, &RULES).await;
}

#[tokio::test]
async fn refusals_one_by_one() {
    check(false, &RULES).await;
}

#[tokio::test]
async fn a_bounce_carries_all_that_is_known() {
    let script = Script::new().on(At::RcptTo, Does::say("550 5.1.1 no such user"));
    let relay = Relay::start(script).await;
    let attempt = hand_over(&to_relay(&relay), "ann@example.com").await;
    let Attempt::Bounced {
        status, ip, tls, ..
    } = attempt
    else {
        panic!("{attempt:?}")
    };
    assert_eq!(
        (status, ip.as_deref(), tls),
        (Some(EnhancedStatus::new(5, 1, 1)), Some("127.0.0.1"), false)
    );
}

#[tokio::test]
async fn a_relay_that_hangs_or_hangs_up_is_our_trouble() {
    let mut cases = tokio::task::JoinSet::new();
    for pipelining in [true, false] {
        for at in [
            At::Connect,
            At::Hello,
            At::Auth,
            At::MailFrom,
            At::RcptTo,
            At::Data,
            At::Message,
        ] {
            for does in [Does::Hang, Does::HangUp] {
                cases.spawn(lost_at(pipelining, at, does));
            }
        }
    }
    // A case that failed fails this too.
    cases.join_all().await;
}

async fn lost_at(pipelining: bool, at: At, does: Does) {
    let offers = Extensions {
        pipelining,
        ..Extensions::default()
    };
    let shown = format!("{at:?} {does:?} pipelining {pipelining}");
    let error = match at {
        At::Connect | At::Hello | At::Auth => "deferred by a relay error",
        At::MailFrom | At::RcptTo | At::Data | At::Message => "deferred by an error at this mail",
    };
    let script = Script::new()
        .offering(offers)
        .wanting_login("ann", "x")
        .on(at, does);
    let relay = Relay::start(script).await;
    let mailer = mailer(hasty(&format!("smtp://ann:x@{}", relay.addr())));
    let attempt = hand_over(&mailer, "ann@example.com").await;
    assert_eq!(outcome(&attempt), error, "{shown}");
    assert!(
        response(&attempt).starts_with("the relay "),
        "{shown}: {attempt:?}"
    );
    relay.follow(Script::new());
    let next = hand_over(&mailer, "bob@example.com").await;
    assert_eq!(outcome(&next), "accepted 250", "after {shown}");
}

#[tokio::test]
async fn no_server_at_the_address_is_a_failure_of_the_relay() {
    let relay = Relay::start(Script::new()).await;
    let url = relay.url();
    relay.stop().await;
    let attempt = hand_over(&mailer(config(&url)), "ann@example.com").await;
    assert_eq!(outcome(&attempt), "deferred by a relay error");
    assert!(
        response(&attempt).starts_with("cannot connect to the relay 127.0.0.1:"),
        "{attempt:?}"
    );
}

#[tokio::test]
async fn a_login_that_is_wrong_or_not_offered_is_our_trouble_and_stays_secret() {
    let relay = Relay::start(Script::new().wanting_login("ann", "right")).await;
    let attempt = hand_over(
        &mailer(config(&format!("smtp://ann:geheim@{}", relay.addr()))),
        "ann@example.com",
    )
    .await;
    assert_eq!(outcome(&attempt), "deferred by a relay error");
    assert!(response(&attempt).starts_with("535 "), "{attempt:?}");
    let open = Relay::start(Script::new()).await;
    let mailer = mailer(config(&format!("smtp://ann:geheim@{}", open.addr())));
    let attempt = hand_over(&mailer, "ann@example.com").await;
    assert_eq!(
        response(&attempt),
        "the relay offers neither AUTH PLAIN nor LOGIN"
    );
    assert!(!format!("{mailer:?} {attempt:?}").contains("geheim"));
}
