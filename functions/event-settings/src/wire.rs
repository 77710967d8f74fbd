//! The request and response JSON of this function.

use std::collections::BTreeMap;

use posthaste_model::{EventKind, Patch};
use posthaste_store::Webhook;
use serde::{Deserialize, Serialize};

/// The body of a create or an update; every field may be left out, or be `null`.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct WebhookSettings {
    #[cfg_attr(test, schemars(with = "String"))]
    pub url: Patch<String>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub enabled: Patch<bool>,
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub friendly_name: Patch<String>,
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub oauth_client_id: Patch<String>,
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub oauth_client_secret: Patch<String>,
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub oauth_token_url: Patch<String>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub processed: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub delivered: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub deferred: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub bounce: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub dropped: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub open: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub click: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub spam_report: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub unsubscribe: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub group_unsubscribe: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub group_resubscribe: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub account_status_change: Patch<bool>,
}

impl WebhookSettings {
    /// The flag of each kind of event.
    pub(crate) fn flags(&self) -> [(EventKind, &Patch<bool>); 12] {
        EventKind::ALL.map(|kind| (kind, self.flag(kind)))
    }

    fn flag(&self, kind: EventKind) -> &Patch<bool> {
        match kind {
            EventKind::Processed => &self.processed,
            EventKind::Delivered => &self.delivered,
            EventKind::Deferred => &self.deferred,
            EventKind::Bounce => &self.bounce,
            EventKind::Dropped => &self.dropped,
            EventKind::Open => &self.open,
            EventKind::Click => &self.click,
            EventKind::SpamReport => &self.spam_report,
            EventKind::Unsubscribe => &self.unsubscribe,
            EventKind::GroupUnsubscribe => &self.group_unsubscribe,
            EventKind::GroupResubscribe => &self.group_resubscribe,
            EventKind::AccountStatusChange => &self.account_status_change,
        }
    }
}

/// A webhook as callers see it. No secret has a place here.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WebhookView {
    enabled: bool,
    url: String,
    /// Only if requested with `include`.
    #[serde(skip_serializing_if = "Option::is_none")]
    account_status_change: Option<bool>,
    group_resubscribe: bool,
    delivered: bool,
    group_unsubscribe: bool,
    spam_report: bool,
    bounce: bool,
    deferred: bool,
    unsubscribe: bool,
    processed: bool,
    open: bool,
    click: bool,
    dropped: bool,
    friendly_name: Option<String>,
    id: String,
    created_date: Option<String>,
    updated_date: Option<String>,
    oauth_client_id: Option<String>,
    oauth_token_url: Option<String>,
    /// Only while posts are signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
}

impl WebhookView {
    pub(crate) fn of(webhook: &Webhook, with_status_change: bool) -> Self {
        let wants = |kind| webhook.kinds.contains(&kind);
        Self {
            enabled: webhook.enabled,
            url: webhook.url.clone(),
            account_status_change: with_status_change
                .then(|| wants(EventKind::AccountStatusChange)),
            group_resubscribe: wants(EventKind::GroupResubscribe),
            delivered: wants(EventKind::Delivered),
            group_unsubscribe: wants(EventKind::GroupUnsubscribe),
            spam_report: wants(EventKind::SpamReport),
            bounce: wants(EventKind::Bounce),
            deferred: wants(EventKind::Deferred),
            unsubscribe: wants(EventKind::Unsubscribe),
            processed: wants(EventKind::Processed),
            open: wants(EventKind::Open),
            click: wants(EventKind::Click),
            dropped: wants(EventKind::Dropped),
            friendly_name: webhook.friendly_name.clone(),
            id: webhook.id.to_string(),
            created_date: webhook.created_at.map(|at| at.seconds().iso()),
            updated_date: Some(webhook.updated_at.iso()),
            oauth_client_id: webhook.oauth_client_id.clone(),
            oauth_token_url: webhook.oauth_token_url.clone(),
            public_key: webhook.signing.as_ref().map(|s| s.public_key.clone()),
        }
    }
}

impl WebhookView {
    /// For an account that has no webhook: a new one without the id and the dates it would get.
    pub(crate) fn none_yet(new: &Webhook, with_status_change: bool) -> Self {
        Self {
            id: String::new(),
            created_date: None,
            updated_date: None,
            ..Self::of(new, with_status_change)
        }
    }
}

/// Every webhook of an account.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WebhookList {
    pub max_allowed: u32,
    pub webhooks: Vec<WebhookView>,
}

/// The body that switches signatures on and off.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Switch {
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// What receivers verify with; empty while posts are not signed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PublicKey {
    pub id: String,
    pub public_key: String,
}

/// The body of a test post.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct Trial {
    pub id: Option<String>,
    pub url: Option<String>,
    pub oauth_client_id: Option<String>,
    pub oauth_client_secret: Option<String>,
    pub oauth_token_url: Option<String>,
    /// Whether to answer what was posted and what the receiver answered, also where that is no 2xx. An extension of the
    /// v3 API.
    pub details: bool,
}

/// A test post as it was made.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TrialView {
    /// Whether the receiver answered 2xx.
    pub delivered: bool,
    /// What the receiver answered; `null` when it did not answer.
    pub status_code: Option<u16>,
    /// The beginning of the answer, or why there was none.
    pub answer: String,
    /// How long the receiver took to answer, in milliseconds; `null` when it did not answer.
    pub took_ms: Option<u64>,
    /// The headers of the post, without that of an OAuth token.
    pub headers: BTreeMap<String, String>,
    /// The body byte for byte, as it was signed.
    pub body: String,
}

/// Whether the query requests the account status flag: `include=account_status_change`, alone or
/// among others.
pub(crate) fn wants_status_change(query: Option<&str>) -> bool {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs
        .filter(|(name, _)| name == "include")
        .any(|(_, value)| {
            value
                .split(',')
                .any(|v| v.trim() == "account_status_change")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_status_flag_is_asked_for_by_name() {
        for (query, want) in [
            (None, false),
            (Some(""), false),
            (Some("include=account_status_change"), true),
            (Some("a=b&include=x&include=account%5Fstatus_change"), true),
            (Some("include=x,account_status_change"), true),
            (Some("include=account_status_changes"), false),
            (Some("account_status_change=include"), false),
        ] {
            assert_eq!(wants_status_change(query), want, "{query:?}");
        }
    }
}
