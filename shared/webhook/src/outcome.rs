//! The outcome of one POST.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use posthaste_model::Timestamp;

use crate::Refusal;

/// When the receiver requests a retry (RFC 9110, section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    In(Duration),
    At(Timestamp),
}

impl RetryAfter {
    /// Parses the header: seconds, or a date in any of the three forms of HTTP. Otherwise `None`.
    pub fn read(value: &str) -> Option<Self> {
        let value = value.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Self::In(Duration::from_secs(seconds)));
        }
        let date = httpdate::parse_http_date(value).ok()?;
        let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self::At(Timestamp(since.as_secs().try_into().ok()?)))
    }

    /// The earliest second of the requested retry.
    pub fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::In(wait) => now.plus(wait.as_secs().try_into().unwrap_or(i64::MAX)),
            Self::At(at) => at,
        }
    }
}

/// How far a request got before it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestStage {
    /// The name has no address, or the lookup failed.
    Name,
    /// TCP or TLS.
    Connect,
    /// The connection broke, or what came back is not HTTP.
    Exchange,
}

/// The answer of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    pub status: StatusCode,
    pub retry_after: Option<RetryAfter>,
    /// The beginning of the body as it came: nothing is decompressed.
    pub body_head: Bytes,
    pub took_ms: u64,
}

/// Why the token URL returned no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenProblem {
    #[error("the token URL answered {}", .0.as_u16())]
    Status(StatusCode),
    /// What is missing from or wrong in the answer.
    #[error("the token URL's answer {0}")]
    Answer(&'static str),
    /// No answer in time: each further request waits again.
    #[error("the token URL could not be asked: no answer in time")]
    TimedOut,
    /// The request got no answer; the text of its outcome.
    #[error("the token URL could not be asked: {0}")]
    Unanswered(String),
}

/// The result of one POST. The text describes it in one line, without address or secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum PostOutcome {
    Answered(HttpAnswer),
    /// The guard refuses the address.
    Refused(Refusal),
    Unreachable {
        stage: RequestStage,
        detail: String,
    },
    TimedOut,
    /// The receiver requires OAuth and its token URL returned no token: nothing was posted.
    NoToken(TokenProblem),
    /// What secures the posts to the receiver cannot be used, for this reason: nothing was posted.
    Unsecured(String),
}

impl PostOutcome {
    /// The status, when there was an answer.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Answered(answer) => Some(answer.status),
            Self::Refused(_)
            | Self::Unreachable { .. }
            | Self::TimedOut
            | Self::NoToken(_)
            | Self::Unsecured(_) => None,
        }
    }

    /// Whether the receiver accepted the request: any 2xx (API facts 3.1).
    pub fn is_success(&self) -> bool {
        self.status().is_some_and(|status| status.is_success())
    }

    /// When the receiver requested a retry.
    pub fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::Answered(answer) => answer.retry_after,
            Self::Refused(_)
            | Self::Unreachable { .. }
            | Self::TimedOut
            | Self::NoToken(_)
            | Self::Unsecured(_) => None,
        }
    }
}

impl fmt::Display for PostOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(answer) => write!(f, "answered {}", answer.status.as_u16()),
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
            Self::Unreachable { stage, detail } => {
                let stage = match stage {
                    RequestStage::Name => "the host name does not resolve",
                    RequestStage::Connect => "no connection",
                    RequestStage::Exchange => "the connection broke",
                };
                write!(f, "{stage}: {detail}")
            }
            Self::TimedOut => f.write_str("no answer in time"),
            Self::NoToken(problem) => write!(f, "no OAuth token: {problem}"),
            Self::Unsecured(reason) => write!(f, "not posted: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some(RetryAfter::At(Timestamp(784_111_777)));
        let seconds = |n| Some(RetryAfter::In(Duration::from_secs(n)));
        for (value, want) in [
            ("0", seconds(0)),
            (" 120 ", seconds(120)),
            ("4294967295", seconds(4_294_967_295)),
            ("18446744073709551615", seconds(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", date),
            ("Sunday, 06-Nov-94 08:49:37 GMT", date),
            ("Sun Nov  6 08:49:37 1994", date),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("99999999999999999999", None),
            ("Sun, 32 Nov 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(RetryAfter::read(value), want, "{value:?}");
        }
    }

    #[test]
    fn only_two_hundreds_are_success() {
        for code in 100..=599 {
            let outcome = PostOutcome::Answered(HttpAnswer {
                status: StatusCode::from_u16(code).unwrap(),
                retry_after: None,
                body_head: Bytes::new(),
                took_ms: 1,
            });
            assert_eq!(outcome.is_success(), code / 100 == 2, "{code}");
        }
        assert!(!PostOutcome::TimedOut.is_success());
    }
}
