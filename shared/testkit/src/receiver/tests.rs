use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

const SOON: Duration = Duration::from_secs(5);

/// Sends one request on a connection of its own; returns the bytes until the end or a pause.
async fn post(receiver: &Receiver, body: &str) -> String {
    let mut stream = TcpStream::connect(receiver.address()).await.unwrap();
    let request = format!(
        "POST /hook?x=1 HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A dropped connection may end in an error as well as in silence.
    let _end = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn requests_are_recorded_and_answered_as_scripted() {
    let receiver = Receiver::start().await.unwrap();
    receiver.always(Reply::status(204));
    receiver.script([
        Reply::with_body(500, "oh"),
        Reply::Drop,
        Reply::retry_after(429, "7"),
    ]);

    let first = post(&receiver, "one").await;
    assert!(first.starts_with("HTTP/1.1 500 "), "{first}");
    assert!(first.ends_with("\r\n\r\noh"), "{first}");
    assert_eq!(post(&receiver, "two").await, "");
    assert!(
        post(&receiver, "three")
            .await
            .contains("retry-after: 7\r\n")
    );
    assert!(post(&receiver, "four").await.starts_with("HTTP/1.1 204 "));

    let bodies: Vec<_> = receiver.posts().into_iter().map(|post| post.body).collect();
    assert_eq!(bodies, ["one", "two", "three", "four"]);
    let first = receiver.next(SOON).await.unwrap();
    assert_eq!(
        (first.method, first.target.as_str()),
        (Method::POST, "/hook?x=1")
    );
    assert_eq!(receiver.next(SOON).await.unwrap().body, "two");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_more_than_comes_ends_with_nothing() {
    let receiver = Receiver::start().await.unwrap();
    assert!(receiver.next(SOON).await.is_none());
    assert!(!receiver.wait_for(1, SOON).await);
    assert!(receiver.wait_for(0, SOON).await);
}

#[tokio::test]
async fn a_stopped_receiver_refuses_and_a_restarted_one_remembers() {
    let mut receiver = Receiver::start().await.unwrap();
    let address = receiver.address();
    post(&receiver, "before").await;

    receiver.stop().await;
    assert!(TcpStream::connect(address).await.is_err());

    receiver.restart().await.unwrap();
    assert_eq!(receiver.address(), address);
    post(&receiver, "after").await;
    assert_eq!(receiver.posts().len(), 2);
}

#[tokio::test]
async fn an_answer_is_decided_by_what_came() {
    let receiver = Receiver::start().await.unwrap();
    receiver.decide(|post| Reply::status(if post.body.is_empty() { 400 } else { 200 }));
    assert!(post(&receiver, "").await.starts_with("HTTP/1.1 400 "));
    assert!(post(&receiver, "x").await.starts_with("HTTP/1.1 200 "));
}
