//! Writes settings, event webhooks, parse settings and alerts.

use http::Method;
use serde_json::{Map, Value, json};

use super::AccountWriter;
use crate::TransferError;
use crate::part::{AccountPart, MAIL_SETTINGS, TRACKING_SETTINGS};
use crate::read::{in_path, list_in, text_in};
use crate::service::Here;

const WEBHOOKS: &str = "/v3/user/webhooks/event/settings";
const PARSE: &str = "/v3/user/webhooks/parse/settings";
const ALERTS: &str = "/v3/alerts";

/// The flags and names of an event webhook.
const WEBHOOK_FIELDS: [&str; 15] = [
    "url",
    "enabled",
    "friendly_name",
    "processed",
    "delivered",
    "deferred",
    "bounce",
    "dropped",
    "open",
    "click",
    "spam_report",
    "unsubscribe",
    "group_unsubscribe",
    "group_resubscribe",
    "account_status_change",
];

/// Some fields of an item, those that are not null.
fn fields(item: &Value, names: &[&str]) -> Map<String, Value> {
    let mut body = Map::new();
    for name in names {
        if let Some(value) = item.get(name).filter(|value| !value.is_null()) {
            body.insert((*name).to_owned(), value.clone());
        }
    }
    body
}

impl AccountWriter<'_> {
    pub(super) async fn write_settings(&mut self, part: AccountPart) -> Result<(), TransferError> {
        let table: &[(&str, &str)] = match part {
            AccountPart::TrackingSettings => &TRACKING_SETTINGS,
            _ => &MAIL_SETTINGS,
        };
        for item in self.items(part)? {
            let name = text_in(&item, "name").unwrap_or_default();
            let known = table.iter().find(|(own, _)| *own == name);
            let (Some((_, path)), Some(body)) = (known, item.get("value")) else {
                self.report
                    .refuse_item(part, name, "no setting of this service");
                continue;
            };
            if self.is_unchanged(part, name, &item) {
                continue;
            }
            let own = match self.target.clone() {
                Some(here) => self.found(&here, path).await?,
                None => None,
            };
            if own.as_ref() == Some(body) {
                self.report.counts(part).unchanged += 1;
                self.note_item(part, name, &item)?;
                continue;
            }
            let Some(here) = self.account().cloned() else {
                self.plan(part, true);
                continue;
            };
            match self
                .call(&here, (Method::PATCH, path), Some(body), None)
                .await?
            {
                Ok(_) => {
                    self.report.counts(part).changed += 1;
                    self.note_item(part, name, &item)?;
                    let forwards = name.starts_with("forward_")
                        && text_in(body, "email").is_some_and(|email| !email.is_empty());
                    if forwards {
                        let note = format!(
                            "{name}: its address gets a link, and nothing is forwarded before it is opened"
                        );
                        self.report.notes.push(note);
                    }
                }
                Err(refusal) => self.report.refuse_item(part, name, refusal.why),
            }
        }
        Ok(())
    }

    pub(super) async fn write_event_webhooks(&mut self) -> Result<(), TransferError> {
        let part = AccountPart::EventWebhooks;
        let items = self.items(part)?;
        let mut existing = Vec::new();
        if let Some(here) = self.target.clone() {
            let found = self.found(&here, &format!("{WEBHOOKS}/all")).await?;
            existing = list_in(&found.unwrap_or_default(), "webhooks").to_vec();
        }
        for item in items {
            let url = text_in(&item, "url").unwrap_or_default().to_owned();
            let mut body = fields(&item, &WEBHOOK_FIELDS);
            let client = text_in(&item, "oauth_client_id").filter(|id| !id.is_empty());
            let has_oauth = client.is_some();
            if has_oauth {
                body.insert("enabled".to_owned(), false.into());
            }
            let is_signed = text_in(&item, "public_key").is_some_and(|key| !key.is_empty());
            let stored = json!({"webhook": body, "signed": is_signed});
            let body = Value::Object(body);
            if self.is_unchanged(part, &url, &stored) {
                continue;
            }
            let own = existing
                .iter()
                .find(|own| text_in(own, "url") == Some(url.as_str()));
            let Some(here) = self.account().cloned() else {
                self.plan(part, own.is_some());
                continue;
            };
            let placed = self.place_webhook(&here, own, (&url, &body), is_signed);
            if let Err(why) = placed.await? {
                self.report.refuse_item(part, &url, why);
                continue;
            }
            if has_oauth {
                let why = "its secret cannot be read: set client id, token URL and secret, and switch the webhook on";
                let what = format!("event_webhooks: OAuth of webhook {url}");
                self.report.refuse(what, why);
            }
            let counts = self.report.counts(part);
            if own.is_some() {
                counts.changed += 1;
            } else {
                counts.created += 1;
            }
            self.note_item(part, &url, &stored)?;
        }
        Ok(())
    }

    /// Creates a webhook, or changes the one of its URL, and has it signed.
    async fn place_webhook(
        &mut self,
        here: &Here,
        own: Option<&Value>,
        (url, body): (&str, &Value),
        is_signed: bool,
    ) -> Result<Result<(), String>, TransferError> {
        let include = "?include=account_status_change";
        let (method, path) = match own.and_then(|own| text_in(own, "id")) {
            None => (Method::POST, format!("{WEBHOOKS}{include}")),
            Some(id) => (
                Method::PATCH,
                format!("{WEBHOOKS}/{}{include}", in_path(id)),
            ),
        };
        let made = match self.call(here, (method, &path), Some(body), None).await? {
            Ok(made) => made,
            Err(refusal) => return Ok(Err(refusal.why)),
        };
        let has_key = own.is_some_and(|own| text_in(own, "public_key").is_some());
        if is_signed && !has_key {
            let id = text_in(&made, "id").unwrap_or_default();
            let path = format!("{WEBHOOKS}/signed/{}", in_path(id));
            let on = json!({"enabled": true});
            let signed = self.call(here, (Method::PATCH, &path), Some(&on), None);
            match signed.await? {
                Ok(signed) => {
                    let key = text_in(&signed, "public_key").unwrap_or_default();
                    let note = format!("webhook {url} is signed with another key: {key}");
                    self.report.notes.push(note);
                }
                Err(refusal) => return Ok(Err(refusal.why)),
            }
        }
        Ok(Ok(()))
    }

    pub(super) async fn write_parse_settings(&mut self) -> Result<(), TransferError> {
        let part = AccountPart::ParseSettings;
        for item in self.items(part)? {
            let hostname = text_in(&item, "hostname").unwrap_or_default().to_owned();
            let body = fields(&item, &["hostname", "url", "spam_check", "send_raw"]);
            let body = Value::Object(body);
            if self.is_unchanged(part, &hostname, &body) {
                continue;
            }
            let one = format!("{PARSE}/{}", in_path(&hostname));
            let own = match self.target.clone().filter(|_| !hostname.is_empty()) {
                Some(here) => self.found(&here, &one).await?,
                None => None,
            };
            let Some(here) = self.account().cloned() else {
                self.plan(part, own.is_some());
                continue;
            };
            let (method, path) = match &own {
                None => (Method::POST, PARSE),
                Some(_) => (Method::PATCH, one.as_str()),
            };
            match self.call(&here, (method, path), Some(&body), None).await? {
                Ok(_) => {
                    let counts = self.report.counts(part);
                    if own.is_some() {
                        counts.changed += 1;
                    } else {
                        counts.created += 1;
                    }
                    if own.is_none() && text_in(&item, "security_policy").is_some() {
                        let note = format!(
                            "parse setting {hostname}: its posts have no signature and no token before you \
                             attach a security policy"
                        );
                        self.report.notes.push(note);
                    }
                    self.note_item(part, &hostname, &body)?;
                }
                Err(refusal) => self.report.refuse_item(part, &hostname, refusal.why),
            }
        }
        Ok(())
    }

    pub(super) async fn write_alerts(&mut self) -> Result<(), TransferError> {
        let part = AccountPart::Alerts;
        let items = self.items(part)?;
        let mut existing = Vec::new();
        let own_fields = ["type", "email_to", "frequency", "percentage"];
        if let Some(here) = self.target.clone() {
            let found = self.found(&here, ALERTS).await?.unwrap_or_default();
            let found = found.as_array().cloned().unwrap_or_default();
            existing.extend(found.iter().map(|alert| fields(alert, &own_fields)));
        }
        for item in items {
            let own = fields(&item, &own_fields);
            let is_there = existing.contains(&own);
            let body = Value::Object(own);
            let key = body.to_string();
            if self.is_unchanged(part, &key, &body) {
                continue;
            }
            if is_there {
                self.report.counts(part).unchanged += 1;
                self.note_item(part, &key, &body)?;
                continue;
            }
            let Some(here) = self.account().cloned() else {
                self.plan(part, false);
                continue;
            };
            match self
                .call(&here, (Method::POST, ALERTS), Some(&body), None)
                .await?
            {
                Ok(_) => {
                    self.report.counts(part).created += 1;
                    self.note_item(part, &key, &body)?;
                }
                Err(refusal) => self.report.refuse_item(part, &key, refusal.why),
            }
        }
        Ok(())
    }
}
