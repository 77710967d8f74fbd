//! Slow clients.

use posthaste_testkit::Certificate;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_head_must_come_within_its_time_however_it_drips() {
    let port = Port::open(HttpLimits::default());
    for said in ["", "GET / HTTP/1.1\r\nHost: x\r\n"] {
        let (mut client, since) = (port.connect(), Instant::now());
        client.say(said).await;
        assert_eq!(client.hear_all().await, "");
        check_seconds(since, 10);
    }
    let (mut client, since) = (port.connect(), Instant::now());
    for byte in ["G", "E", "T", " "] {
        client.say(byte).await;
        pass(3).await;
    }
    assert_eq!(client.hear_all().await, "");
    check_seconds(since, 12);
}

#[tokio::test(start_paused = true)]
async fn a_connection_idles_for_its_time_and_the_next_head_has_its_own() {
    let port = Port::open(HttpLimits::default());
    let mut client = port.connect();
    client.get("/").await;
    client.hear("hello").await;
    pass(74).await;
    client.get("/").await;
    client.hear("hello").await;
    let since = Instant::now();
    assert_eq!(client.hear_all().await, "");
    check_seconds(since, 75);

    let mut client = port.connect();
    client.get("/").await;
    client.hear("hello").await;
    pass(20).await;
    let since = Instant::now();
    client.say("GET").await;
    assert_eq!(client.hear_all().await, "");
    check_seconds(since, 10);
}

#[tokio::test(start_paused = true)]
async fn a_body_may_take_long_but_not_pause_for_long() {
    let port = Port::open(HttpLimits::default());
    let mut client = port.connect();
    client.post(20).await;
    for _ in 0..20 {
        pass(29).await;
        client.say("x").await;
    }
    assert!(
        client
            .hear("\r\n\r\n20")
            .await
            .starts_with("HTTP/1.1 200 OK\r\n")
    );

    let (mut client, since) = (port.connect(), Instant::now());
    client.post(20).await;
    client.say("half of it").await;
    let answer = client.hear_all().await;
    check_seconds(since, 30);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let told = r#"{"errors":[{"field":null,"message":"the request body stopped arriving"}]}"#;
    assert!(answer.ends_with(told), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_left_and_a_slow_one_is_served() {
    let port = Port::open(HttpLimits::default());
    let mut deaf = port.connect();
    deaf.get("/large").await;
    let mut slow = port.connect();
    slow.get("/large").await;
    let mut piece = vec![0; PIPE];
    let mut heard = 0;
    while heard < LARGE {
        pass(20).await;
        let taken = slow.0.read(&mut piece).await.expect("it is not cut");
        assert_ne!(taken, 0, "it is not cut after {heard} bytes");
        heard += taken;
    }
    assert!(deaf.hear_all().await.len() < LARGE / 2);
}

#[tokio::test(start_paused = true)]
async fn streams_and_long_waits_are_not_cut() {
    let port = Port::open(HttpLimits::default());
    let (mut live, mut wait) = (port.connect(), port.connect());
    live.get("/live").await;
    live.hear("\r\n\r\n").await;
    wait.get("/wait").await;
    pass(86_400).await;
    port.go.notify_one();
    assert!(wait.hear("went").await.starts_with("HTTP/1.1 200 OK\r\n"));
    let mut end = [0];
    let silence = tokio::time::timeout(Duration::from_secs(60), live.0.read(&mut end)).await;
    assert!(silence.is_err(), "the stream goes on");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_has_its_time() {
    let certificate = Certificate::of(&["localhost"]);
    let port = Port::with_tls(HttpLimits::default(), Some(certificate.server));
    let since = Instant::now();
    let mut client = port.connect();
    assert_eq!(client.hear_all().await, "");
    check_seconds(since, 10);
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_answers_and_for_nothing_else() {
    let port = Port::open(HttpLimits::default());
    let (mut silent, mut half, mut idle) = (port.connect(), port.connect(), port.connect());
    let mut busy = port.connect();
    half.say("GET / HT").await;
    idle.get("/").await;
    idle.hear("hello").await;
    busy.get("/wait").await;
    pass(1).await;
    let since = Instant::now();
    port.stop.send_replace(true);
    for client in [&mut silent, &mut half, &mut idle] {
        assert_eq!(client.hear_all().await, "");
    }
    check_seconds(since, 0);
    port.go.notify_one();
    assert!(busy.hear_all().await.ends_with("went"));
    port.running.await.expect("it ends in order");
}
