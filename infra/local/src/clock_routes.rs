//! `/api/v1/clock` on the mailbox's port: reads a clock that is turned by hand, and advances it.

use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use posthaste_model::Millis;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::turnable_clock::ClockHand;

/// Bytes of a request.
const LARGEST: usize = 1024;

/// The longest span of one request: ten years, in milliseconds.
const LONGEST: i64 = 10 * 365 * 24 * 3_600_000;

/// The routes; without a hand they say what is missing.
pub(crate) fn routes(hand: Option<ClockHand>) -> Router {
    Router::new()
        .route("/api/v1/clock", get(read).post(advance))
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(hand)
}

/// `{"Advance": "72h"}`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct ClockRequest {
    advance: String,
}

/// `GET /api/v1/clock`.
async fn read(State(hand): State<Option<ClockHand>>) -> Response {
    match hand {
        Some(hand) => Json(shown(&hand, hand.now())).into_response(),
        None => no_clock(),
    }
}

/// `POST /api/v1/clock`: answers once everything that became due is done.
async fn advance(State(hand): State<Option<ClockHand>>, body: String) -> Response {
    let Some(hand) = hand else {
        return no_clock();
    };
    let request: ClockRequest = match serde_json::from_str(&body) {
        Ok(request) => request,
        Err(error) => {
            let why = format!("the body is not of the form {{\"Advance\": \"72h\"}}: {error}");
            return text(StatusCode::BAD_REQUEST, &why);
        }
    };
    let Some(by) = span(&request.advance) else {
        let why = "Advance is a time such as 500ms, 30s, 15m, 72h or 3d, of at most 3650d";
        return text(StatusCode::BAD_REQUEST, why);
    };
    match hand.advance(by).await {
        Ok(advanced) => {
            let mut shown = shown(&hand, advanced.now);
            if let Some(fields) = shown.as_object_mut() {
                fields.insert("Steps".to_owned(), advanced.steps.into());
            }
            Json(shown).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the clock could not be advanced: {error}");
            text(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())
        }
    }
}

fn shown(hand: &ClockHand, now: Millis) -> Value {
    json!({"Now": now.seconds().iso(), "StandsStill": hand.stands_still()})
}

fn no_clock() -> Response {
    let why = "the clock of this host is not turned by hand: start it with --memory --clock";
    text(StatusCode::NOT_FOUND, why)
}

fn text(status: StatusCode, text: &str) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (status, kind, text.to_owned()).into_response()
}

/// `500ms`, `30s`, `15m`, `72h` or `3d`.
fn span(text: &str) -> Option<Millis> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match text.get(number.len()..)? {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let millis = digits
        .then(|| number.parse::<i64>().ok())
        .flatten()?
        .checked_mul(scale)?;
    (millis <= LONGEST).then_some(Millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_number_and_a_unit() {
        for (text, want) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("15m", Some(900_000)),
            ("72h", Some(259_200_000)),
            ("3650d", Some(LONGEST)),
            ("3651d", None),
            ("0s", Some(0)),
            ("", None),
            ("h", None),
            ("72", None),
            ("-1h", None),
            ("+1h", None),
            ("1.5h", None),
            ("1 h", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(span(text).map(|span| span.0), want, "{text}");
        }
    }
}
