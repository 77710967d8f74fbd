//! The handle of the table: its client, its name, and the clock that rows expire by.

use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
    TimeToLiveSpecification,
};
use posthaste_model::{Clock, Entropy, Millis};

use super::error::StoreError;
use super::minutes::ListedMinutes;

/// Partitions for the due rows of one minute, unless configured otherwise: enough for 16,000 write units
/// a second, of which a row takes one for each KB.
pub const DUE_SHARDS: u16 = 16;

/// The table. Cheap to clone; the connection is made at the first call.
#[derive(Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) table: Arc<str>,
    pub(crate) minutes: Arc<ListedMinutes>,
    pub(super) clock: Clock,
    /// Spreads the attempts of writers that met.
    pub(super) jitter: Option<Entropy>,
}

impl Store {
    /// The table `table`, reached with the configuration of `runtime`.
    pub fn open(config: &aws_config::SdkConfig, table: &str) -> Self {
        Self::of(Client::new(config), table)
    }

    pub(super) fn of(client: Client, table: &str) -> Self {
        Self {
            client,
            table: table.into(),
            minutes: Arc::new(ListedMinutes::new(DUE_SHARDS)),
            clock: Clock::new(|| Millis(0)),
            jitter: None,
        }
    }

    /// With the clock that rows expire by: a row whose time is over reads as one that is gone, also
    /// while DynamoDB has yet to delete it. Without a clock, rows are there until they are deleted.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// With the randomness that spreads the attempts of writers that met. Without it, each waits the
    /// whole time.
    #[must_use]
    pub fn with_jitter(self, entropy: Entropy) -> Self {
        let jitter = Some(entropy);
        Self { jitter, ..self }
    }

    /// With another number of partitions for the due rows of one minute. It may change at any
    /// time: the sweep reads what was written, not what is configured.
    #[must_use]
    pub fn with_due_shards(self, shards: u16) -> Self {
        let minutes = Arc::new(ListedMinutes::new(shards));
        Self { minutes, ..self }
    }

    /// Creates the table, for the local host and tests; in the cloud `template.yaml` does.
    ///
    /// # Errors
    /// When the table can neither be found nor made.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        let described = self.client.describe_table().table_name(&*self.table);
        if described.send().await.is_ok() {
            return Ok(());
        }
        let mut create = self
            .client
            .create_table()
            .table_name(&*self.table)
            .billing_mode(BillingMode::PayPerRequest);
        for (name, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
            let definition = AttributeDefinition::builder()
                .attribute_name(name)
                .attribute_type(ScalarAttributeType::S);
            let element = KeySchemaElement::builder()
                .attribute_name(name)
                .key_type(kind);
            create = create
                .attribute_definitions(definition.build().map_err(unbuilt)?)
                .key_schema(element.build().map_err(unbuilt)?);
        }
        create.send().await.map_err(StoreError::from_sdk)?;
        let ttl = TimeToLiveSpecification::builder()
            .attribute_name("exp")
            .enabled(true)
            .build()
            .map_err(unbuilt)?;
        let update = self.client.update_time_to_live().table_name(&*self.table);
        update
            .time_to_live_specification(ttl)
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        Ok(())
    }
}

/// A request that lacks a part.
pub(super) fn unbuilt(error: BuildError) -> StoreError {
    StoreError::Unreachable(error.to_string())
}
