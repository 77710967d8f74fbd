//! Who used an account, and from where (`GET /v3/access_settings/activity`): one row per network,
//! way of authentication and outcome, stored for a month after the last attempt.

use std::net::IpAddr;

use posthaste_model::{AccountId, Timestamp, ip_prefix};
use serde::{Deserialize, Serialize};

use crate::table::{number, text};
use crate::{Key, PageQuery, Store, StoreError};

/// Seconds an attempt is remembered.
const KEPT: i64 = 30 * 86_400;

/// How many allowed networks are read, and how many denied ones: a flood of anonymous attempts does
/// not hide the owner's own.
const MOST: usize = 2_000;

/// Similar attempts, as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
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
    ///
    /// # Errors
    /// When the table fails.
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
        let update = self
            .client
            .update_item()
            .table_name(&*self.table)
            .key("pk", text(Key::attempts_pk(account)))
            .key("sk", text(sk))
            .update_expression(
                "SET #first = if_not_exists(#first, :now), #last = :now, #ip = :ip, \
                 #how = :how, #ok = :ok, #exp = :exp",
            )
            .expression_attribute_names("#first", "first_at")
            .expression_attribute_names("#last", "last_at")
            .expression_attribute_names("#ip", "ip")
            .expression_attribute_names("#how", "auth_method")
            .expression_attribute_names("#ok", "allowed")
            .expression_attribute_names("#exp", "exp")
            .expression_attribute_values(":now", number(at.0))
            .expression_attribute_values(":ip", text(ip.to_string()))
            .expression_attribute_values(":how", text(auth_method))
            .expression_attribute_values(
                ":ok",
                aws_sdk_dynamodb::types::AttributeValue::Bool(allowed),
            )
            .expression_attribute_values(":exp", number(at.plus(KEPT).0));
        update.send().await.map_err(StoreError::from_sdk)?;
        Ok(())
    }

    /// The attempts of the last month, latest first; of `MOST` networks of either outcome.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn attempts(
        &self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Vec<Attempt>, StoreError> {
        let pk = Key::attempts_pk(account);
        let page = PageQuery::first(MOST);
        let (refused, let_in) = futures_util::try_join!(
            self.list::<Attempt>(&pk, "0#", &page),
            self.list::<Attempt>(&pk, "1#", &page),
        )?;
        let rows = refused.into_iter().chain(let_in);
        let mut seen: Vec<_> = rows.map(|row| row.value).collect();
        // The table deletes late.
        seen.retain(|attempt| now.since(attempt.last_at) < KEPT);
        seen.sort_by(|a, b| (b.last_at, &b.ip).cmp(&(a.last_at, &a.ip)));
        Ok(seen)
    }
}
