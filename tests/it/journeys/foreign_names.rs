//! Addresses in any script (RFC 6531): the domain always travels as A-labels; a local part outside
//! ASCII goes where the relay takes it, and is told about where it does not.

use std::time::Duration;

use posthaste_smtpd::Extensions;
use posthaste_testkit::relay::{Relay, Script};
use serde_json::Value;

use crate::service::{Service, mail};

const PATIENCE: Duration = Duration::from_secs(30);

/// A service that hands its mail to this relay.
async fn through(relay: &Relay) -> Service {
    let url = format!("{}?tls=none", relay.url());
    let url = url.parse().expect("a relay's address");
    Service::with(|settings| settings.relay = Some(url)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_local_part_goes_out_where_the_relay_takes_it() {
    let relay = Relay::start(Script::new()).await;
    let service = through(&relay).await;
    for (to, on_the_wire, utf8) in [
        ("pepé@example.com", "pepé@example.com", true),
        ("伊昭傑@郵件.example", "伊昭傑@xn--5nqv22n.example", true),
        ("ann@müller.example", "ann@xn--mller-kva.example", false),
    ] {
        relay.clear();
        let message = service.send(&mail(to)).await;
        let taken = relay.received_at_least(1, PATIENCE).await.swap_remove(0);
        assert_eq!(taken.envelope.to, [on_the_wire]);
        assert_eq!(taken.envelope.utf8, utf8, "{to}");
        let text = String::from_utf8(taken.bytes).expect("UTF-8");
        let line = text.lines().find(|line| line.starts_with("To: "));
        assert!(line.is_some_and(|to| to.contains(on_the_wire)), "{text}");
        assert_eq!(service.states(&message, 1).await, ["Delivered"], "{to}");
    }
    service.stop().await;
    relay.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_relay_does_not_take_it_it_is_dropped_and_told() {
    let offers = Extensions {
        smtputf8: false,
        ..Extensions::default()
    };
    let relay = Relay::start(Script::new().offering(offers)).await;
    let service = through(&relay).await;
    let mut both: Value = mail("pepé@example.com");
    both["personalizations"][0]["cc"] = serde_json::json!([{"email": "ann@müller.example"}]);
    let message = service.send(&both).await;

    let mut states = service.states(&message, 2).await;
    states.sort();
    assert_eq!(states, ["Delivered", "Dropped"]);
    let dropped = ("dropped".to_owned(), Some("Invalid".to_owned()));
    assert_eq!(service.events(&message).await, [dropped]);
    // Nobody could answer these, were their sender's letters lost on the way.
    let mut from: Value = mail("ann@example.com");
    from["from"] = serde_json::json!({"email": "pepé@example.com"});
    let mut reply: Value = mail("ann@example.com");
    reply["reply_to"] = serde_json::json!({"email": "pepé@example.com"});
    for body in [from, reply] {
        let message = service.send(&body).await;
        assert_eq!(service.states(&message, 1).await, ["Dropped"]);
        let dropped = ("dropped".to_owned(), Some("Invalid".to_owned()));
        assert_eq!(service.events(&message).await, [dropped]);
    }
    // The one that can go does, although it names the other one in its header.
    let taken = relay.received_at_least(1, PATIENCE).await;
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].envelope.to, ["ann@xn--mller-kva.example"]);
    service.stop().await;
    relay.stop().await;
}
