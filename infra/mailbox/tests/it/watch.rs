//! The changes of the mailbox on a WebSocket.

use axum::http::StatusCode;
use futures_util::{SinkExt as _, StreamExt as _};
use posthaste_mailbox::Sources;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::support::{Box, mail};

/// A mailbox on a port, and a connection to it after this handshake, whose answer is returned too.
async fn handshake(b: &Box, fields: &str) -> (String, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = b.router.clone();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /api/events HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (String::from_utf8(head).unwrap(), stream)
}

const FIELDS: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

async fn open(b: &Box) -> WebSocketStream<TcpStream> {
    let (head, stream) = handshake(b, FIELDS).await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="),
        "{head}"
    );
    WebSocketStream::from_raw_socket(stream, Role::Client, None).await
}

/// The next message of this type.
async fn next(socket: &mut WebSocketStream<TcpStream>, kind: &str) -> Value {
    loop {
        let message = socket.next().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        if message["Type"] == kind {
            return message["Data"].clone();
        }
    }
}

#[tokio::test]
async fn each_change_is_a_message() {
    let b = Box::new();
    let mut socket = open(&b).await;
    let raw = mail("f@x.example", "a@x.example", "one", "hi");
    let id = b.deliver(&["a@x.example"], raw).await;
    let new = next(&mut socket, "new").await;
    assert_eq!((&new["ID"], &new["Subject"]), (&json!(id), &json!("one")));
    let stats = next(&mut socket, "stats").await;
    assert_eq!((&stats["Total"], &stats["Unread"]), (&json!(1), &json!(1)));
    b.get(&format!("/api/v1/message/{id}")).await;
    let read = next(&mut socket, "update").await;
    assert_eq!(read, json!({"ID": id, "Read": true}));
    let body = json!({"IDs": [id], "Tags": ["x"]}).to_string();
    b.ask("PUT", "/api/v1/tags", &[], &body).await;
    let tagged = next(&mut socket, "update").await;
    assert_eq!(tagged, json!({"ID": id, "Tags": ["x"]}));
    b.ask("DELETE", "/api/v1/tags/x", &[], "").await;
    assert_eq!(next(&mut socket, "prune").await, Value::Null);
    let body = json!({"IDs": [id]}).to_string();
    b.ask("DELETE", "/api/v1/messages", &[], &body).await;
    assert_eq!(next(&mut socket, "delete").await, json!({"ID": id}));
    b.deliver(&["a@x.example"], "Subject: two\r\n\r\n").await;
    b.ask("DELETE", "/api/v1/messages", &[], "").await;
    assert_eq!(next(&mut socket, "truncate").await, Value::Null);
    // What a client sends is ignored, and the mailbox closes it when it closes itself.
    socket.send(Message::text("hello")).await.unwrap();
    b.mailbox.close();
    while let Some(Ok(message)) = socket.next().await {
        if message.is_close() {
            return;
        }
    }
    panic!("the socket was not closed");
}

#[tokio::test]
async fn another_site_and_another_protocol_are_refused() {
    let b = Box::with(Sources::default(), 10);
    for (fields, status) in [
        (format!("{FIELDS}Origin: http://evil.example\r\n"), 403),
        (
            format!("{FIELDS}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: websocket\r\n"),
            403,
        ),
        (format!("{FIELDS}Origin: http://localhost\r\n"), 101),
        (FIELDS.replace("13", "8"), 426),
        (String::new(), 426),
    ] {
        let (head, _) = handshake(&b, &fields).await;
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status} ")),
            "{fields}{head}"
        );
    }
    assert_eq!(
        b.get("/api/events").await.status,
        StatusCode::UPGRADE_REQUIRED
    );
}
