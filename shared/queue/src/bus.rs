//! Notices for the owner's other systems, on an EventBridge bus.

use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use posthaste_model::AccountId;

use crate::client::{LazyClient, QueueError, lazy_client};

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusEvent {
    pub account: AccountId,
    /// The detail type: `Webhook Disabled`, `Account Suspended`, `Email Event`.
    pub kind: String,
    /// A JSON object.
    pub detail: serde_json::Value,
}

/// Where notices go.
#[derive(Clone, Debug)]
pub struct Bus(BusKind);

#[derive(Clone, Debug)]
enum BusKind {
    EventBridge {
        client: LazyClient<Client>,
        name: String,
    },
    Log,
}

impl Bus {
    /// The EventBridge bus of this name.
    pub fn event_bridge(config: &aws_config::SdkConfig, name: &str) -> Self {
        Self(BusKind::EventBridge {
            client: lazy_client(config, Client::new),
            name: name.to_owned(),
        })
    }

    /// Without a bus, on a laptop: notices are lines in the log.
    pub fn log() -> Self {
        Self(BusKind::Log)
    }

    /// Publishes notices.
    pub async fn publish(&self, notices: &[BusEvent]) -> Result<(), QueueError> {
        // EventBridge accepts ten entries in one call.
        const BATCH: usize = 10;
        for chunk in notices.chunks(BATCH) {
            match &self.0 {
                BusKind::Log => {
                    for notice in chunk {
                        tracing::info!(account.id = %notice.account, "notice: {} {}", notice.kind, notice.detail);
                    }
                }
                BusKind::EventBridge { client, name } => put(client, name, chunk).await?,
            }
        }
        Ok(())
    }
}

async fn put(client: &Client, bus: &str, notices: &[BusEvent]) -> Result<(), QueueError> {
    let mut put = client.put_events();
    for notice in notices {
        let mut detail = notice.detail.clone();
        if let Some(object) = detail.as_object_mut() {
            object.insert("account".to_owned(), notice.account.as_str().into());
        }
        let entry = PutEventsRequestEntry::builder()
            .event_bus_name(bus)
            .source("posthaste")
            .detail_type(&notice.kind)
            .detail(detail.to_string());
        put = put.entries(entry.build());
    }
    let done = put.send().await.map_err(QueueError::from_sdk)?;
    match done.failed_entry_count() {
        0 => Ok(()),
        failed => Err(QueueError(format!(
            "{failed} of {} notices were refused",
            notices.len()
        ))),
    }
}
