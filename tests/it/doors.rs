//! What the ports do with clients that are slow, broken or in the way of others.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};

use posthaste_offload::{UNKNOWN, concurrency};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinHandle;

use crate::service::{Service, mail};
use crate::smtp::Smtp;

/// Takes every place for heavy work until the sender is dropped.
async fn all_busy() -> (mpsc::Sender<()>, Vec<JoinHandle<()>>) {
    let (gate, closed) = mpsc::channel::<()>();
    let closed = Arc::new(Mutex::new(closed));
    let (begun, mut begins) = unbounded_channel();
    let work = |_| {
        let (closed, begun) = (closed.clone(), begun.clone());
        tokio::spawn(posthaste_offload::run(UNKNOWN, move || {
            begun.send(()).expect("the test waits");
            // Ends with an error when the sender is dropped.
            let _ = closed.lock().expect("no panic").recv();
        }))
    };
    let running = (0..concurrency()).map(work).collect();
    for _ in 0..concurrency() {
        begins.recv().await.expect("it runs");
    }
    (gate, running)
}

/// A mail past the size that is worked on at once.
fn large() -> Value {
    let mut large = mail("large@example.com");
    large["content"][0]["value"] = json!("It works. ".repeat(100_000));
    large
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_something_slow_runs_every_port_answers_at_once() {
    let service = Arc::new(Service::start().await);
    let accepted = service.send(&large()).await;
    service.states(&accepted, 1).await;

    let (gate, running) = all_busy().await;
    let sender = service.clone();
    let by_http = tokio::spawn(async move { sender.send(&large()).await });
    let (port, key) = (service.host().submission, service.key().to_owned());
    let by_smtp = tokio::spawn(async move {
        let message = format!(
            "From: app@example.com\r\nSubject: large\r\n\r\n{}",
            "It works.\r\n".repeat(100_000)
        );
        let mut smtp = Smtp::logged_in(port, &key).await;
        smtp.taken(&["large@example.com"], message.as_bytes()).await
    });

    // The API, the mailbox, the port for mail from outside, and submission; and a small mail by
    // each way arrives.
    let scopes = service.call(Method::GET, "/v3/scopes", &Value::Null).await;
    assert_eq!(scopes.status(), 200);
    service.send(&mail("small@example.com")).await;
    let (_, offers) = Smtp::greeted(service.smtp()).await;
    assert!(offers.starts_with("250"), "{offers}");
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let small = b"From: app@example.com\r\nSubject: small\r\n\r\nIt works.\r\n";
    smtp.taken(&["small@example.com"], small).await;
    service.mails(3).await;
    assert!(!by_http.is_finished() && !by_smtp.is_finished());

    drop(gate);
    for one in running {
        one.await.expect("no panic");
    }
    by_http.await.expect("it is accepted");
    by_smtp.await.expect("it is accepted");
    service.mails(5).await;
    if let Some(service) = Arc::into_inner(service) {
        service.stop().await;
    }
}

/// Sends bytes and hears the answer to its end, which the server makes or the request asked for.
pub(crate) async fn exchange(port: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(port).await.expect("the port listens");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("it answers");
    String::from_utf8(answer).expect("text")
}

/// A request to the API, up to its other fields and the body.
pub(crate) fn post(path: &str, key: &str, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
        Content-Type: application/json\r\nConnection: close\r\n{more}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn header_names_leave_in_the_spelling_that_clients_look_for() {
    let service = Service::start().await;
    let body = mail("ann@example.com").to_string();
    let more = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let answer = exchange(
        service.host().api,
        &post("/v3/mail/send", service.key(), &more),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 202 Accepted\r\n"), "{answer}");
    for name in [
        "X-Message-Id",
        "X-Ratelimit-Limit",
        "X-Ratelimit-Remaining",
        "X-Ratelimit-Reset",
    ] {
        assert!(
            answer.contains(&format!("\r\n{name}: ")),
            "{name} in {answer}"
        );
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_body_is_a_bad_request_and_not_one_too_large() {
    let service = Service::start().await;
    for path in ["/v3/mail/send", "/v3/templates"] {
        for broken in ["zz\r\n{}\r\n0\r\n\r\n", "9\r\n{}\r\n0\r\n\r\n\r\n\r\n"] {
            let more = format!("Transfer-Encoding: chunked\r\n\r\n{broken}");
            let answer = exchange(service.host().api, &post(path, service.key(), &more)).await;
            assert!(
                answer.starts_with("HTTP/1.1 400 "),
                "{path} {broken:?}: {answer}"
            );
            let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
            let body: Value = serde_json::from_str(body).expect("JSON");
            let told = &body["errors"][0]["message"];
            assert_eq!(
                told, "the request body could not be read",
                "{path} {broken:?}"
            );
        }
    }
    service.stop().await;
}

/// What is answered to settings that would make this host post to itself: a webhook, the address
/// where a webhook's token comes from, and received mail. The status, and the field at fault.
async fn posting_to_loopback(service: &Service) -> [(u16, String); 3] {
    let (webhooks, parse) = (
        "/v3/user/webhooks/event/settings",
        "/v3/user/webhooks/parse/settings",
    );
    let domain = json!({"domain": "shop.example"});
    let made = service.call(Method::POST, "/v3/whitelabel/domains", &domain);
    assert_eq!(made.await.status(), 201);
    let own = "http://127.0.0.1:8080/hook";
    let token = json!({
        "url": "http://192.0.43.8/hook", "enabled": true, "delivered": true,
        "oauth_client_id": "id", "oauth_client_secret": "secret", "oauth_token_url": own,
    });
    let mut answers = <[(u16, String); 3]>::default();
    for (told, (path, body)) in answers.iter_mut().zip([
        (
            webhooks,
            json!({"url": own, "enabled": true, "delivered": true}),
        ),
        (webhooks, token),
        (parse, json!({"url": own, "hostname": "in.shop.example"})),
    ]) {
        let answer = service.call(Method::POST, path, &body).await;
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.expect("JSON");
        let field = body["errors"][0]["field"].as_str().unwrap_or_default();
        *told = (status, field.to_owned());
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_host_that_others_cannot_reach_posts_to_itself() {
    let made = || (201, String::new());
    let refused = |field: &str| (400, field.to_owned());
    let alone = Service::start().await;
    let all_made = [made(), made(), made()];
    assert_eq!(posting_to_loopback(&alone).await, all_made);
    alone.stop().await;

    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let open = Service::with(|settings| settings.smtp = everywhere).await;
    let all_refused = [refused("url"), refused("oauth_token_url"), refused("url")];
    assert_eq!(posting_to_loopback(&open).await, all_refused);
    open.stop().await;

    let permitted = Service::with(|settings| {
        settings.smtp = everywhere;
        settings.allow_private_webhooks = true;
    });
    let permitted = permitted.await;
    assert_eq!(posting_to_loopback(&permitted).await, all_made);
    permitted.stop().await;
}
