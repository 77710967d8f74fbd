//! Templates and their versions as the API lists them.

use serde::Deserialize;

/// A template as the API lists it.
#[derive(Deserialize)]
pub(in crate::pages) struct ListedTemplate {
    pub(in crate::pages) id: String,
    pub(in crate::pages) name: String,
    pub(in crate::pages) generation: String,
    pub(in crate::pages) updated_at: String,
    pub(in crate::pages) versions: Vec<ListedVersion>,
}

/// A version as the API lists it.
#[derive(Deserialize)]
pub(in crate::pages) struct ListedVersion {
    pub(in crate::pages) id: String,
    active: u8,
    pub(in crate::pages) name: String,
    pub(in crate::pages) subject: String,
    updated_at: String,
}

impl ListedVersion {
    pub(in crate::pages) fn is_active(&self) -> bool {
        self.active == 1
    }

    pub(in crate::pages) fn updated(&self) -> String {
        rfc3339(&self.updated_at)
    }
}

/// A time of this part of the API, `2026-11-30 10:00:00` in UTC, in the form of RFC 3339.
pub(in crate::pages) fn rfc3339(sql: &str) -> String {
    format!("{}Z", sql.replacen(' ', "T", 1))
}
