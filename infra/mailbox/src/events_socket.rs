//! `GET /api/events`: what changes in the mailbox, as messages of a WebSocket (RFC 6455) of the form of Mailpit's.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::app::{App, Refusal};
use crate::mailbox::{ChangeCount, Mailbox, MailboxNews};

/// How long the answer to the end of a connection is waited for.
const CLOSING: Duration = Duration::from_secs(2);

/// How long a client may take to receive a message.
const SENDING: Duration = Duration::from_secs(10);

/// What a key is hashed with (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Bytes of a message of the client, which has nothing to say.
const LARGEST: usize = 4096;

/// Answers with 101, and goes on as a WebSocket.
pub(crate) async fn open(State(app): State<App>, mut request: Request) -> Response {
    let Some(accept) = accept_key(request.headers()) else {
        let why = "this is a WebSocket of version 13: connect to it with such a client";
        let needs = [
            (header::UPGRADE, "websocket"),
            (header::SEC_WEBSOCKET_VERSION, "13"),
        ];
        return (StatusCode::UPGRADE_REQUIRED, needs, why).into_response();
    };
    let Some(upgrade) = request.extensions_mut().remove::<OnUpgrade>() else {
        let why = "this server cannot upgrade the connection";
        return Refusal::Bad(why.to_owned()).into_response();
    };
    let Ok(permit) = app.sockets.clone().try_acquire_owned() else {
        return Refusal::TooMany("WebSockets").into_response();
    };
    // Before the answer, so that nothing is missed after it.
    let watch = Watch {
        news: app.mailbox.news(),
        state: app.mailbox.watch(),
        mailbox: app.mailbox,
    };
    tokio::spawn(async move {
        match upgrade.await {
            Ok(upgraded) => watch.run(upgraded, permit).await,
            Err(error) => tracing::debug!(%error, "no WebSocket came about: {error}"),
        }
    });
    let headers = [
        (header::UPGRADE, HeaderValue::from_static("websocket")),
        (header::CONNECTION, HeaderValue::from_static("Upgrade")),
        (header::SEC_WEBSOCKET_ACCEPT, accept),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response()
}

/// The answer to the key of a handshake; `None` if the request is none.
fn accept_key(headers: &HeaderMap) -> Option<HeaderValue> {
    let is = |name: header::HeaderName, want: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        let mut words = value.unwrap_or_default().split(',').map(str::trim);
        words.any(|word| word.eq_ignore_ascii_case(want))
    };
    let is_handshake = is(header::UPGRADE, "websocket")
        && is(header::CONNECTION, "upgrade")
        && is(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers
        .get(header::SEC_WEBSOCKET_KEY)
        .filter(|_| is_handshake)?;
    let hashed = [key.as_bytes(), GUID.as_bytes()].concat();
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, &hashed);
    HeaderValue::from_str(&STANDARD.encode(hash)).ok()
}

/// What one client is sent.
struct Watch {
    news: tokio::sync::broadcast::Receiver<MailboxNews>,
    state: tokio::sync::watch::Receiver<ChangeCount>,
    mailbox: Mailbox,
}

impl Watch {
    /// Sends until the client or the mailbox closes.
    async fn run(mut self, upgraded: Upgraded, _permit: OwnedSemaphorePermit) {
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST))
            .max_frame_size(Some(LARGEST));
        let io = TokioIo::new(upgraded);
        let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        loop {
            let message = tokio::select! {
                biased;
                news = self.news.recv() => match news {
                    Ok(news) => shown(&news),
                    // A slow client looks again instead.
                    Err(RecvError::Lagged(_)) => shown(&MailboxNews::Pruned),
                    Err(RecvError::Closed) => break,
                },
                changed = self.state.changed() => {
                    let is_closed = *self.state.borrow_and_update() == ChangeCount::Closed;
                    if changed.is_err() || is_closed {
                        break;
                    }
                    match self.stats().await {
                        Some(stats) => stats,
                        None => break,
                    }
                },
                received = socket.next() => match received {
                    Some(Ok(message)) if !message.is_close() => continue,
                    Some(_) | None => break,
                },
            };
            // A client that reads nothing holds no connection and no permit.
            let text = Message::text(message.to_string());
            let sent = timeout(SENDING, socket.send(text)).await;
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
        let _ = timeout(CLOSING, socket.close(None)).await;
        // The client answers so; a connection that closes before with bytes unread would lose what was sent.
        let answered = async { while let Some(Ok(_)) = socket.next().await {} };
        let _ = timeout(CLOSING, answered).await;
    }

    async fn stats(&self) -> Option<Value> {
        let totals = self.mailbox.counts().await.ok()?.totals;
        let version = concat!("posthaste/", env!("CARGO_PKG_VERSION"));
        Some(json!({"Type": "stats", "Data": {
            "Total": totals.total, "Unread": totals.unread, "Version": version,
        }}))
    }
}

fn shown(news: &MailboxNews) -> Value {
    let (kind, data) = match news {
        MailboxNews::Arrived(summary) => ("new", json!(summary)),
        MailboxNews::Read(id, read) => ("update", json!({"ID": id, "Read": read})),
        MailboxNews::Tagged(id, tags) => ("update", json!({"ID": id, "Tags": tags})),
        MailboxNews::Deleted(id) => ("delete", json!({"ID": id})),
        MailboxNews::Pruned => ("prune", Value::Null),
        MailboxNews::Emptied => ("truncate", Value::Null),
    };
    json!({"Type": kind, "Data": data})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_answered_as_the_standard_says() {
        let handshake = |version: &'static str| {
            HeaderMap::from_iter([
                (header::UPGRADE, HeaderValue::from_static("WebSocket")),
                (
                    header::CONNECTION,
                    HeaderValue::from_static("keep-alive, Upgrade"),
                ),
                (
                    header::SEC_WEBSOCKET_VERSION,
                    HeaderValue::from_static(version),
                ),
                (
                    header::SEC_WEBSOCKET_KEY,
                    HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="),
                ),
            ])
        };
        // The example of RFC 6455, section 1.3.
        let accepted = accept_key(&handshake("13")).unwrap();
        assert_eq!(accepted, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(accept_key(&handshake("8")), None);
        assert_eq!(accept_key(&HeaderMap::new()), None);
    }
}
