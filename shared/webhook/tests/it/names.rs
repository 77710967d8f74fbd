//! Addresses that the guard refuses, in the URL and behind a name.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use posthaste_testkit::Receiver;
use posthaste_webhook::{ClientConfig, Names, Post, PostOutcome, RequestStage, WebhookClient, Why};

use crate::{loopback, post, status};

#[tokio::test]
async fn an_address_in_the_url_is_judged_on_every_attempt() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(ClientConfig::default()).unwrap();
    let port = receiver.address().port();
    for host in [
        "127.0.0.1",
        "[::ffff:7f00:1]",
        "localhost",
        "2130706433",
        "0x7f.1",
    ] {
        let url = format!("http://{host}:{port}/").parse().unwrap();
        let sent = Post {
            url,
            ..post(&receiver.url())
        };
        let outcome = client.post(sent).await;
        let PostOutcome::Refused(refusal) = outcome else {
            panic!("{host}: {outcome:?}");
        };
        assert_eq!(refusal.why, Why::Loopback, "{host}");
    }
    assert_eq!(receiver.posts().len(), 0);
}

/// Answers the n-th look-up with the n-th list, then with the last.
fn changing(answers: &'static [&'static [&'static str]]) -> (Names, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let names = Names::new(move |_| {
        let n = count.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
        let found: Vec<IpAddr> = answers[n].iter().map(|ip| ip.parse().unwrap()).collect();
        async move { Ok(found) }
    });
    (names, asked)
}

#[tokio::test]
async fn a_name_that_turns_to_a_private_address_gains_nothing() {
    // Loopback plays the public internet here: it is the only place the test can dial.
    let mut receiver = Receiver::start().await.unwrap();
    let (names, asked) = changing(&[&["127.0.0.1"], &["169.254.169.254"], &["10.0.0.1", "::1"]]);
    let client = WebhookClient::with_names(loopback(), names).unwrap();
    let url = format!("http://hook.example.com:{}/", receiver.address().port());

    assert_eq!(status(&client.post(post(&url)).await), 200);
    // While the connection lives it leads to the address that was judged.
    assert_eq!(status(&client.post(post(&url)).await), 200);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    receiver.stop().await;

    let second = client.post(post(&url)).await;
    let PostOutcome::Refused(refusal) = second else {
        panic!("{second:?}");
    };
    assert_eq!(refusal.why, Why::Metadata);
    assert_eq!(refusal.address.to_string(), "169.254.169.254");

    receiver.restart().await.unwrap();
    // One of the two is permitted, and only that one is dialled: no port is open on [::1].
    let third = client.post(post(&url)).await;
    assert!(
        matches!(
            third,
            PostOutcome::Unreachable {
                stage: RequestStage::Connect,
                ..
            }
        ),
        "{third:?}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(receiver.posts().len(), 2);
}

#[tokio::test]
async fn a_name_without_an_address_is_said_to_have_none() {
    let unresolved = Names::new(|_| async { Err(io::Error::other("no such host")) });
    let client = WebhookClient::with_names(loopback(), unresolved).unwrap();
    let outcome = client
        .post(post("http://u:secret@nowhere.example.com/"))
        .await;
    let PostOutcome::Unreachable { stage, detail } = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        (*stage, detail.as_str()),
        (RequestStage::Name, "no such host")
    );

    let (names, _) = changing(&[&[]]);
    let client = WebhookClient::with_names(loopback(), names).unwrap();
    let outcome = client.post(post("http://empty.example.com/")).await;
    assert!(
        matches!(outcome, PostOutcome::Unreachable { .. }),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_look_up_that_hangs_is_bounded() {
    let stuck = Names::new(|_| std::future::pending());
    let config = ClientConfig {
        connect: Duration::from_millis(50),
        ..loopback()
    };
    let client = WebhookClient::with_names(config, stuck).unwrap();
    let outcome = client.post(post("http://slow.example.com/")).await;
    assert_eq!(outcome, PostOutcome::TimedOut);
}
