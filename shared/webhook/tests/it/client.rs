//! Posts to a receiver that behaves and misbehaves.

use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method};
use posthaste_model::Timestamp;
use posthaste_testkit::{Receiver, Reply};
use posthaste_webhook::{
    ClientConfig, PostOutcome, RequestStage, RetryAfter, WebhookClient, WebhookKeyPair, batch,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{SOON, impatient, loopback, post, status};

#[tokio::test]
async fn a_post_arrives_as_it_was_handed_in() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    let url = format!("{}hook/%C3%BC?a=1&b=#gone", receiver.url());
    let mut sent = post(&url);
    let kind = HeaderValue::from_static("application/json;charset=utf-8");
    sent.headers.insert(CONTENT_TYPE, kind);
    sent.body = vec![0, 255, 13, 10].into();

    let outcome = client.post(sent.clone()).await;

    assert_eq!(status(&outcome), 200, "{outcome:?}");
    let got = receiver.next(SOON).await.unwrap();
    assert_eq!(
        (got.method, got.target.as_str()),
        (Method::POST, "/hook/%C3%BC?a=1&b=")
    );
    assert_eq!(
        got.headers["content-type"],
        "application/json;charset=utf-8"
    );
    assert_eq!(got.headers["content-length"], "4");
    assert_eq!(got.headers.get(AUTHORIZATION), None);
    assert_eq!(got.body, sent.body);
}

#[tokio::test]
async fn an_answer_is_kept_with_its_status_wait_and_beginning() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    let date = RetryAfter::At(Timestamp(784_111_777));
    let seconds = RetryAfter::In(Duration::from_secs(120));
    for (reply, code, wait, body) in [
        (Reply::with_body(500, "no\0pe"), 500, None, "no\0pe"),
        (Reply::retry_after(429, "120"), 429, Some(seconds), ""),
        (
            Reply::retry_after(503, "Sun, 06 Nov 1994 08:49:37 GMT"),
            503,
            Some(date),
            "",
        ),
        (Reply::retry_after(503, "later"), 503, None, ""),
        (Reply::status(204), 204, None, ""),
    ] {
        receiver.script([reply]);
        let PostOutcome::Answered(answer) = client.post(post(&receiver.url())).await else {
            panic!("no answer for {code}");
        };
        assert_eq!(answer.status.as_u16(), code);
        assert_eq!(
            (answer.retry_after, answer.body_head.as_ref()),
            (wait, body.as_bytes())
        );
    }
}

#[tokio::test]
async fn credentials_of_the_url_become_basic_authentication() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    let url = receiver.url().replace("://", "://user:p%40ss%3A@");

    assert_eq!(status(&client.post(post(&url)).await), 200);
    let got = receiver.next(SOON).await.unwrap();
    // The base64 of `user:p@ss:`.
    assert_eq!(got.header("authorization"), "Basic dXNlcjpwQHNzOg==");
    assert_eq!(got.target, "/");

    let mut bearer = post(&url);
    let token = HeaderValue::from_static("Bearer t");
    bearer.headers.insert(AUTHORIZATION, token);
    assert_eq!(status(&client.post(bearer).await), 200);
    let got = receiver.next(SOON).await.unwrap();
    let all: Vec<_> = got.headers.get_all(AUTHORIZATION).iter().collect();
    assert_eq!(all, ["Bearer t"]);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let receiver = Receiver::start().await.unwrap();
    let elsewhere = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    for code in [301, 302, 303, 307, 308] {
        receiver.script([Reply::redirect(code, &elsewhere.url())]);
        assert_eq!(status(&client.post(post(&receiver.url())).await), code);
    }
    assert_eq!(receiver.posts().len(), 5);
    assert_eq!(elsewhere.posts().len(), 0);
}

#[tokio::test]
async fn a_silent_receiver_costs_the_time_limit_and_no_more() {
    let receiver = Receiver::start().await.unwrap();
    receiver.always(Reply::Hang);
    let client = WebhookClient::open(impatient()).unwrap();
    assert_eq!(
        client.post(post(&receiver.url())).await,
        PostOutcome::TimedOut
    );
}

#[tokio::test]
async fn a_body_that_stalls_or_never_ends_is_cut_and_the_status_remains() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(ClientConfig {
        body_cap: 100,
        ..impatient()
    })
    .unwrap();
    for (reply, code, body) in [
        (
            Reply::Stall {
                status: 200,
                body: "begun".into(),
            },
            200,
            "begun".to_owned(),
        ),
        (Reply::Flood { status: 202 }, 202, "x".repeat(100)),
        (Reply::with_body(500, "y".repeat(100)), 500, "y".repeat(100)),
        (Reply::with_body(500, "y".repeat(101)), 500, "y".repeat(100)),
    ] {
        receiver.script([reply]);
        let PostOutcome::Answered(answer) = client.post(post(&receiver.url())).await else {
            panic!("no answer for {code}");
        };
        assert_eq!(answer.status.as_u16(), code);
        assert_eq!(answer.body_head, body);
    }
}

#[tokio::test]
async fn a_packed_body_stays_packed() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    let packed: &[u8] = &[0x1f, 0x8b, 8, 0, 1, 2, 3];
    receiver.script([Reply::Answer {
        status: 200,
        headers: vec![("content-encoding".into(), "gzip".into())],
        body: packed.into(),
    }]);
    let PostOutcome::Answered(answer) = client.post(post(&receiver.url())).await else {
        panic!("no answer");
    };
    assert_eq!(answer.body_head, packed);
}

#[tokio::test]
async fn a_connection_that_breaks_or_never_comes_about_is_named() {
    let mut receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    receiver.always(Reply::Drop);
    let broken = client.post(post(&receiver.url())).await;
    assert!(
        matches!(
            broken,
            PostOutcome::Unreachable {
                stage: RequestStage::Exchange,
                ..
            }
        ),
        "{broken:?}"
    );

    let https = receiver.url().replace("http:", "https:");
    let not_tls = client.post(post(&https)).await;
    assert!(
        matches!(
            not_tls,
            PostOutcome::Unreachable {
                stage: RequestStage::Connect,
                ..
            }
        ),
        "{not_tls:?}"
    );

    receiver.stop().await;
    let closed = client.post(post(&receiver.url())).await;
    assert!(
        matches!(
            closed,
            PostOutcome::Unreachable {
                stage: RequestStage::Connect,
                ..
            }
        ),
        "{closed:?}"
    );
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_named_without_the_secrets_of_the_url() {
    let client = WebhookClient::open(loopback()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://u:secret@{}/", listener.local_addr().unwrap());
    let babble = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"220 mail.example.com ESMTP\r\n")
            .await
            .unwrap();
        stream
    });
    let babbled = client.post(post(&url)).await;
    assert!(
        matches!(
            babbled,
            PostOutcome::Unreachable {
                stage: RequestStage::Exchange,
                ..
            }
        ),
        "{babbled:?}"
    );
    assert!(
        !format!("{babbled:?} {babbled}").contains("secret"),
        "{babbled:?}"
    );
    drop(babble);
}

#[tokio::test]
async fn posts_to_one_receiver_share_a_connection() {
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    receiver.script([Reply::with_body(500, "read to its end")]);
    for _ in 0..3 {
        let _outcome = client.post(post(&receiver.url())).await;
    }
    let peers: Vec<_> = receiver.posts().iter().map(|post| post.peer).collect();
    assert_eq!(peers, [peers[0]; 3]);
}

#[tokio::test]
async fn the_bounds_are_those_that_are_promised() {
    let config = ClientConfig::default();
    // A timeout of ten seconds; a body of which sixteen kilobytes are read.
    assert_eq!(
        (config.total, config.body_cap),
        (Duration::from_secs(10), 16 * 1024)
    );
    assert!(config.connect < config.total);
    let receiver = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    for (sent, kept) in [(16 * 1024, 16 * 1024), (16 * 1024 + 1, 16 * 1024)] {
        receiver.script([Reply::with_body(200, vec![b'x'; sent])]);
        let PostOutcome::Answered(answer) = client.post(post(&receiver.url())).await else {
            panic!("no answer");
        };
        assert_eq!(answer.body_head.len(), kept);
    }
}

#[tokio::test]
async fn a_dead_receiver_does_not_delay_a_live_one() {
    let dead = Receiver::start().await.unwrap();
    dead.always(Reply::Hang);
    let live = Receiver::start().await.unwrap();
    let client = WebhookClient::open(loopback()).unwrap();
    let waiting: Vec<_> = (0..50)
        .map(|_| {
            tokio::spawn({
                let (client, sent) = (client.clone(), post(&dead.url()));
                async move { client.post(sent).await }
            })
        })
        .collect();
    assert!(dead.wait_for(50, SOON).await);

    let PostOutcome::Answered(answer) = client.post(post(&live.url())).await else {
        panic!("no answer");
    };

    assert!(answer.took_ms < 1000, "{} ms", answer.took_ms);
    waiting.iter().for_each(|task| task.abort());
}

#[tokio::test]
async fn the_headers_of_an_event_post_are_spelled_as_receivers_look_them_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let pair = WebhookKeyPair::from_bytes(&[1; 32]).unwrap();
    let mut signed = post(&url);
    signed.headers = batch::headers(Some(&pair), Timestamp(7), &signed.body);
    let client = WebhookClient::open(loopback()).unwrap();
    let posting = tokio::spawn(async move { client.post(signed).await });
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0);
    }
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(status(&posting.await.unwrap()), 200);
    let head = String::from_utf8_lossy(&head);
    for name in [
        "X-Twilio-Email-Event-Webhook-Signature",
        "X-Twilio-Email-Event-Webhook-Timestamp",
        "Content-Type",
        "User-Agent",
    ] {
        assert!(head.contains(&format!("\r\n{name}: ")), "{name}: {head}");
    }
}
