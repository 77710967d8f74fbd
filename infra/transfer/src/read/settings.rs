//! Reads settings, event webhooks, senders and keys.

use http::StatusCode;
use serde_json::{Value, json};

use super::bounds::{ListInMemory, PageEnd};
use super::{AccountReader, PAGE, in_path, list_in, text_in};
use crate::part::{AccountPart, MAIL_SETTINGS, TRACKING_SETTINGS};
use crate::source::ReadFault;

impl AccountReader<'_> {
    /// Each setting with its name. What the service does not have is left out.
    pub(super) async fn settings(&mut self, part: AccountPart) -> Result<Vec<Value>, ReadFault> {
        let table: &[(&str, &str)] = match part {
            AccountPart::TrackingSettings => &TRACKING_SETTINGS,
            _ => &MAIL_SETTINGS,
        };
        let mut found = Vec::new();
        for (name, path) in table {
            match self.source.value(path).await {
                Ok(value) => found.push(json!({"name": name, "value": value})),
                Err(ReadFault::Refused(StatusCode::NOT_FOUND, _)) => {}
                Err(fault @ (ReadFault::Refused(..) | ReadFault::Broken(_))) => {
                    self.report.refuse_item(part, name, fault.to_string());
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(found)
    }

    /// All webhooks; of a service that has one only, that one.
    pub(super) async fn event_webhooks(&mut self) -> Result<Vec<Value>, ReadFault> {
        const ALL: &str = "/v3/user/webhooks/event/settings/all?include=account_status_change";
        const OLDEST: &str = "/v3/user/webhooks/event/settings";
        match self.source.value(ALL).await {
            Ok(found) => Ok(list_in(&found, "webhooks").to_vec()),
            Err(ReadFault::Refused(StatusCode::NOT_FOUND, _)) => {
                let found = self.source.value(OLDEST).await?;
                let has_url = text_in(&found, "url").is_some_and(|url| !url.is_empty());
                Ok(has_url.then_some(found).into_iter().collect())
            }
            Err(fault) => Err(fault),
        }
    }

    /// `lastSeenID` is the id of the last sender of the page before (API facts, "Others").
    pub(super) async fn senders(&mut self) -> Result<Vec<Value>, ReadFault> {
        let mut all = ListInMemory::default();
        let mut path = format!("/v3/verified_senders?limit={PAGE}");
        loop {
            let found = self.source.value(&path).await?;
            let page = list_in(&found, "results").to_vec();
            let last = page.last().and_then(|sender| sender.get("id")).cloned();
            match (all.add(page, self.source.last_bytes()), last) {
                (PageEnd::More, Some(last)) => {
                    path = format!("/v3/verified_senders?limit={PAGE}&lastSeenID={last}");
                }
                (PageEnd::Endless, _) => return Ok(self.cut_off(AccountPart::Senders, all)),
                (PageEnd::More | PageEnd::Last, _) => return Ok(all.items),
            }
        }
    }

    /// The list of keys has no scopes; each key has.
    pub(super) async fn keys(&mut self) -> Result<Vec<Value>, ReadFault> {
        let found = self.source.value("/v3/api_keys?limit=500").await?;
        let mut keys = Vec::new();
        for key in list_in(&found, "result") {
            let Some(id) = key.get("api_key_id").and_then(Value::as_str) else {
                continue;
            };
            let one = match self
                .source
                .value(&format!("/v3/api_keys/{}", in_path(id)))
                .await
            {
                Ok(one) => one,
                Err(fault @ (ReadFault::Refused(..) | ReadFault::Broken(_))) => {
                    let what = text_in(key, "name").unwrap_or(id);
                    let reason = fault.to_string();
                    self.report.refuse_item(AccountPart::ApiKeys, what, reason);
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            // One of two documented forms (API facts, "API keys").
            let one = match one.get("result").and_then(|list| list.get(0)) {
                Some(one) => one.clone(),
                None => one,
            };
            keys.push(one);
        }
        // Their list is in the order of their ids, which others have here.
        keys.sort_by_cached_key(|key| {
            let name = text_in(key, "name").unwrap_or_default();
            (name.to_owned(), key["scopes"].to_string())
        });
        Ok(keys)
    }
}
