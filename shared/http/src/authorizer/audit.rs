//! The audit log of an account: what was changed, when, and by whom. The guard of a route writes an entry once the
//! handler has made the change.

use std::sync::Arc;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use percent_encoding::percent_decode_str;
use posthaste_model::{Clock, Masked, cut};
use posthaste_store::{AuditEntry, ChangedBy, Store};
use serde_json::Value;

use super::Authorizer;
use crate::{Caller, RequestId};

/// Calls that are not written down: they change no setting, and programs make them for each mail.
const UNRECORDED: [&str; 5] = [
    "POST /v3/mail/send",
    "POST /v3/mail/batch",
    "POST /v3/validations/email",
    "POST /v3/asm/groups/{group_id}/suppressions/search",
    "POST /v3/templates/{template_id}/versions/{version_id}/preview",
];

/// Bytes of a path, and of an id that an answer has.
const LONGEST: usize = 1_024;

/// The largest answer that is looked into for the id of what was created.
const LARGEST_ANSWER: u64 = 64 << 10;

/// Where answers have the id or name of what was created, the first one counts.
const IDS: [&str; 7] = [
    "api_key_id",
    "id",
    "template_id",
    "policy_id",
    "username",
    "hostname",
    "name",
];

impl Authorizer {
    /// With an audit log that has an entry for so many seconds; 0 writes none. For an authorizer that has no clones yet.
    #[must_use]
    pub fn with_audit_log(mut self, seconds: i64) -> Self {
        if let Some(state) = Arc::get_mut(&mut self.state) {
            state.audit.set_lasts(seconds);
        }
        self
    }

    /// The log of what callers change.
    pub(crate) fn audit(&self) -> &AuditLog {
        &self.state.audit
    }
}

/// Writes the entries.
pub(crate) struct AuditLog {
    store: Store,
    clock: Clock,
    /// Seconds for which an entry is there; 0: nothing is written.
    lasts: i64,
}

/// A call that may change something, of which the request is known.
pub(crate) struct PendingEntry {
    method: Method,
    path: String,
    request: Arc<str>,
    /// Whether the call acts on what its path names, and so creates something only where its answer says so.
    is_of_one: bool,
}

impl AuditLog {
    pub(crate) fn new(store: Store, clock: Clock, lasts: i64) -> Self {
        Self {
            store,
            clock,
            lasts,
        }
    }

    pub(crate) fn set_lasts(&mut self, seconds: i64) {
        self.lasts = seconds;
    }

    /// The call, if it is to be written down should it succeed.
    pub(crate) fn pending(&self, endpoint: &str, request: &Request) -> Option<PendingEntry> {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if self.lasts == 0 || reads || UNRECORDED.contains(&endpoint) {
            return None;
        }
        let RequestId(id) = request.extensions().get()?;
        Some(PendingEntry {
            method: request.method().clone(),
            path: masked(request.uri().path()),
            is_of_one: endpoint.contains('{'),
            request: Arc::clone(id),
        })
    }

    /// Writes down what a caller has changed; returns the answer. A failure does not fail the request, whose change is
    /// made: the log of the function then has the entry.
    pub(crate) async fn record(
        &self,
        pending: PendingEntry,
        caller: &Caller,
        by: ChangedBy,
        answer: Response,
    ) -> Response {
        let status = answer.status();
        if !status.is_success() {
            return answer;
        }
        let creates = status == StatusCode::CREATED || !pending.is_of_one;
        let (created, answer) = if pending.method == Method::POST && creates {
            created(answer).await
        } else {
            (None, answer)
        };
        let session = caller.session.as_deref();
        let key = match session {
            Some(session) => session.key.as_ref(),
            None => Some(&caller.key.id),
        };
        let now = self.clock.now_ms();
        let entry = AuditEntry {
            at: now,
            method: pending.method.to_string(),
            path: pending.path,
            status: status.as_u16(),
            created,
            by,
            name: caller.key.name.clone(),
            key: key
                .filter(|_| by != ChangedBy::Operator)
                .map(ToString::to_string),
            acting_account: caller
                .is_on_behalf()
                .then(|| caller.key.account.to_string()),
            ip: caller.ip,
        };
        let account = caller.id();
        let until = now.seconds().plus(self.lasts);
        let written = self
            .store
            .record_change(account, &pending.request, &entry, until);
        if let Err(error) = written.await {
            let AuditEntry { method, path, .. } = entry;
            tracing::error!(account.id = %account, "the audit log of {account} lacks {method} {path} by {}: {error}", caller.key.id);
        }
        answer
    }
}

/// A path as a person reads it, without the addresses in it.
fn masked(path: &str) -> String {
    let segment = |segment: &str| {
        let text = percent_decode_str(segment).decode_utf8_lossy().into_owned();
        if text.contains('@') {
            return Masked(&text).to_string();
        }
        text
    };
    let segments: Vec<String> = path.split('/').map(segment).collect();
    cut(&segments.join("/"), LONGEST).to_owned()
}

/// The id or name of what an answer says was created, and the answer.
async fn created(answer: Response) -> (Option<String>, Response) {
    let is_small = |size: u64| size <= LARGEST_ANSWER;
    if answer.status() == StatusCode::ACCEPTED
        || !answer.body().size_hint().exact().is_some_and(is_small)
    {
        return (None, answer);
    }
    let (parts, body) = answer.into_parts();
    // The body is complete in memory, so that reading it cannot fail.
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let id = serde_json::from_slice::<Value>(&bytes)
        .ok()
        .and_then(|answer| {
            let found = IDS.iter().find_map(|name| answer.get(name))?;
            let text = match found {
                Value::String(text) if !text.contains('@') => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            Some(cut(&text, LONGEST).to_owned())
        });
    (id, Response::from_parts(parts, Body::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_readable_and_has_no_address() {
        for (path, want) in [
            ("/v3/api_keys/abc", "/v3/api_keys/abc"),
            (
                "/v3/suppression/bounces/ann%2Bb%40mail.example.com",
                "/v3/suppression/bounces/a***@***.com",
            ),
            ("/v3/ips/pools/slow%20mail", "/v3/ips/pools/slow mail"),
            ("/v3/x/%ff", "/v3/x/\u{fffd}"),
        ] {
            assert_eq!(masked(path), want);
        }
        let long = format!("/v3/{}", "x".repeat(10_000));
        assert_eq!(masked(&long).len(), LONGEST);
    }
}
