//! The client against filters that speak over a socket.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use posthaste_spam::{Filter, LARGEST, SpamError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const MAIL: &[u8] = b"Subject: hi\r\n\r\nBuy now\r\n";

/// A spamd that answers one request and gives back what it was asked.
async fn spamd(answer: &'static str) -> (String, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("spamd://{}", listener.local_addr().expect("an address"));
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a caller");
        let mut asked = Vec::new();
        stream.read_to_end(&mut asked).await.expect("a request");
        stream
            .write_all(answer.as_bytes())
            .await
            .expect("an answer");
        asked
    });
    (url, asked)
}

/// An rspamd that answers every request in one way.
async fn rspamd(status: StatusCode, answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("rspamd://{}", listener.local_addr().expect("an address"));
    let reply = move |body: Bytes| async move {
        assert_eq!(&body[..], MAIL);
        (status, answer)
    };
    let router = axum::Router::new().route("/checkv2", post(reply));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[tokio::test]
async fn spamd_is_asked_for_a_report() {
    let answer = "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 7.5 / 5.0\r\n\r\n 7.5 BUY_NOW\r\n";
    let (url, asked) = spamd(answer).await;
    let filter = Filter::parse(&url).expect("a filter");
    let verdict = filter.score(MAIL).await.expect("a verdict");
    assert_eq!((verdict.score, verdict.threshold), (7.5, 5.0));
    assert_eq!(verdict.report, " 7.5 BUY_NOW");
    assert!(verdict.is_spam());
    let asked = String::from_utf8(asked.await.expect("asked")).expect("text");
    let want = "REPORT SPAMC/1.5\r\nContent-length: 24\r\n\r\nSubject: hi\r\n\r\nBuy now\r\n";
    assert_eq!(asked, want);
}

#[tokio::test]
async fn rspamd_is_posted_the_mail_and_the_url_may_set_the_threshold() {
    let answer = r#"{"score":7.5,"required_score":15,"symbols":{}}"#;
    let url = rspamd(StatusCode::OK, answer).await;
    let plain = Filter::parse(&url).expect("a filter");
    assert!(!plain.score(MAIL).await.expect("a verdict").is_spam());
    let strict = Filter::parse(&format!("{url}?threshold=7.5")).expect("a filter");
    assert!(strict.score(MAIL).await.expect("a verdict").is_spam());
}

#[tokio::test]
async fn a_filter_in_trouble_gives_no_verdict() {
    let url = rspamd(StatusCode::FORBIDDEN, "{}").await;
    let refused = Filter::parse(&url).expect("a filter").score(MAIL).await;
    assert!(matches!(refused, Err(SpamError::Refused(text)) if text.contains("403")));

    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    for scheme in ["spamd", "rspamd"] {
        let filter = Filter::parse(&format!("{scheme}://{address}")).expect("a filter");
        let end = filter.score(MAIL).await;
        assert!(matches!(end, Err(SpamError::Unreachable(_))), "{end:?}");
    }

    // Listens and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = silent.local_addr().expect("an address");
    let filter = Filter::parse(&format!("spamd://{address}?timeout=0.05")).expect("a filter");
    assert!(matches!(filter.score(MAIL).await, Err(SpamError::Timeout)));
}

#[tokio::test]
async fn a_huge_mail_is_not_sent_to_the_filter() {
    let filter = Filter::parse("spamd://127.0.0.1:1").expect("a filter");
    let end = filter.score(&vec![b'x'; LARGEST + 1]).await;
    assert!(matches!(end, Err(SpamError::TooLarge)));
}
