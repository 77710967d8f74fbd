//! Finds every copy sent to one address by scanning all rows, and deletes it.
//!
//! A scan costs as much as the table is large, and takes longer than a function may run: it
//! proceeds page by page, and a row of its own records where it stopped.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, EmailAddress, MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::mail::{CopyState, Recipient};
use crate::schedule::listing_of;
use crate::table::{Expression, Store, StoreError, TableItem, from_item, names_of, text, text_of};

/// Seconds after which the position of an abandoned scan expires.
const KEPT: i64 = 7 * 86_400;

/// A copy that was found, and what shows whether it is still in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyTrace {
    pub message: MessageId,
    pub recipient: u32,
    pub state: CopyState,
    pub accepted_at: Timestamp,
}

/// What one page of the table held.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    pub found: Vec<CopyTrace>,
    /// Rows of look-ups that list a copy to the address before it leaves.
    pub listings: Vec<Key>,
    /// The count given to [`Store::looked_through`] for the pages before.
    pub left: usize,
    next: Option<Key>,
}

impl Looked {
    /// Whether there is no page behind this one.
    pub fn is_last(&self) -> bool {
        self.next.is_none()
    }
}

/// Where a scan stopped.
#[derive(Debug, Serialize, Deserialize)]
struct Stopped {
    after_pk: String,
    after_sk: String,
    #[serde(default)]
    left: usize,
}

fn place(account: &AccountId, folded: &str) -> Key {
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(folded));
    Key::of_account(account, format!("FORGET#{hash}"))
}

fn start(stopped: &Stopped) -> TableItem {
    TableItem::from([
        ("pk".to_owned(), text(&stopped.after_pk)),
        ("sk".to_owned(), text(&stopped.after_sk)),
    ])
}

/// The copy in an item, if it went to this address: also one whose time is over and that DynamoDB has
/// yet to delete.
fn trace(item: TableItem, account: &AccountId, folded: &str) -> Option<CopyTrace> {
    let row = from_item::<Recipient>(item).ok()?;
    let same =
        EmailAddress::parse_stored(&row.value.email).is_ok_and(|email| email.folded() == folded);
    if !same {
        return None;
    }
    let message = row.key.pk.strip_prefix(&format!("M#{account}#"))?;
    Some(CopyTrace {
        message: MessageId::parse(message).ok()?,
        recipient: row.key.recipient_number()?,
        state: row.value.state,
        accepted_at: row.value.accepted_at,
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
        }))
    }

    /// Scans the next page of the table for this address.
    pub async fn look_through(
        &self,
        account: &AccountId,
        folded: &str,
    ) -> Result<Looked, StoreError> {
        const PARTS: &str = "#pk, #sk, #email, #state, #accepted_at, #copies";
        let stopped = self.get::<Stopped>(&place(account, folded)).await?;
        let stopped = stopped.map(|row| row.value);
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
            .set_exclusive_start_key(stopped.as_ref().map(start));
        let got = scan.send().await.map_err(StoreError::from_sdk)?;
        let items = got.items.unwrap_or_default();
        let last = got.last_evaluated_key.filter(|key| !key.is_empty());
        let next = last.and_then(|key| Some(Key::new(text_of(&key, "pk")?, text_of(&key, "sk")?)));
        let (mut found, mut listings) = (Vec::new(), Vec::new());
        for item in items {
            let pk = text_of(&item, "pk").unwrap_or_default();
            if pk.starts_with(&Key::waiting_pks(account)) {
                listings.extend(listing_of(item, folded));
            } else {
                found.extend(trace(item, account, folded));
            }
        }
        Ok(Looked {
            found,
            listings,
            left: stopped.map_or(0, |stopped| stopped.left),
            next,
        })
    }

    /// Stores the position after a processed page, and how many copies were left so far; deletes it
    /// after the last page.
    pub async fn looked_through(
        &self,
        account: &AccountId,
        folded: &str,
        (page, left): (&Looked, usize),
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = place(account, folded);
        let Some(next) = &page.next else {
            self.delete(&key).await?;
            return Ok(());
        };
        let stopped = Stopped {
            after_pk: next.pk.clone(),
            after_sk: next.sk.clone(),
            left,
        };
        self.put(&key, &stopped, Some(now.plus(KEPT))).await
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
