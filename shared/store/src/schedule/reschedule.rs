//! Cancelling and moving one scheduled mail, by its message id, until it leaves. An extension: SPEC
//! covers only whole batches.

use posthaste_model::batch::PartStage;
use posthaste_model::{AccountId, Clock, MessageId, Timestamp};

use super::due::Due;
use super::held::HeldMessage;
use super::scheduled_mail::ScheduledPart;
use crate::key::{HeldCursor, Key};
use crate::table::{RowChange, Store, StoreError, StoredRow, put_request};

/// How many earlier seconds a piece remembers.
const MOST_MOVES: usize = 50;

/// Why a piece was not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    #[error("it has left, or another request cancelled or moved it")]
    TooLate,
    #[error("it was moved {MOST_MOVES} times already")]
    TooOften,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The rows that carry the job of a piece, if it is not in the queue.
#[derive(Clone, Debug)]
pub struct PendingRows {
    dues: Vec<StoredRow<Due>>,
    held: Vec<StoredRow<HeldMessage>>,
}

impl PendingRows {
    /// The text of the job, made for one of the seconds the piece was to leave.
    pub fn job(&self) -> Option<&str> {
        let due = self.dues.first().map(|row| row.value.body.as_str());
        due.or_else(|| self.held.first().map(|row| row.value.job.as_str()))
    }
}

impl ScheduledPart {
    /// Where rows of the piece may lie: at its second, and at those before it was moved.
    pub(crate) fn places(&self) -> impl Iterator<Item = HeldCursor<'_>> {
        let seconds = std::iter::once(self.at).chain(self.was.iter().copied());
        seconds.map(|at| HeldCursor { at, ..self.place() })
    }
}

impl Store {
    /// Cancels what has not left of a scheduled mail; its copies are dropped at their time. Returns
    /// all its pieces as they are now: empty for a mail that was never scheduled. Jobs that were
    /// held are to be sent to the queue, where they are dropped, and
    /// [forgotten](Store::forget_held).
    pub async fn cancel_message(
        &self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<(Vec<ScheduledPart>, Vec<StoredRow<HeldMessage>>), StoreError> {
        let mut pieces = Vec::new();
        let mut held = Vec::new();
        for row in self.pieces(account, message).await? {
            let expires = Some(row.value.expires());
            let cancel = |piece: Option<&ScheduledPart>| -> Result<_, StoreError> {
                let Some(piece) = piece.filter(|piece| piece.stage == PartStage::Waiting) else {
                    return Ok(RowChange::Keep);
                };
                let stage = PartStage::Cancelled;
                Ok(RowChange::Put(ScheduledPart {
                    stage,
                    ..piece.clone()
                }))
            };
            let Some(piece) = self.modify(&row.key, expires, cancel).await? else {
                continue;
            };
            if piece.stage == PartStage::Cancelled {
                self.unlist(account, &piece, piece.at).await?;
                held.extend(self.held_rows(account, &piece).await?);
            }
            pieces.push(piece);
        }
        Ok((pieces, held))
    }

    async fn unlist(
        &self,
        account: &AccountId,
        piece: &ScheduledPart,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(batch) = &piece.batch {
            let place = HeldCursor {
                at,
                ..piece.place()
            };
            self.delete(&Key::entry(account, batch, &place)).await?;
        }
        Ok(())
    }

    /// The rows that carry the job of a piece.
    pub async fn pending_rows(
        &self,
        account: &AccountId,
        piece: &ScheduledPart,
    ) -> Result<PendingRows, StoreError> {
        let keys: Vec<Key> = piece
            .places()
            .map(|place| {
                let at = place.at;
                ScheduledPart {
                    at,
                    ..piece.clone()
                }
                .due_key(account)
            })
            .collect();
        Ok(PendingRows {
            dues: self.get_many(&keys).await?,
            held: self.held_rows(account, piece).await?,
        })
    }

    /// Sets another second for a piece. From here on its job, made for whatever second, waits for
    /// this one. The caller then makes a job for it, [defers](Store::defer) that and
    /// [forgets](Store::forget_pending_rows) the rows that carried the old one: a crash in between
    /// delays the piece at worst.
    pub async fn move_piece(
        &self,
        account: &AccountId,
        piece: &ScheduledPart,
        to: Timestamp,
    ) -> Result<ScheduledPart, MoveError> {
        let from = piece.at;
        let key = Key::piece(account, &piece.message, piece.first);
        let mut moved = ScheduledPart {
            at: to,
            ..piece.clone()
        };
        moved.was.retain(|at| *at != from && *at != to);
        moved.was.push(from);
        if moved.was.len() > MOST_MOVES {
            return Err(MoveError::TooOften);
        }
        let due = Due::send(to, account, (&moved.message, moved.first, 0), String::new());
        moved.shard = due.shard(self.minutes.shards);
        if from == to {
            moved = piece.clone();
        }
        if let Some(batch) = &moved.batch {
            let entry = Key::entry(account, batch, &moved.place());
            let row = put_request(&entry, &moved.entry(), Some(moved.expires()))?;
            self.write_many(vec![row]).await?;
        }
        let change = |now: Option<&ScheduledPart>| match now {
            Some(now) if now == piece => Ok(RowChange::Put(moved.clone())),
            Some(_) | None => Err(MoveError::TooLate),
        };
        let done = self.modify(&key, Some(moved.expires()), change).await;
        let stale = match &done {
            Ok(_) => from,
            Err(MoveError::TooLate | MoveError::TooOften) => to,
            // Whether the row was written is unknown: both places stay listed.
            Err(MoveError::Store(error)) => return Err(error.clone().into()),
        };
        if from != to {
            self.unlist(account, piece, stale).await?;
        }
        done.map(|_| moved)
    }

    /// Deletes the rows that carried the job of a piece before it was moved to `to`.
    ///
    /// # Errors
    /// When the table fails; their jobs are ignored when they come.
    pub async fn forget_pending_rows(
        &self,
        pending: &PendingRows,
        to: Timestamp,
    ) -> Result<(), StoreError> {
        let dues = pending.dues.iter().filter(|row| row.value.at != to);
        let held = pending.held.iter().filter(|row| row.value.at != to);
        let dues = dues.map(|row| row.key.clone());
        let keys: Vec<Key> = dues.chain(held.map(|row| row.key.clone())).collect();
        self.delete_many(&keys).await
    }

    /// Stores the job of a piece again for the second it was moved to. Returns what is to go to the
    /// send queue now.
    pub async fn carry(
        &self,
        account: &AccountId,
        piece: &ScheduledPart,
        job: String,
        clock: &Clock,
    ) -> Result<Vec<(String, std::time::Duration)>, StoreError> {
        let id = (&piece.message, piece.first, 0);
        let due = Due::send(piece.at, account, id, job);
        self.defer(vec![due], clock).await
    }
}
