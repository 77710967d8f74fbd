//! The lines of a development server: one for each request, and one for each end of a mail. `--quiet` hides them.

use axum::Router;
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use posthaste_model::{Event, EventKind, Masked};
use posthaste_queue::{EventBatch, SqsEvent};
use serde_json::Value;
use tracing::Level;

/// The longest body of an error that is read for its first problem.
const LONGEST_ERROR: usize = 64 * 1024;

/// The routes, with a line for each request.
pub(crate) fn requests(routes: Router) -> Router {
    routes.layer(middleware::from_fn(log_request))
}

async fn log_request(request: Request, next: Next) -> Response {
    if !tracing::enabled!(Level::INFO) {
        return next.run(request).await;
    }
    let (method, path) = (request.method().clone(), shown(request.uri().path()));
    let response = next.run(request).await;
    let status = response.status();
    let (response, problem) = first_problem(response).await;
    let id = response.headers().get("x-message-id");
    let id = id.and_then(|id| id.to_str().ok());
    let id = id.map(|id| format!(" {id}")).unwrap_or_default();
    let problem = problem.map(|text| format!(": {text}")).unwrap_or_default();
    let status = status.as_u16();
    tracing::info!("{method} {path} {status}{id}{problem}");
    response
}

/// A path without addresses, without the tokens of links (`/senders/verify/TOKEN`,
/// `/forwards/confirm/TOKEN`), which let their bearer confirm an address, and without what would end
/// the line.
fn shown(path: &str) -> String {
    let mut last = "";
    let segments = path.split('/').map(|segment| {
        let has_address = segment.contains('@') || segment.to_ascii_lowercase().contains("%40");
        let is_token = matches!(last, "confirm" | "verify");
        last = segment;
        if has_address || is_token {
            "***"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The message of the first problem of a refused request, and the response as it was.
async fn first_problem(response: Response) -> (Response, Option<String>) {
    let is_small = response.body().size_hint().upper() <= Some(LONGEST_ERROR as u64);
    let has_bound = response.body().size_hint().upper().is_some();
    if response.status() < StatusCode::BAD_REQUEST || !has_bound || !is_small {
        return (response, None);
    }
    let (head, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, LONGEST_ERROR).await else {
        return (Response::from_parts(head, Body::empty()), None);
    };
    let json: Option<Value> = serde_json::from_slice(&bytes).ok();
    let message = json.as_ref().and_then(|json| {
        let message = json.pointer("/errors/0/message")?;
        message.as_str().map(masked)
    });
    (Response::from_parts(head, Body::from(bytes)), message)
}

/// A text on one line, without the addresses in it.
fn masked(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        if word.contains('@') {
            Masked(word.trim_matches(|c: char| !c.is_alphanumeric())).to_string()
        } else {
            word.replace(char::is_control, "?")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Logs what became of mails, out of the messages of the events queue.
pub(crate) fn log_mails(messages: &SqsEvent) {
    let bodies = messages
        .records
        .iter()
        .filter_map(|one| one.body.as_deref());
    // What cannot be read is reported by the worker.
    let batches = bodies.filter_map(|body| EventBatch::from_text(body).ok());
    for event in batches.flat_map(|batch| batch.events) {
        if let Some(line) = of_event(&event) {
            tracing::info!("{line}");
        }
    }
}

/// The line about an event; `None` for those that are no step of a mail's way.
fn of_event(event: &Event) -> Option<String> {
    let word = match event.kind {
        EventKind::Processed => "accepted",
        EventKind::Delivered => "delivered",
        EventKind::Deferred => "deferred",
        EventKind::Bounce => "bounced",
        EventKind::Dropped => "dropped",
        EventKind::Open
        | EventKind::Click
        | EventKind::SpamReport
        | EventKind::Unsubscribe
        | EventKind::GroupUnsubscribe
        | EventKind::GroupResubscribe
        | EventKind::AccountStatusChange => return None,
    };
    let id = event.message.as_ref().map(ToString::to_string);
    let id = id.map(|id| format!(" {id}")).unwrap_or_default();
    let why = event.reason.as_deref().or(event.response.as_deref());
    let why = why
        .filter(|_| event.kind != EventKind::Delivered)
        .map(masked);
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Some(format!("mail{id} to {} {word}{why}", Masked(&event.email)))
}

#[cfg(test)]
mod tests {
    use posthaste_model::{AccountId, Timestamp};

    use super::*;

    #[test]
    fn a_path_and_a_reason_are_shown_without_addresses() {
        for (path, want) in [
            ("/v3/mail/send", "/v3/mail/send"),
            (
                "/v3/suppression/bounces/ann@example.com",
                "/v3/suppression/bounces/***",
            ),
            (
                "/v3/asm/suppressions/global/ann%40example.com",
                "/v3/asm/suppressions/global/***",
            ),
            ("/forwards/confirm/t0ken", "/forwards/confirm/***"),
            ("/senders/verify/t0ken", "/senders/verify/***"),
            (
                "/v3/verified_senders/verify/t0ken",
                "/v3/verified_senders/verify/***",
            ),
        ] {
            assert_eq!(shown(path), want);
        }
        let said = masked("550 5.1.1\r\n<ann@example.com>: no such\u{1b}user");
        assert_eq!(said, "550 5.1.1 a***@***.com no such?user");
    }

    #[test]
    fn an_end_of_a_mail_is_a_line_with_its_reason() {
        let account = AccountId::parse("abcdefghij").unwrap();
        let line = |kind, reason: Option<&str>| {
            let email = "ann@example.com".to_owned();
            let mut event = Event::new("e".to_owned(), account.clone(), kind, Timestamp(1), email);
            event.reason = reason.map(str::to_owned);
            of_event(&event)
        };
        let dropped = line(EventKind::Dropped, Some("Bounced Address"));
        assert_eq!(
            dropped.as_deref(),
            Some("mail to a***@***.com dropped: Bounced Address")
        );
        let delivered = line(EventKind::Delivered, None);
        assert_eq!(delivered.as_deref(), Some("mail to a***@***.com delivered"));
        assert_eq!(line(EventKind::Open, None), None);
    }

    #[tokio::test]
    async fn the_body_of_a_refusal_is_read_and_passed_on() {
        let body = r#"{"errors":[{"message":"The from address is missing","field":"from"}]}"#;
        let refusal = || {
            Response::builder()
                .status(400)
                .body(Body::from(body))
                .unwrap()
        };
        let (response, problem) = first_problem(refusal()).await;
        assert_eq!(problem.as_deref(), Some("The from address is missing"));
        let whole = to_bytes(response.into_body(), 1024).await.unwrap();
        assert_eq!(whole, body.as_bytes());
        let (mut done, _) = first_problem(refusal()).await;
        *done.status_mut() = StatusCode::OK;
        assert_eq!(first_problem(done).await.1, None);
    }
}
