//! The memory for request bodies, and bodies that are broken.

use super::*;

const KIB: usize = 1024;

fn port(bodies: usize) -> Port {
    Port::open(HttpLimits {
        bodies,
        ..HttpLimits::default()
    })
}

/// Sends a part of a body, and waits until the server has taken it.
async fn send(client: &mut Client, bytes: usize) {
    client.say(&"x".repeat(bytes)).await;
    pass(1).await;
}

#[track_caller]
fn check_no_room(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("\r\nRetry-After: 5\r\n"), "{answer}");
    let told = r#""message":"too many large requests at this moment, try again later"}]}"#;
    assert!(answer.ends_with(told), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn bodies_in_progress_share_one_amount_of_memory() {
    let port = port(512 * KIB);
    let mut first = port.connect();
    first.post(400 * KIB).await;
    send(&mut first, 300 * KIB).await;
    let mut second = port.connect_from([192, 0, 2, 2]);
    second.post(300 * KIB).await;
    let said = second.0.write_all(&vec![b'x'; 300 * KIB]).await;
    check_no_room(&second.hear_all().await);
    drop(said);

    // What is answered gives its part back.
    send(&mut first, 100 * KIB).await;
    first.hear("\r\n\r\n409600").await;
    let mut third = port.connect();
    third.post(500 * KIB).await;
    send(&mut third, 500 * KIB).await;
    third.hear("\r\n\r\n512000").await;
}

#[tokio::test(start_paused = true)]
async fn what_a_body_is_unpacked_to_takes_of_the_same_memory() {
    let port = port(512 * KIB);
    let mut packed = port.connect();
    packed.post_to("/wait", 80 * KIB).await;
    send(&mut packed, 80 * KIB).await;
    // 400 KiB are taken.
    let mut plain = port.connect();
    plain.post(200 * KIB).await;
    let said = plain.0.write_all(&vec![b'x'; 200 * KIB]).await;
    check_no_room(&plain.hear_all().await);
    drop(said);
    let mut second = port.connect();
    second.post_to("/wait", 40 * KIB).await;
    send(&mut second, 40 * KIB).await;
    check_no_room(&second.hear("try again later\"}]}").await);

    port.go.notify_one();
    packed.hear("went").await;
    second.post(500 * KIB).await;
    send(&mut second, 500 * KIB).await;
    second.hear("\r\n\r\n512000").await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_gives_its_part_back() {
    let port = port(512 * KIB);
    let mut gone = port.connect();
    gone.post(400 * KIB).await;
    send(&mut gone, 300 * KIB).await;
    drop(gone);
    pass(1).await;
    let mut next = port.connect();
    next.post(500 * KIB).await;
    send(&mut next, 500 * KIB).await;
    next.hear("\r\n\r\n512000").await;
}

#[tokio::test(start_paused = true)]
async fn what_a_head_promises_takes_no_memory() {
    let port = port(512 * KIB);
    let mut all = Vec::new();
    for _ in 0..4 {
        let mut client = port.connect();
        client.post(29_000_000).await;
        send(&mut client, 10).await;
        all.push(client);
    }
    let mut honest = port.connect();
    honest.post(200 * KIB).await;
    send(&mut honest, 200 * KIB).await;
    honest.hear("\r\n\r\n204800").await;
}

#[tokio::test(start_paused = true)]
async fn a_body_in_chunks_counts_as_it_comes() {
    let port = port(256 * KIB);
    let mut client = port.connect();
    let head = "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.say(head).await;
    let chunk = format!("{:x}\r\n{}\r\n", 8 * KIB, "x".repeat(8 * KIB));
    for _ in 0..40 {
        if client.0.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    check_no_room(&client.hear_all().await);
}

#[tokio::test(start_paused = true)]
async fn a_broken_body_is_the_clients_error_in_our_shape() {
    let port = port(256 * KIB);
    for broken in [
        "zz\r\nxx\r\n0\r\n\r\n",
        "5\r\nxx\r\n0\r\n\r\n\r\n\r\n",
        "-1\r\n",
    ] {
        let mut client = port.connect();
        let head = "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        client.say(&format!("{head}{broken}")).await;
        let answer = client.hear_all().await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{broken:?} {answer}");
        let told = r#"{"errors":[{"field":null,"message":"the request body could not be read"}]}"#;
        assert!(answer.ends_with(told), "{broken:?} {answer}");
    }
}
