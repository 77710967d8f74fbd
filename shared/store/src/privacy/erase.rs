//! Finds every copy sent to certain addresses by scanning all rows, and deletes one.
//!
//! A scan costs as much as the table is large, and takes longer than a function may run: it
//! proceeds page by page, and the erasure stores where it stopped.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, EmailAddress, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::mail::{CopyState, KeepTerm, Recipient};
use crate::schedule::listing_of;
use crate::table::{Expression, Store, StoreError, TableItem, from_item, names_of, text, text_of};

/// A copy that was found, and what shows whether it is still in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyTrace {
    pub message: MessageId,
    pub recipient: u32,
    pub state: CopyState,
    pub accepted_at: Timestamp,
    /// For how long its composed mail is kept, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeepTerm>,
}

/// The last row that a scan of the table has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanPosition {
    pk: String,
    sk: String,
}

/// What one page of the table held.
#[derive(Clone, Debug, Default)]
pub struct CopiesPage {
    pub found: Vec<CopyTrace>,
    /// Rows of look-ups that list a copy to the addresses before it leaves.
    pub listings: Vec<Key>,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<ScanPosition>,
}

impl ScanPosition {
    fn start(&self) -> TableItem {
        TableItem::from([
            ("pk".to_owned(), text(&self.pk)),
            ("sk".to_owned(), text(&self.sk)),
        ])
    }
}

/// The copy in an item, if it went to one of these addresses: also one whose time is over and that
/// DynamoDB has yet to delete.
fn trace(item: TableItem, account: &AccountId, addresses: &BTreeSet<String>) -> Option<CopyTrace> {
    let row = from_item::<Recipient>(item).ok()?;
    let email = EmailAddress::parse_stored(&row.value.email).ok()?;
    if !addresses.contains(&email.folded()) {
        return None;
    }
    let message = row.key.pk.strip_prefix(&format!("M#{account}#"))?;
    Some(CopyTrace {
        message: MessageId::parse(message).ok()?,
        recipient: row.key.recipient_number()?,
        state: row.value.state,
        accepted_at: row.value.accepted_at,
        kept: row.value.kept,
    })
}

impl Store {
    /// One copy, as a scan would find it.
    pub async fn trace(
        &self,
        account: &AccountId,
        message: &MessageId,
        recipient: u32,
    ) -> Result<Option<CopyTrace>, StoreError> {
        let row = self.recipient(account, message, recipient).await?;
        Ok(row.map(|row| CopyTrace {
            message: message.clone(),
            recipient,
            state: row.state,
            accepted_at: row.accepted_at,
            kept: row.kept,
        }))
    }

    /// The copies of an account to these addresses (as they compare) on the next page of the table.
    pub async fn copies_page(
        &self,
        account: &AccountId,
        addresses: &BTreeSet<String>,
        after: Option<&ScanPosition>,
    ) -> Result<CopiesPage, StoreError> {
        const PARTS: &str = "#pk, #sk, #email, #state, #accepted_at, #copies, #kept";
        let rows = Expression::new(
            "(begins_with(#pk, :messages) AND begins_with(#sk, :copies)) \
             OR begins_with(#pk, :waiting)",
            [
                ("messages", text(format!("M#{account}#"))),
                ("copies", text("R#")),
                ("waiting", text(Key::waiting_pks(account))),
            ],
        );
        let scan = self
            .client
            .scan()
            .table_name(&*self.table)
            .set_filter_expression(rows.text())
            .projection_expression(PARTS)
            .set_expression_attribute_names(names_of([PARTS]))
            .set_expression_attribute_values(rows.values())
            .set_exclusive_start_key(after.map(ScanPosition::start));
        let got = scan.send().await.map_err(StoreError::from_sdk)?;
        let items = got.items.unwrap_or_default();
        let last = got.last_evaluated_key.filter(|key| !key.is_empty());
        let next = last.and_then(|key| {
            Some(ScanPosition {
                pk: text_of(&key, "pk")?,
                sk: text_of(&key, "sk")?,
            })
        });
        let (mut found, mut listings) = (Vec::new(), Vec::new());
        for item in items {
            let pk = text_of(&item, "pk").unwrap_or_default();
            if pk.starts_with(&Key::waiting_pks(account)) {
                listings.extend(listing_of(item, addresses));
            } else {
                found.extend(trace(item, account, addresses));
            }
        }
        Ok(CopiesPage {
            found,
            listings,
            next,
        })
    }

    /// Deletes a copy and its dependent rows; returns how many rows that were.
    ///
    /// # Errors
    /// When the table fails; a repeated call resumes.
    pub async fn forget_copy(
        &self,
        account: &AccountId,
        message: &MessageId,
        recipient: u32,
    ) -> Result<usize, StoreError> {
        let pk = Key::message_pk(account, message);
        let own = ["FIRST", "TOLD"].map(|kind| format!("{kind}#{recipient:05}#"));
        let copy = Key::recipient(account, message, recipient);
        let rows = self.row_keys(&pk).await?.into_iter();
        let is_own = |key: &Key| *key == copy || own.iter().any(|own| key.sk.starts_with(own));
        let keys: Vec<Key> = rows.filter(is_own).collect();
        self.delete_many(&keys).await?;
        Ok(keys.len())
    }
}
