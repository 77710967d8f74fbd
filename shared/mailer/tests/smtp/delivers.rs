//! Mails that go through, and the bytes they arrive with.

use posthaste_mailer::{Attempt, Envelope};
use posthaste_smtpd::Extensions;
use posthaste_testkit::relay::{Relay, Script};

use crate::{config, envelope, hand_over, mailer, outcome, response, to_relay};

const NOTHING: Extensions = Extensions {
    pipelining: false,
    size: false,
    eight_bit: false,
    smtputf8: false,
};

#[tokio::test]
async fn an_accepted_mail_says_how_it_went() {
    let relay = Relay::start(Script::new()).await;
    let attempt = hand_over(&to_relay(&relay), "ann@example.com").await;
    let want = Attempt::Accepted {
        code: 250,
        response: "250 2.0.0 ok queued as 1".to_owned(),
        ip: Some("127.0.0.1".to_owned()),
        tls: false,
    };
    assert_eq!(attempt, want);
    let mail = &relay.received()[0];
    assert_eq!(mail.envelope.from, "b-1@bounce.test");
    assert_eq!(mail.envelope.to, ["ann@example.com"]);
    assert_eq!(mail.envelope.size, Some(19));
    assert_eq!(
        (
            mail.hello.as_str(),
            mail.envelope.eight_bit,
            mail.envelope.utf8
        ),
        ("[127.0.0.1]", false, false)
    );
}

#[tokio::test]
async fn every_message_arrives_as_it_was() {
    let mut large = Vec::new();
    for n in 0..200_000_u32 {
        large.extend_from_slice(format!(".{n} line\r\n..\r\n").as_bytes());
    }
    let long_line = [b"x".repeat(300_000), b"\r\n".to_vec()].concat();
    let messages: [&[u8]; 9] = [
        b"Subject: x\r\n\r\nhi\r\n",
        b".\r\n..\r\n...\r\n.a\r\n",
        b"\r\n.\r\n\r\n",
        b"a\r\n.\r\nMAIL FROM:<evil@example.com>\r\nRCPT TO:<x@y.z>\r\nDATA\r\n.\r\n",
        "Subject: caf\u{e9}\r\n\r\ncaf\u{e9}\r\n".as_bytes(),
        b"\xff\xfe\x00 bytes\r\n",
        b"\r\n",
        &large,
        &long_line,
    ];
    for offers in [Extensions::default(), NOTHING] {
        let relay = Relay::start(Script::new().offering(offers)).await;
        let mailer = to_relay(&relay);
        for message in messages {
            let attempt = mailer
                .hand_over(&envelope("ann@example.com"), message)
                .await;
            assert_eq!(outcome(&attempt), "accepted 250", "{attempt:?}");
        }
        let arrived: Vec<Vec<u8>> = relay
            .received()
            .into_iter()
            .map(|mail| mail.bytes)
            .collect();
        assert!(arrived == messages, "offers: {offers:?}");
        assert_eq!(relay.connections(), 1);
    }
}

#[tokio::test]
async fn no_message_can_end_early_or_carry_a_command() {
    let relay = Relay::start(Script::new()).await;
    let mailer = to_relay(&relay);
    for (message, want) in [
        (
            &b"a\n.\nMAIL FROM:<e@x.y>\n"[..],
            &b"a\r\n.\r\nMAIL FROM:<e@x.y>\r\n"[..],
        ),
        (b"a\r.\r\nQUIT", b"a\r\n.\r\nQUIT\r\n"),
        (b"a\r\n.\rb\n", b"a\r\n.\r\nb\r\n"),
        (b"no end", b"no end\r\n"),
        (b"", b""),
    ] {
        relay.clear();
        let attempt = mailer
            .hand_over(&envelope("ann@example.com"), message)
            .await;
        assert_eq!(outcome(&attempt), "accepted 250");
        let mails = relay.received();
        assert_eq!((mails.len(), mails[0].bytes.as_slice()), (1, want));
    }
}

#[tokio::test]
async fn senders_are_addresses_or_empty() {
    let relay = Relay::start(Script::new()).await;
    let mailer = to_relay(&relay);
    let mut bounce = envelope("ann@example.com");
    bounce.from = String::new();
    assert_eq!(
        outcome(&mailer.hand_over(&bounce, b"hi\r\n").await),
        "accepted 250"
    );
    assert_eq!(relay.received()[0].envelope.from, "");
    for from in ["nobody", "a@b.c>\r\nRCPT TO:<x@y.z", "a@b.c> SIZE=1"] {
        bounce.from = from.to_owned();
        let attempt = mailer.hand_over(&bounce, b"hi\r\n").await;
        assert_eq!(outcome(&attempt), "deferred for its sender", "{from:?}");
    }
    assert_eq!(relay.received().len(), 1);
}

#[tokio::test]
async fn names_in_any_script_travel_when_the_relay_takes_them() {
    let relay = Relay::start(Script::new()).await;
    let mailer = to_relay(&relay);
    for (to, wire, utf8) in [
        ("ann@m\u{fc}ller.de", "ann@xn--mller-kva.de", false),
        ("pep\u{e9}@example.com", "pep\u{e9}@example.com", true),
        (
            "pep\u{e9}@m\u{fc}ller.de",
            "pep\u{e9}@xn--mller-kva.de",
            true,
        ),
        ("\"a b\"@example.com", "\"a b\"@example.com", false),
        ("\"a>b\\\"\"@example.com", "\"a>b\\\"\"@example.com", false),
    ] {
        relay.clear();
        assert_eq!(
            outcome(&hand_over(&mailer, to).await),
            "accepted 250",
            "{to}"
        );
        let envelope = &relay.received()[0].envelope;
        assert_eq!((envelope.to[0].as_str(), envelope.utf8), (wire, utf8));
    }
    let message = "From: pep\u{e9}@example.com\r\n\r\nhi\r\n".as_bytes();
    relay.clear();
    assert_eq!(
        outcome(
            &mailer
                .hand_over(&envelope("ann@example.com"), message)
                .await
        ),
        "accepted 250"
    );
    let header = &relay.received()[0].envelope;
    assert!(
        header.utf8 && header.eight_bit,
        "a header in UTF-8 asks for the option"
    );
}

#[tokio::test]
async fn a_relay_without_smtputf8_cannot_take_a_name_in_another_script() {
    let relay = Relay::start(Script::new().offering(Extensions {
        smtputf8: false,
        ..Extensions::default()
    }))
    .await;
    let mailer = to_relay(&relay);
    assert_eq!(
        outcome(&hand_over(&mailer, "pep\u{e9}@example.com").await),
        "unsupported"
    );
    assert_eq!(
        outcome(&hand_over(&mailer, "ann@m\u{fc}ller.de").await),
        "accepted 250"
    );
    let foreign_sender = Envelope {
        foreign_sender: true,
        ..envelope("ann@example.com")
    };
    let attempt = mailer.hand_over(&foreign_sender, b"hi\r\n").await;
    assert_eq!(outcome(&attempt), "unsupported");
    assert_eq!(relay.connections(), 1, "the connection was not spoilt");
}

#[tokio::test]
async fn a_mail_over_the_limit_is_not_even_sent() {
    let relay = Relay::start(Script::new().at_most(20)).await;
    let mailer = to_relay(&relay);
    let attempt = mailer
        .hand_over(&envelope("ann@example.com"), &[b'x'; 21])
        .await;
    assert_eq!(outcome(&attempt), "bounced 552 at data");
    assert_eq!(
        response(&attempt),
        "552 5.3.4 the relay takes mails of at most 20 octets"
    );
    let silent = Script::new().at_most(20).offering(NOTHING);
    let relay = Relay::start(silent).await;
    let mailer = to_relay(&relay);
    let attempt = mailer
        .hand_over(&envelope("ann@example.com"), &[b'x'; 21])
        .await;
    assert_eq!(outcome(&attempt), "bounced 552 at data", "{attempt:?}");
    assert_eq!(
        outcome(
            &mailer
                .hand_over(&envelope("ann@example.com"), &[b'x'; 18])
                .await
        ),
        "accepted 250"
    );
}

#[tokio::test]
async fn the_configured_name_is_given_in_ehlo() {
    let relay = Relay::start(Script::new()).await;
    let mut named = config(&relay.url());
    named.hello = Some("mail.posthaste.test".to_owned());
    assert_eq!(
        outcome(&hand_over(&mailer(named), "ann@example.com").await),
        "accepted 250"
    );
    assert_eq!(relay.received()[0].hello, "mail.posthaste.test");
}
