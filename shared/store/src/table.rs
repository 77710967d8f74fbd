//! The table: the primitives that every family of rows is built from, and nothing about any of them.
//!
//! A row is a serde value plus four attributes of the store: `v`, the form of the row (1); `rev`, a
//! revision that [`Store::modify`] guards with; `exp`, when DynamoDB may delete it; and the key
//! itself. DynamoDB deletes late, so a row whose `exp` is over reads as one that is gone: what was
//! read becomes a row in one place (`Store::row` in `item.rs`), and a new row may take its key.
//!
//! | file | what it has |
//! |---|---|
//! | `store.rs` | the handle: client, name, clock |
//! | `item.rs` | a row as the table holds it |
//! | `rows.rs` | one row: get, put, modify, delete |
//! | `list.rs`, `range.rs` | the rows of a partition; of a collection spread over several |
//! | `many.rs` | many rows at once |
//! | `transact.rs` | several rows, all or nothing |
//! | `expression.rs`, `update.rs` | conditions and updates, built by attribute; counters |
//! | `largest.rs` | how large the rows of each family become |
//! | `attempts.rs` | when a write that met another is tried again |
//! | `minutes.rs` | which minutes of due rows this instance has listed |
//! | `embedded.rs` | a table inside this process |

mod attempts;
mod embedded;
mod error;
mod expression;
mod item;
pub mod largest;
mod list;
mod many;
mod minutes;
mod range;
mod rows;
mod store;
mod transact;
mod update;

pub use attempts::Attempts;
pub use embedded::{Embedded, TableResponse};
pub use error::StoreError;
pub use item::StoredRow;
pub use list::PageQuery;
pub use range::ResultPage;
pub use rows::{Put, RowChange};
pub use store::{DUE_SHARDS, Store};
pub use transact::{Transact, Write};

pub(crate) use expression::{Expression, UpdateBuilder, names_of};
pub(crate) use item::{TableItem, from_item, number, text, text_of, to_item};
pub(crate) use many::put_request;
pub(crate) use range::Range;
pub(crate) use update::is_conflict;
