//! Composed mails, of accounts that keep them: in the table where they are small. `posthaste-kept` has the
//! others, which lie in the bucket.
//!
//! The row of the copy says that its mail is kept, and until when: it is claimed before the mail is composed,
//! and stays at least as long.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, number};

/// For how long the composed mail of a copy is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepTerm {
    /// One of [`KEPT_DAYS`](crate::KEPT_DAYS), which names the folder of a large mail.
    pub days: u16,
    /// The second from which nothing shows it any more.
    pub until: Timestamp,
    /// Whether its header names other recipients than that of the copy.
    pub shared: bool,
}

impl KeepTerm {
    /// As the row of the copy has it.
    pub(super) fn attribute(self) -> AttributeValue {
        AttributeValue::M(HashMap::from([
            ("days".to_owned(), number(self.days)),
            ("until".to_owned(), number(self.until.0)),
            ("shared".to_owned(), AttributeValue::Bool(self.shared)),
        ]))
    }
}

#[derive(Serialize, Deserialize)]
struct KeptRow {
    /// Text that only `posthaste-kept` reads.
    mail: String,
}

/// What the row of a copy says of its composed mail.
#[derive(Deserialize)]
struct TermOfCopy {
    #[serde(default)]
    kept: Option<KeepTerm>,
}

impl Store {
    /// Stores the composed mail of a copy. A repeat replaces it.
    pub async fn put_kept(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, u32),
        mail: String,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let key = Key::kept(account, message, recipient);
        self.put(&key, &KeptRow { mail }, Some(until)).await
    }

    /// The composed mail of a copy; `None` when it is not in the table, or its time is over.
    pub async fn kept(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, u32),
    ) -> Result<Option<String>, StoreError> {
        let key = Key::kept(account, message, recipient);
        let row = self.get::<KeptRow>(&key).await?;
        Ok(row.map(|row| row.value.mail))
    }

    /// Deletes the composed mail of a copy; a no-op when it is not in the table.
    pub async fn forget_kept(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, u32),
    ) -> Result<(), StoreError> {
        let key = Key::kept(account, message, recipient);
        self.delete(&key).await.map(drop)
    }

    /// The copies of a message whose composed mail names other recipients, each with its term.
    pub async fn shared_kept(
        &self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<Vec<(u32, KeepTerm)>, StoreError> {
        let pk = Key::message_pk(account, message);
        let copies = self
            .list::<TermOfCopy>(&pk, "R#", &PageQuery::all())
            .await?;
        let shared = copies.into_iter().filter_map(|row| {
            let term = row.value.kept.filter(|term| term.shared)?;
            Some((row.key.recipient_number()?, term))
        });
        Ok(shared.collect())
    }
}
