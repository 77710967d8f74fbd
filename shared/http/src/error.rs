//! The only error a handler returns, and the one shape a caller sees (SPEC, "Errors").

use std::fmt;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use posthaste_model::{Problem, Problems, Timestamp};
use posthaste_store::StoreError;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::RateDecision;

/// The path of the catalogue of errors, in which each error has an anchor.
pub const CATALOGUE_PATH: &str = "/docs/errors";

/// The anchor of the entry about ids and names of which the account has nothing.
pub const UNKNOWN_ID: &str = "unknown-id";

/// Seconds after which a request that could not be served may be sent again.
const RETRY_AFTER: &str = "5";

/// The forms of an error item (API facts, section 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `field`, `message`, and `help` where there is any.
    #[default]
    General,
    /// mail/send: `message`, `field`, `help`, all three always present.
    Mail,
    /// `verified_senders`: `field`, `message`, `error_id` (API facts, appendix C).
    Senders,
}

/// A refused request: a status and the public reasons.
#[derive(Clone, Debug)]
pub struct Rejection {
    pub status: StatusCode,
    pub problems: Vec<Problem>,
    pub dialect: Dialect,
    /// Members some endpoints add beside `message` (a webhook's `id` and `url`).
    pub extra: Map<String, Value>,
    /// The limit that was reached, if it is not the endpoint's own: its headers replace those of
    /// the endpoint.
    pub limited: Option<Limited>,
}

/// The members of an item in the order that clients expect.
#[derive(Serialize)]
#[serde(untagged)]
enum ErrorItem<'e> {
    General {
        field: Option<&'e str>,
        message: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<Help>,
        #[serde(flatten)]
        extra: &'e Map<String, Value>,
    },
    Senders {
        field: Option<&'e str>,
        message: &'e str,
        error_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<Help>,
        #[serde(flatten)]
        extra: &'e Map<String, Value>,
    },
    Mail {
        message: &'e str,
        field: Option<&'e str>,
        help: Option<Help>,
        #[serde(flatten)]
        extra: &'e Map<String, Value>,
    },
}

/// An object (SPEC, "Errors"); clients print it.
#[derive(Serialize)]
struct Help {
    text: String,
}

#[derive(Serialize)]
struct ErrorBody<'e> {
    errors: Vec<ErrorItem<'e>>,
}

/// A limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    pub permit: RateDecision,
    /// Seconds until the period ends.
    pub retry_after: i64,
}

impl Rejection {
    /// A status with one reason about the whole request.
    pub fn plain(status: StatusCode, message: impl Into<String>) -> Self {
        Self::all(status, vec![Problem::plain(message)])
    }

    /// A status with reasons.
    pub fn all(status: StatusCode, problems: Vec<Problem>) -> Self {
        Self {
            status,
            problems,
            dialect: Dialect::General,
            extra: Map::new(),
            limited: None,
        }
    }

    /// 429, the generic body, for a limit of `limit` in a period that ends at `until`. The
    /// rate-limit headers name that limit, and `Retry-After` the seconds to its end.
    pub fn too_many(limit: u32, until: Timestamp, now: Timestamp) -> Self {
        let permit = RateDecision {
            allowed: false,
            limit,
            remaining: 0,
            reset: until,
        };
        let retry_after = until.since(now).max(1);
        Self {
            limited: Some(Limited {
                permit,
                retry_after,
            }),
            ..Self::plain(StatusCode::TOO_MANY_REQUESTS, "too many requests")
        }
    }

    /// 401, as mail/send answers for a disabled or suspended account.
    pub fn not_authorized_to_send() -> Self {
        let message = "Authenticated user is not authorized to send mail";
        Self::plain(StatusCode::UNAUTHORIZED, message)
    }

    /// 400 about one field.
    pub fn on(field: &str, message: impl Into<String>) -> Self {
        Self::all(StatusCode::BAD_REQUEST, vec![Problem::on(field, message)])
    }

    /// 400 about the whole request.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::BAD_REQUEST, message)
    }

    /// 401, the generic body.
    pub fn unauthorized() -> Self {
        Self::plain(StatusCode::UNAUTHORIZED, "authorization required")
    }

    /// 403, the generic body.
    pub fn forbidden() -> Self {
        Self::plain(StatusCode::FORBIDDEN, "access forbidden")
    }

    /// 404: the path has the form of one that is served, and the account has nothing with the id or
    /// the name in it.
    pub fn not_found() -> Self {
        Self::unknown_id([Problem::plain(
            "not found: the account has nothing with the id or name in the path",
        )])
    }

    /// 404 about ids or names of which the account has nothing, in the words of the endpoint.
    pub fn unknown_id(problems: impl Into<Vec<Problem>>) -> Self {
        Self::all(StatusCode::NOT_FOUND, problems.into()).with_help(UNKNOWN_ID)
    }

    /// 500. Logs the cause and does not reveal it to the caller.
    pub fn internal(cause: &dyn fmt::Display) -> Self {
        tracing::error!(http.status = 500, error = %cause, "request failed: {cause}");
        Self::plain(StatusCode::INTERNAL_SERVER_ERROR, "internal server error")
    }

    /// 503, for a temporary failure. Logs the cause.
    pub fn unavailable(cause: &dyn fmt::Display) -> Self {
        tracing::error!(http.status = 503, error = %cause, "request could not be served now: {cause}");
        Self::plain(StatusCode::SERVICE_UNAVAILABLE, "service unavailable")
    }

    /// 503 because other requests take all the capacity at this moment; not logged, because a flood
    /// of them would flood the log.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// With the anchor of an entry in the catalogue of errors, for every reason that has none.
    #[must_use]
    pub fn with_help(mut self, anchor: &str) -> Self {
        for problem in &mut self.problems {
            problem.help.get_or_insert_with(|| anchor.to_owned());
        }
        self
    }

    /// The same refusal in another form.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// With a member beside `message` in every item.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(name.to_owned(), value.into());
        self
    }

    /// Whether an item has a `help`.
    pub(crate) fn has_help(&self) -> bool {
        self.problems.iter().any(|problem| problem.help.is_some())
    }

    /// The body for an installation at this address.
    pub(crate) fn body(&self, public_url: &str) -> Vec<u8> {
        let items = self.problems.iter().map(|p| self.item(p, public_url));
        let errors = items.collect();
        // Texts, numbers and `Value`s always have a form as JSON.
        serde_json::to_vec(&ErrorBody { errors }).unwrap_or_default()
    }

    fn item<'e>(&'e self, problem: &'e Problem, public_url: &str) -> ErrorItem<'e> {
        let field = problem.field.as_deref();
        let message = problem.message.as_str();
        let help = problem.help.as_ref().map(|anchor| Help {
            text: format!("{public_url}{CATALOGUE_PATH}#{anchor}"),
        });
        let extra = &self.extra;
        match self.dialect {
            Dialect::General => ErrorItem::General {
                field,
                message,
                help,
                extra,
            },
            Dialect::Senders => ErrorItem::Senders {
                field,
                message,
                error_id: self.error_id(problem),
                help,
                extra,
            },
            Dialect::Mail => ErrorItem::Mail {
                message,
                field,
                help,
                extra,
            },
        }
    }
}

impl Rejection {
    /// A name of the error that stays the same whatever its message says: `invalid_from_email`,
    /// `not_found`. The v3 API documents that there is one, and no values.
    fn error_id(&self, problem: &Problem) -> String {
        match &problem.field {
            Some(field) => format!("invalid_{field}"),
            None => {
                let reason = self.status.canonical_reason().unwrap_or("error");
                reason.to_lowercase().replace(' ', "_")
            }
        }
    }
}

impl From<StoreError> for Rejection {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Throttled(_) | StoreError::Contended(_) => Self::unavailable(&error),
            StoreError::Unreadable(_) | StoreError::Validation(_) | StoreError::Unreachable(_) => {
                Self::internal(&error)
            }
        }
    }
}

impl From<Problems> for Rejection {
    fn from(problems: Problems) -> Self {
        Self::all(StatusCode::BAD_REQUEST, problems.into_vec())
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, self.body("")).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, json);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        }
        if let Some(limited) = self.limited {
            let seconds = HeaderValue::from(limited.retry_after);
            headers.insert(header::RETRY_AFTER, seconds);
            response.extensions_mut().insert(limited);
        }
        // For the edge, which knows the address that `help` names, and for routes whose errors have
        // another form than the handler knows.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_has_its_members_in_its_order() {
        let body = |rejection: Rejection| {
            String::from_utf8(rejection.body("https://post.example")).unwrap()
        };
        let general = Rejection::on("name", "missing required argument");
        assert_eq!(
            body(general),
            r#"{"errors":[{"field":"name","message":"missing required argument"}]}"#
        );
        let helped = Rejection::bad("no JSON").with_help("invalid-json");
        assert_eq!(
            body(helped),
            r#"{"errors":[{"field":null,"message":"no JSON","help":{"text":"https://post.example/docs/errors#invalid-json"}}]}"#
        );
        let mail = Rejection::bad("Bad Request").in_dialect(Dialect::Mail);
        assert_eq!(
            body(mail),
            r#"{"errors":[{"message":"Bad Request","field":null,"help":null}]}"#
        );
        let senders = Rejection::on("from_email", "already exists").in_dialect(Dialect::Senders);
        assert_eq!(
            body(senders),
            r#"{"errors":[{"field":"from_email","message":"already exists","error_id":"invalid_from_email"}]}"#
        );
        let senders = Rejection::forbidden().in_dialect(Dialect::Senders);
        assert_eq!(
            body(senders),
            r#"{"errors":[{"field":null,"message":"access forbidden","error_id":"forbidden"}]}"#
        );
        let hook = Rejection::bad("taken \"here\"").with("id", "x");
        assert_eq!(
            body(hook),
            r#"{"errors":[{"field":null,"message":"taken \"here\"","id":"x"}]}"#
        );
    }
}
