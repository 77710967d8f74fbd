//! What was changed in an account, and by whom (`GET /v3/access_settings/audit_log`): one row for each change.

use std::net::IpAddr;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, Millis, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::{Key, LAST};
use crate::table::{Range, Store, StoreError, UpdateBuilder, number, text};

/// What made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    ApiKey,
    /// A session of the console.
    Session,
    /// A command of the operator.
    Operator,
}

impl ChangedBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Session => "session",
            Self::Operator => "operator",
        }
    }
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: Millis,
    /// The method of the call.
    pub method: String,
    /// Its path, in which addresses are masked.
    pub path: String,
    /// Its status.
    pub status: u16,
    /// The id or name of what it created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    pub by: ChangedBy,
    /// The name of the key, or of the person.
    pub name: String,
    /// The key that called, or that the session was opened with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The account of the key, where it acted for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_account: Option<String>,
    /// Where the call came from, if the host knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
}

/// Which part of the log to read.
#[derive(Clone, Debug, Default)]
pub struct AuditWindow {
    /// From when to when, both included.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Only entries after this place, in the order of the log.
    pub after: Option<String>,
    /// At most this many.
    pub limit: usize,
}

/// A page of the log, latest first.
#[derive(Clone, Debug, Default)]
pub struct AuditPage {
    pub entries: Vec<AuditEntry>,
    /// Where the next page goes on, if there is one.
    pub next: Option<String>,
}

impl AuditPage {
    /// Whether a text is a place in the log.
    pub fn is_place(text: &str) -> bool {
        // DynamoDB's limit for a sort key.
        const MOST: usize = 1_024;
        let time = text.split_once('#').map(|(time, _)| time);
        text.len() <= MOST
            && time.is_some_and(|time| time.len() == 13 && time.bytes().all(|b| b.is_ascii_digit()))
    }
}

/// The latest sorts first; the request tells changes of one millisecond apart.
fn sort_key(at: Millis, request: &str) -> String {
    let within = 999 - at.0.rem_euclid(1_000);
    format!("{}{within:03}#{request}", Key::backwards(at.seconds()))
}

impl Store {
    /// Writes an entry, which is there until `until`. The same request writes the same row.
    pub async fn record_change(
        &self,
        account: &AccountId,
        request: &str,
        entry: &AuditEntry,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let sk = sort_key(entry.at, request);
        let key = Key::new(Key::audit_pk(account), sk);
        let texts = [
            ("created", entry.created.clone()),
            ("key", entry.key.clone()),
            ("acting_account", entry.acting_account.clone()),
            ("ip", entry.ip.map(|ip| ip.to_string())),
        ];
        let mut update = UpdateBuilder::default()
            .set("at", number(entry.at.0))
            .set("method", text(&entry.method))
            .set("path", text(&entry.path))
            .set("status", AttributeValue::N(entry.status.to_string()))
            .set("by", text(entry.by.as_str()))
            .set("name", text(&entry.name))
            .set("exp", number(until.0));
        for (name, value) in texts {
            if let Some(value) = value {
                update = update.set(name, text(value));
            }
        }
        self.update(&key, &update).await.map(drop)
    }

    /// A page of an account's log.
    pub async fn audit_page(
        &self,
        account: &AccountId,
        window: &AuditWindow,
    ) -> Result<AuditPage, StoreError> {
        let latest = window.to.map(Key::backwards).unwrap_or_default();
        let earliest = window.from.map(Key::backwards).unwrap_or_default();
        let range = Range {
            from: format!("{latest}!"),
            to: format!("{earliest}{LAST}"),
            after: None,
        };
        // DynamoDB refuses to go on from outside of the range.
        let after = window.after.clone().filter(|after| *after >= range.from);
        if after.as_ref().is_some_and(|after| *after > range.to) {
            return Ok(AuditPage::default());
        }
        let pk = Key::audit_pk(account);
        let page = self
            .slice::<AuditEntry>(&pk, &range.after(after), window.limit)
            .await?;
        let last = page.rows.last().map(|row| row.key.sk.clone());
        Ok(AuditPage {
            next: last.filter(|_| page.more),
            entries: page.rows.into_iter().map(|row| row.value).collect(),
        })
    }
}
