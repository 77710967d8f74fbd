//! A test waits for a mail instead of asking again.

use std::time::Duration;

use axum::http::StatusCode;
use futures_util::FutureExt as _;

use crate::support::{Box, mail};

async fn send(b: &Box, subject: &str) -> String {
    let raw = mail(
        "app@s.example",
        "ann@x.example",
        subject,
        "Your code is 482910",
    );
    b.deliver(&["ann@x.example"], raw).await
}

#[tokio::test]
async fn a_mail_that_is_here_already_is_the_answer_at_once() {
    let b = Box::new();
    send(&b, "first").await;
    let id = send(&b, "second").await;
    let found = b.get("/api/v1/wait?query=to:ann").await.json();
    assert_eq!(found["ID"], id.as_str());
    assert_eq!(found["Subject"], "second");
    assert_eq!(found["Text"], "Your code is 482910\r\n");
    assert_eq!(found["Codes"][0]["Code"], "482910");
    assert_eq!(found["Links"], serde_json::json!([]));
    let read = b.subjects("/api/v1/search?query=is:read").await;
    assert_eq!(read, ["second"]);
}

/// Neither time nor another mail ends the wait: the runtime's clock moves only when all tasks wait.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_first_mail_that_matches() {
    let b = Box::new();
    let old = send(&b, "welcome").await;
    let path = format!("/api/v1/wait?query=subject:welcome&after={old}&timeout=60s");
    for path in [
        path,
        "/api/v1/message/latest?query=subject:code&timeout=60s".to_owned(),
    ] {
        let waiting = tokio::spawn({
            let b = b.clone();
            async move { b.get(&path).await.json() }
        });
        tokio::time::sleep(Duration::from_secs(20)).await;
        send(&b, "something else").await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(!waiting.is_finished());
        let id = send(&b, "welcome code").await;
        assert_eq!(waiting.await.unwrap()["ID"], id.as_str());
        b.ask("DELETE", "/api/v1/search?query=subject:code", &[], "")
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_a_mail_ends_in_time_and_says_so() {
    let b = Box::new();
    send(&b, "other").await;
    for (path, took) in [
        ("/api/v1/wait?query=to:bob&timeout=250ms", 250),
        ("/api/v1/wait?query=to:bob", 30_000),
        ("/api/v1/message/latest/codes?query=to:bob&timeout=2", 2_000),
        ("/view/latest.txt?query=to:bob&timeout=2m", 120_000),
    ] {
        let began = tokio::time::Instant::now();
        let answer = b.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        let text = answer.text();
        assert!(
            text.starts_with("no mail that matches to:bob arrived within"),
            "{text}"
        );
        assert!(text.ends_with("the mailbox holds 1"), "{text}");
        assert_eq!(began.elapsed().as_millis(), took, "{path}");
    }
}

#[tokio::test]
async fn a_wrong_wait_is_refused() {
    let b = Box::new();
    let id = send(&b, "gone").await;
    b.ask("DELETE", "/api/v1/messages", &[], "").await;
    for (parameters, word) in [
        ("timeout=never", "timeout"),
        ("timeout=301", "300s"),
        (&*format!("after={id}"), "after"),
        (&*format!("query={}", "a+".repeat(101)), "terms"),
    ] {
        let answer = b.get(&format!("/api/v1/wait?{parameters}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{parameters}");
        assert!(answer.text().contains(word), "{}", answer.text());
    }
}

#[tokio::test]
async fn waits_are_bounded_and_end_with_the_mailbox() {
    let b = Box::new();
    let mut waits: Vec<_> = (0..257)
        .map(|_| std::boxed::Box::pin(b.get("/api/v1/wait?query=to:bob&timeout=300s")))
        .collect();
    let (place, refused) = loop {
        let mut ended = waits.iter_mut().enumerate();
        let ended = ended.find_map(|(at, wait)| Some((at, wait.as_mut().now_or_never()?)));
        match ended {
            Some(ended) => break ended,
            None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.text().contains("256"), "{}", refused.text());
    drop(waits.remove(place));
    b.mailbox.close();
    for answer in futures_util::future::join_all(waits).await {
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
    // Also one that begins now.
    let answer = b.get("/api/v1/wait?query=to:bob&timeout=300s").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

/// A mail is listed where it was sent, which may be before others that arrived earlier.
#[tokio::test]
async fn a_mail_that_overtakes_no_other_in_the_list_is_still_waited_for() {
    let b = Box::new();
    for n in 1..=2 {
        b.mailbox
            .expect(crate::copies::request(n, &["ann@x.example"]))
            .await
            .unwrap();
    }
    let second = crate::copies::record(&b, 2, 0, "ann@x.example").await;
    let path = format!("/api/v1/wait?query=is:unread&after={second}&timeout=30s");
    let waits = b.get(&path);
    let arrives = async {
        tokio::task::yield_now().await;
        crate::copies::record(&b, 1, 0, "ann@x.example").await
    };
    let (answer, first) = tokio::join!(waits, arrives);
    assert_eq!(answer.json()["ID"], first);
}
