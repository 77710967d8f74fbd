//! A server that is told to stop.

use std::time::Duration;

use posthaste_smtpd::{Config, SmtpLimits};

use crate::client::{Client, code};
use crate::{Server, config};

#[tokio::test]
async fn a_stopping_server_lets_go_of_the_idle_and_finishes_mails() {
    let server = Server::start(config()).await;
    let mut idle = Client::greeted(&server).await;
    let mut busy = Client::greeted(&server).await;
    busy.begin().await;
    busy.send(b"half\r\n").await;
    server.stop.send(()).unwrap();
    assert_eq!(idle.read().await, "421 4.3.2 the server is stopping");
    assert!(
        tokio::net::TcpStream::connect(server.addr).await.is_err(),
        "nobody new gets in"
    );
    busy.send(b"the other half\r\n.\r\n").await;
    assert_eq!(code(&busy.read().await), 250);
    assert_eq!(busy.read().await, "421 4.3.2 the server is stopping");
    drop((idle, busy));
    server.running.await.unwrap();
    let mails = server.inbox.mails.lock().unwrap();
    assert_eq!(mails[0].2, b"half\r\nthe other half\r\n");
}

#[tokio::test]
async fn a_stopping_server_does_not_wait_for_ever() {
    let limits = SmtpLimits {
        farewell: Duration::from_millis(100),
        ..SmtpLimits::default()
    };
    let server = Server::start(Config { limits, ..config() }).await;
    let mut slow = Client::greeted(&server).await;
    slow.begin().await;
    server.stop.send(()).unwrap();
    server.running.await.unwrap();
    assert_eq!(slow.read().await, "", "the connection is closed");
    assert!(server.inbox.mails.lock().unwrap().is_empty());
}
