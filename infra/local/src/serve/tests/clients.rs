//! Many clients at once.

use posthaste_testkit::CapturedLog;

use super::*;

const REFUSED: &str =
    "{\"errors\":[{\"field\":null,\"message\":\"too many connections, try again later\"}]}";

#[track_caller]
fn check_refused(answer: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert!(head.contains("\r\nRetry-After: 5\r\n"), "{head}");
    assert!(
        head.contains(&format!("\r\nContent-Length: {}", body.len())),
        "{head}"
    );
    assert_eq!(body, REFUSED);
}

/// Connections that are open and of which each was answered.
async fn held(port: &Port, count: usize, ip: impl Fn(usize) -> IpAddr) -> Vec<Client> {
    let mut all = Vec::new();
    for i in 0..count {
        let mut client = port.connect_from(ip(i));
        client.get("/").await;
        client.hear("hello").await;
        all.push(client);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_client_has_64_connections_and_no_more() {
    let port = Port::open(HttpLimits::default());
    let v4 = |_| IpAddr::from([192, 0, 2, 1]);
    // All of one /64, which a customer of a provider has.
    let v6 = |i| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, u16::try_from(i).unwrap()]);
    for ip in [&v4 as &dyn Fn(usize) -> IpAddr, &v6] {
        let mut all = held(&port, 64, ip).await;
        check_refused(&port.connect_from(ip(64)).hear_all().await);
        drop(all.pop());
        pass(1).await;
        all.extend(held(&port, 1, ip).await);
        check_refused(&port.connect_from(ip(64)).hear_all().await);
    }
    held(&port, 1, |_| IpAddr::from([192, 0, 2, 2])).await;
    held(&port, 1, |_| {
        IpAddr::from([0x2001, 0xdb8, 0, 2, 0, 0, 0, 0])
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_port_has_1024_connections_and_no_more() {
    let port = Port::open(HttpLimits::default());
    let ip = |i: usize| IpAddr::from([192, 0, 2, u8::try_from(i / 64).unwrap()]);
    let all = held(&port, 1024, ip).await;
    check_refused(&port.connect_from(ip(1024)).hear_all().await);
    drop(all);
    pass(1).await;
    held(&port, 1024, ip).await;
}

#[tokio::test(start_paused = true)]
async fn twelve_hundred_half_sent_heads_are_gone_after_their_time() {
    let port = Port::open(HttpLimits {
        connections: limits(2000, 2000),
        ..HttpLimits::default()
    });
    let mut all: Vec<Client> = (0..1200).map(|_| port.connect()).collect();
    for client in &mut all {
        client.say("GET / HTTP/1.1\r\nHo").await;
    }
    let since = Instant::now();
    for mut client in all {
        assert_eq!(client.hear_all().await, "");
    }
    check_seconds(since, 10);
}

#[tokio::test(start_paused = true)]
async fn streams_and_long_waits_are_counted_apart() {
    let port = Port::open(HttpLimits {
        connections: limits(1, 1),
        streams: limits(2, 2),
        ..HttpLimits::default()
    });
    let mut live = port.connect();
    live.get("/live").await;
    live.hear("\r\n\r\n").await;
    // Its place is free again.
    let mut wait = port.connect();
    wait.get("/wait").await;
    pass(9).await;
    check_refused(&port.connect().hear_all().await);
    pass(2).await;
    let mut third = port.connect();
    third.get("/live").await;
    let refused = third.hear("}]}").await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("\r\nRetry-After: 5\r\n"), "{refused}");
    assert!(refused.ends_with("\"message\":\"too many event streams are open\"}]}"));
    drop(third);
    drop(live);
    port.go.notify_one();
    wait.hear("went").await;
    // It is an ordinary connection again, and the only one.
    check_refused(&port.connect().hear_all().await);
    wait.get("/live").await;
    wait.hear("\r\n\r\n").await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_upload_is_no_long_wait_but_what_follows_it_may_be() {
    let port = Port::open(HttpLimits {
        connections: limits(1, 1),
        ..HttpLimits::default()
    });
    let mut slow = port.connect();
    slow.post_to("/wait", 20).await;
    for _ in 0..19 {
        pass(5).await;
        slow.say("x").await;
    }
    pass(20).await;
    check_refused(&port.connect().hear_all().await);
    // From here on the client waits for the service.
    slow.say("x").await;
    pass(9).await;
    check_refused(&port.connect().hear_all().await);
    pass(2).await;
    held(&port, 1, |_| IpAddr::from([192, 0, 2, 1])).await;
    port.go.notify_one();
    slow.hear("went").await;
}

#[tokio::test(start_paused = true)]
async fn slow_uploads_leave_the_places_of_streams_to_streams() {
    let port = Port::open(HttpLimits {
        connections: limits(4, 4),
        streams: limits(1, 1),
        ..HttpLimits::default()
    });
    let mut uploads = Vec::new();
    for _ in 0..3 {
        let mut client = port.connect();
        client.post(20).await;
        uploads.push(client);
    }
    for _ in 0..4 {
        pass(5).await;
        for client in &mut uploads {
            client.say("x").await;
        }
    }
    let mut live = port.connect();
    live.get("/live").await;
    let head = live.hear("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
}

#[tokio::test(start_paused = true)]
async fn accepting_that_fails_is_logged_once_and_goes_on() {
    let lines = CapturedLog::kept();
    let port = Port::open(HttpLimits::default());
    // EMFILE.
    for _ in 0..8 {
        port.pipes
            .send(Err(io::Error::from_raw_os_error(24)))
            .expect("the port runs");
    }
    let (mut client, since) = (port.connect(), Instant::now());
    client.get("/").await;
    client.hear("hello").await;
    let text = lines.text();
    assert!(since.elapsed() > Duration::from_secs(2), "it does not spin");
    assert_eq!(
        text.matches("the API cannot accept connections").count(),
        1,
        "{text}"
    );
    assert!(text.contains("Too many open files"), "{text}");
    assert!(
        text.contains("the API accepts connections again after 8 failures"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn header_names_are_spelled_as_clients_look_for_them() {
    let port = Port::open(HttpLimits::default());
    let mut client = port.connect();
    client.get("/").await;
    let head = client.hear("\r\n\r\n").await;
    assert!(head.contains("\r\nX-Message-Id: 7\r\n"), "{head}");
    assert!(head.contains("\r\nContent-Type: text/plain"), "{head}");
}
