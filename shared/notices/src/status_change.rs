//! Reports that an account was suspended, or that this ended: to its webhooks, and to the owner's other
//! systems. Under an id that is the same every time, so a report may be repeated.

use std::time::Duration;

use posthaste_model::{Event, EventKind};
use posthaste_queue::{Bus, BusEvent, EventBatch, Queue};
use posthaste_runtime::WorkError;
use posthaste_store::{Account, Store};
use serde_json::json;

/// Where such reports go.
#[derive(Clone, Copy, Debug)]
pub struct StatusReports<'a> {
    /// The queue of events for webhooks.
    pub events: Option<&'a Queue>,
    pub bus: Option<&'a Bus>,
}

impl StatusReports<'_> {
    /// Reports the last change of an account, and records that. Returns whether webhooks are notified:
    /// not where there is no queue of events, or nothing to report.
    pub async fn send(&self, store: &Store, account: &Account) -> Result<bool, WorkError> {
        let Some(change) = account.verdict else {
            return Ok(false);
        };
        // SendGrid's own words for it.
        let kind = if account.status.is_suspended() {
            "compliance_suspend"
        } else {
            "account_reinstated"
        };
        let id = format!(
            "account_status_change-{kind}-{}-{}",
            account.id, change.number
        );
        if let Some(bus) = self.bus {
            let notice = BusEvent {
                account: account.id.clone(),
                kind: "Account Status Change".to_owned(),
                detail: json!({
                    "id": id,
                    "type": kind,
                    "status": account.status.text(),
                    "cause": change.cause,
                }),
            };
            bus.publish(&[notice]).await?;
        }
        let Some(events) = self.events else {
            return Ok(false);
        };
        let mut event = Event::new(
            id,
            account.id.clone(),
            EventKind::AccountStatusChange,
            change.at,
            String::new(),
        );
        event.reason = Some(kind.to_owned());
        for text in EventBatch::to_texts(&[event])? {
            events.send(text, Duration::ZERO).await?;
        }
        store.suspension_reported(&account.id, change).await?;
        Ok(true)
    }
}
