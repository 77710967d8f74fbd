//! Data on the page that the relay does not have: a copy's events and the webhooks' answers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use posthaste_model::Verp;
use serde_json::Value;

use crate::StoredEnvelope;

/// Identifies a copy of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The `Message-ID` header, without angle brackets; empty when the mail has none.
    pub message_id: String,
    /// From the envelope sender: account, message and number of the recipient. `None` for a mail
    /// that another program sent.
    pub verp: Option<Verp>,
    /// The recipients of the envelope.
    pub recipients: Vec<String>,
}

impl Trace {
    pub(crate) fn new(message_id: &str, envelope: &StoredEnvelope) -> Self {
        let local = envelope.from.rsplit_once('@').map(|(local, _)| local);
        Self {
            message_id: message_id.to_owned(),
            verp: local
                .and_then(|local| Verp::parse(local).ok())
                .map(|(verp, _)| verp),
            recipients: envelope.to.clone(),
        }
    }
}

/// Finds JSON objects about a copy, oldest first.
pub type Lookup = Arc<dyn Fn(Trace) -> BoxFuture<'static, Vec<Value>> + Send + Sync>;

/// The page's sources of data about a copy; without a source it shows nothing of that kind.
///
/// Events may have the form of the store (`kind`, `at`) or of a webhook post (`event`,
/// `timestamp`); besides those the page shows `email`, `reason` or `response`, `status` and
/// `attempt`. Answers of webhooks show `url`, `status`, `at`, `attempt`, and `answer` or `error`.
/// All other fields of an object can be expanded.
#[derive(Clone, Default)]
pub struct Sources {
    pub events: Option<Lookup>,
    pub webhooks: Option<Lookup>,
}

/// The result of the sources for one copy.
#[derive(Debug, Default, serde::Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CopyFacts {
    pub events: Vec<Value>,
    pub webhooks: Vec<Value>,
}

impl Sources {
    pub(crate) async fn about(&self, trace: Trace) -> CopyFacts {
        let ask = async |source: &Option<Lookup>| match source {
            Some(source) => source(trace.clone()).await,
            None => Vec::new(),
        };
        CopyFacts {
            events: ask(&self.events).await,
            webhooks: ask(&self.webhooks).await,
        }
    }
}
