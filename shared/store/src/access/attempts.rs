//! Who used an account, and from where (`GET /v3/access_settings/activity`): one row per network,
//! way of authentication and outcome, stored for a month after the last attempt.

use std::net::IpAddr;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, Timestamp, ip_prefix};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, UpdateBuilder, number, text};

/// Seconds an attempt is remembered.
const KEPT: i64 = 30 * 86_400;

/// How many allowed networks are read, and how many denied ones: a flood of anonymous attempts does
/// not hide the owner's own.
const MOST: usize = 2_000;

/// Similar attempts, as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptSummary {
    /// The address of the latest of them.
    pub ip: IpAddr,
    /// `bearer` for a key in a header, `basic` for one over SMTP.
    pub auth_method: String,
    /// Whether the allow list let it in.
    pub allowed: bool,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
}

/// One attempt, as it happened.
#[derive(Clone, Copy, Debug)]
pub struct AccessRecord<'a> {
    pub ip: IpAddr,
    pub auth_method: &'a str,
    pub allowed: bool,
    pub at: Timestamp,
}

impl Store {
    /// Records an attempt. Similar attempts share a row.
    pub async fn record_attempt(
        &self,
        account: &AccountId,
        seen: AccessRecord<'_>,
    ) -> Result<(), StoreError> {
        let AccessRecord {
            ip,
            auth_method,
            allowed,
            at,
        } = seen;
        let sk = format!("{}#{auth_method}#{}", u8::from(allowed), ip_prefix(ip));
        let key = Key::new(Key::attempts_pk(account), sk);
        let update = UpdateBuilder::default()
            .set_once("first_at", number(at.0))
            .set("last_at", number(at.0))
            .set("ip", text(ip.to_string()))
            .set("auth_method", text(auth_method))
            .set("allowed", AttributeValue::Bool(allowed))
            .set("exp", number(at.plus(KEPT).0));
        self.update(&key, &update).await.map(drop)
    }

    /// The attempts of the last month, latest first; of `MOST` networks of either outcome.
    pub async fn attempts(
        &self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Vec<AttemptSummary>, StoreError> {
        let pk = Key::attempts_pk(account);
        let page = PageQuery::first(MOST);
        let (refused, let_in) = futures_util::try_join!(
            self.list::<AttemptSummary>(&pk, "0#", &page),
            self.list::<AttemptSummary>(&pk, "1#", &page),
        )?;
        let rows = refused.into_iter().chain(let_in);
        let mut seen: Vec<_> = rows.map(|row| row.value).collect();
        seen.retain(|attempt| now.since(attempt.last_at) < KEPT);
        seen.sort_by(|a, b| (b.last_at, &b.ip).cmp(&(a.last_at, &a.ip)));
        Ok(seen)
    }
}
