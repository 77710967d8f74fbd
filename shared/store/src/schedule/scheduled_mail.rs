//! Scheduled mail: the state of each piece of a mail that has yet to leave, and the single decision
//! about it when its job comes.
//!
//! A piece is the part of a mail that leaves at one second; it is named by its first recipient. Its
//! row is the authority on when it leaves and whether it still may: a cancellation, a move or the
//! start of a delivery changes that row only if it is unchanged since it was read. So each of them
//! either comes first or fails because it came too late.

use std::time::Duration;

use futures_util::future::try_join;
use posthaste_model::batch::{BATCH_LIFE, Hold, MessageTimes, PartFate, PartStage, Plan, fate};
use posthaste_model::{AccountId, BatchId, Clock, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::due::Due;
use crate::key::{HeldCursor, Key, padded};
use crate::table::{PageQuery, Put, Range, Store, StoreError, StoredRow, put_request, to_item};

/// A piece as `mail-send` submits it and `delivery` finds it: the job and its attributes.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledMail<'a> {
    pub account: &'a AccountId,
    pub message: &'a MessageId,
    /// Its first recipient: the start of the job's first span, or 0.
    pub first: u32,
    /// How many recipients it has.
    pub recipients: u32,
    /// When the mail was accepted (`Job::accepted`).
    pub accepted: Timestamp,
    /// The second for which the job was made (`Job::due`).
    pub at: Timestamp,
    pub batch: Option<&'a BatchId>,
    /// The text of the job.
    pub job: &'a str,
}

impl ScheduledMail<'_> {
    fn key(&self) -> Key {
        Key::piece(self.account, self.message, self.first)
    }

    pub(crate) fn place(&self) -> HeldCursor<'_> {
        HeldCursor {
            at: self.at,
            message: self.message,
            first: self.first,
        }
    }
}

/// The stored state of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledPart {
    pub message: MessageId,
    pub first: u32,
    pub recipients: u32,
    pub at: Timestamp,
    /// When the mail was accepted. Everything stored for a mail on its way (its body, marks of erased
    /// addresses) outlasts the latest second it may leave, which is counted from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
    #[serde(default)]
    pub stage: PartStage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was: Vec<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// The partition of its minute that holds its due row.
    #[serde(default)]
    pub(crate) shard: u16,
}

impl ScheduledPart {
    fn plan(&self) -> Plan<'_> {
        Plan {
            at: self.at,
            stage: self.stage,
            was: &self.was,
        }
    }

    /// A row without the time of acceptance was written before any hold that is in force.
    pub fn times(&self) -> MessageTimes {
        MessageTimes {
            accepted: self.accepted_at.unwrap_or_default(),
            at: self.at,
        }
    }

    pub(crate) fn place(&self) -> HeldCursor<'_> {
        HeldCursor {
            at: self.at,
            message: &self.message,
            first: self.first,
        }
    }

    /// When the row may expire: long after the last job for it can come.
    pub(crate) fn expires(&self) -> Timestamp {
        Self::life(self.at)
    }

    /// When what is stored of a piece that leaves at a second may expire.
    pub(crate) fn life(at: Timestamp) -> Timestamp {
        at.plus(BATCH_LIFE)
    }

    /// The due row it has while it waits, without its body.
    pub(crate) fn due_key(&self, account: &AccountId) -> Key {
        let id = (&self.message, self.first, 0);
        Due::send(self.at, account, id, String::new()).key(self.shard)
    }
}

/// A piece in the listing of its batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchListing {
    pub at: Timestamp,
    /// When the mail was accepted; 0 in rows of releases that did not write it.
    #[serde(default)]
    pub accepted_at: Timestamp,
    pub message: MessageId,
    pub first: u32,
    pub recipients: u32,
}

impl BatchListing {
    /// When it was accepted and is to leave.
    pub fn times(&self) -> MessageTimes {
        MessageTimes {
            accepted: self.accepted_at,
            at: self.at,
        }
    }
}

/// Some of the pieces of a batch, in the order in which they leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    pub entries: Vec<BatchListing>,
    /// Where to continue, if there is more.
    pub next: Option<String>,
}

/// What a hold would reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The batch holds no messages.
    Empty,
    /// At least one message.
    Some,
    /// None of those there are.
    None,
}

impl Store {
    /// Stores the pieces of a mail until their time. Returns (job, delay) for what leaves so soon
    /// that it must go to the send queue now; everything else is durable once this returns.
    ///
    /// # Errors
    /// When the table fails; then the mail was not accepted.
    pub async fn schedule(
        &self,
        pieces: &[ScheduledMail<'_>],
        clock: &Clock,
    ) -> Result<Vec<(String, Duration)>, StoreError> {
        let mut rows = Vec::new();
        let mut dues = Vec::new();
        for later in pieces {
            let id = (later.message, later.first, 0);
            let due = Due::send(later.at, later.account, id, later.job.to_owned());
            let piece = ScheduledPart {
                message: later.message.clone(),
                first: later.first,
                recipients: later.recipients,
                at: later.at,
                accepted_at: Some(later.accepted),
                stage: PartStage::Waiting,
                was: Vec::new(),
                batch: later.batch.cloned(),
                shard: due.shard(self.minutes.shards),
            };
            rows.push(put_request(&later.key(), &piece, Some(piece.expires()))?);
            if let Some(batch) = later.batch {
                let key = Key::entry(later.account, batch, &piece.place());
                rows.push(put_request(&key, &piece.entry(), Some(piece.expires()))?);
            }
            dues.push(due);
        }
        self.defer_with(rows, dues, clock).await
    }

    /// The pieces of a scheduled mail, in order; empty for one that never was scheduled.
    pub async fn pieces(
        &self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<Vec<StoredRow<ScheduledPart>>, StoreError> {
        let pk = Key::message_pk(account, message);
        self.list(&pk, Key::pieces(), &PageQuery::all()).await
    }

    /// Decides about a piece whose job has come, and does what the table has to do for it. To be
    /// called by `delivery` for every job with a `due` and `attempt` 0, before anything else.
    /// Repeating it gives the same answer:
    ///
    /// * `Deliver`: the piece can no longer be cancelled or moved; go on.
    /// * `Hold`: the job is stored with its batch; delete this copy of it.
    /// * `Discard`: record every copy as dropped, with this reason.
    /// * `Move(at)`: set the job's `due` to `at` and [`defer`](Store::defer) it.
    /// * `Ignore`: delete this copy of the job.
    ///
    /// # Errors
    /// When the table fails; the job is to come again then.
    pub async fn begin_delivery(
        &self,
        later: &ScheduledMail<'_>,
        clock: &Clock,
    ) -> Result<PartFate, StoreError> {
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let (fate, piece) = self.fate_of(later, clock.now()).await?;
            match fate {
                PartFate::Hold => match self.keep_held(later, clock).await? {
                    PartFate::Hold => return Ok(PartFate::Hold),
                    _ => continue,
                },
                PartFate::Deliver => {
                    if Box::pin(self.settle(later, piece, PartStage::Gone)).await? == Put::Stored {
                        return Ok(fate);
                    }
                }
                PartFate::Discard(reason) => {
                    if Box::pin(self.settle(later, piece, reason.stage())).await? == Put::Stored {
                        return Ok(fate);
                    }
                }
                PartFate::Move(_) | PartFate::Ignore => return Ok(fate),
            }
        }
        Err(StoreError::Contended(later.key().sk))
    }

    /// The fate of a piece, read consistently.
    pub(crate) async fn fate_of(
        &self,
        later: &ScheduledMail<'_>,
        now: Timestamp,
    ) -> Result<(PartFate, Option<StoredRow<ScheduledPart>>), StoreError> {
        let key = later.key();
        let hold = async {
            match later.batch {
                None => Ok(None),
                Some(batch) => self.hold_on(later.account, batch, now).await,
            }
        };
        let (piece, hold) = try_join(self.get::<ScheduledPart>(&key), hold).await?;
        let plan = piece.as_ref().map(|row| row.value.plan());
        let job = MessageTimes {
            accepted: later.accepted,
            at: later.at,
        };
        Ok((fate(plan, hold, job, now), piece))
    }

    /// Records that a piece is settled, unless it was changed since it was read.
    async fn settle(
        &self,
        later: &ScheduledMail<'_>,
        piece: Option<StoredRow<ScheduledPart>>,
        stage: PartStage,
    ) -> Result<Put, StoreError> {
        let listed = async {
            if let Some(batch) = later.batch {
                let entry = Key::entry(later.account, batch, &later.place());
                self.delete(&entry).await?;
            }
            Ok(())
        };
        let written = async {
            match piece {
                Some(row) if row.value.stage != stage => {
                    let piece = ScheduledPart { stage, ..row.value };
                    let item = to_item(&row.key, &piece, row.rev + 1, Some(piece.expires()))?;
                    self.put_if(item, Some(row.rev)).await
                }
                Some(_) | None => Ok(Put::Stored),
            }
        };
        let ((), put) = try_join(listed, written).await?;
        Ok(put)
    }

    /// The pieces of a batch, in the order in which they leave: at most `limit`, after `after`.
    pub async fn entries(
        &self,
        account: &AccountId,
        batch: &BatchId,
        after: Option<String>,
        limit: usize,
    ) -> Result<Entries, StoreError> {
        let pk = |part| Key::entries_pk(account, batch, part);
        let range = Range::all().after(after);
        let slice = self.gather::<BatchListing>(pk, &range, limit).await?;
        let last = slice.rows.last().map(|row| row.key.sk.clone());
        Ok(Entries {
            next: last.filter(|_| slice.more),
            entries: slice.rows.into_iter().map(|row| row.value).collect(),
        })
    }

    /// What a hold reaches of the messages that wait.
    pub async fn reach(
        &self,
        account: &AccountId,
        batch: &BatchId,
        hold: Hold,
    ) -> Result<Reach, StoreError> {
        const PAGE: usize = 100;
        let pk = |part| Key::entries_pk(account, batch, part);
        let from = padded(hold.first_reached());
        let reached = Range {
            from,
            ..Range::all()
        };
        if !self
            .gather::<BatchListing>(pk, &reached, 1)
            .await?
            .rows
            .is_empty()
        {
            return Ok(Reach::Some);
        }
        // The others leave sooner: those that were added later are reached too.
        let mut after = None;
        loop {
            let range = Range::all().after(after.clone());
            let page = self.gather::<BatchListing>(pk, &range, PAGE).await?;
            if page.rows.iter().any(|row| hold.reaches(row.value.times())) {
                return Ok(Reach::Some);
            }
            let last = page.rows.last().map(|row| row.key.sk.clone());
            if !page.more || last.is_none() {
                return Ok(match (after, last) {
                    (None, None) => Reach::Empty,
                    (Some(_), _) | (None, Some(_)) => Reach::None,
                });
            }
            after = last;
        }
    }
}

impl ScheduledPart {
    pub(crate) fn entry(&self) -> BatchListing {
        BatchListing {
            at: self.at,
            accepted_at: self.times().accepted,
            message: self.message.clone(),
            first: self.first,
            recipients: self.recipients,
        }
    }
}
