//! The JSON of allowed addresses and of attempts.

use posthaste_store::{AllowedIp, Attempt};
use serde::{Deserialize, Serialize};

/// The body of an addition.
#[derive(Debug, Deserialize)]
pub(crate) struct Add {
    #[serde(default)]
    pub(crate) ips: Option<Vec<Ip>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ip {
    #[serde(default)]
    pub(crate) ip: Option<String>,
}

/// The body of a removal.
#[derive(Debug, Deserialize)]
pub(crate) struct Remove {
    #[serde(default)]
    pub(crate) ids: Option<Vec<i64>>,
}

/// Entries, or attempts.
#[derive(Serialize)]
pub(crate) struct EntryList<T> {
    pub(crate) result: Vec<T>,
}

/// One entry of the list.
#[derive(Serialize)]
pub(crate) struct Rule {
    id: i64,
    ip: String,
    created_at: i64,
    updated_at: i64,
}

impl From<&AllowedIp> for Rule {
    fn from(entry: &AllowedIp) -> Self {
        Self {
            id: entry.id,
            ip: entry.net.to_string(),
            created_at: entry.created_at.0,
            updated_at: entry.updated_at.0,
        }
    }
}

/// Identical attempts, grouped.
#[derive(Serialize)]
pub(crate) struct AccessAttemptView {
    allowed: bool,
    auth_method: String,
    first_at: i64,
    ip: String,
    last_at: i64,
    /// Always empty: the service has no geolocation data.
    location: &'static str,
}

impl From<Attempt> for AccessAttemptView {
    fn from(attempt: Attempt) -> Self {
        Self {
            allowed: attempt.allowed,
            auth_method: attempt.auth_method,
            first_at: attempt.first_at.0,
            ip: attempt.ip.to_string(),
            last_at: attempt.last_at.0,
            location: "",
        }
    }
}
