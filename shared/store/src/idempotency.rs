//! Requests with an `Idempotency-Key`, so that a repeated one is executed once.
//!
//! The first request takes the key under a lease and fixes the message id. If it dies, the lease
//! expires and the next one with the same body resumes under the same message id: what both
//! requests queued are then the same copies, claimed once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::table::{Put, RowChange, Store, StoreError};

/// Seconds for which a key is remembered.
pub const REMEMBERED: i64 = 24 * 3600;

/// Seconds after which a request without an outcome counts as dead: twice the gateway's timeout.
pub const LONGEST_REQUEST: i64 = 60;

/// The stored state of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Replay {
    /// Hash of the body.
    body: String,
    message: MessageId,
    /// When the key was taken first.
    at: Timestamp,
    /// Until then a request holds the key; `None` once the mail was accepted.
    lease: Option<Timestamp>,
}

/// One request that has a key.
#[derive(Clone, Copy, Debug)]
pub struct IdempotentRequest<'a> {
    pub account: &'a AccountId,
    pub key: &'a str,
    /// As sent, decompressed.
    pub body: &'a [u8],
    /// Seconds for which the key is remembered: [`REMEMBERED`], or fewer.
    pub remembered: i64,
}

/// Proof that a request holds its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHold {
    key: Key,
    replay: Replay,
    remembered: i64,
}

impl KeyHold {
    /// The message id to accept the mail under.
    pub fn message(&self) -> &MessageId {
        &self.replay.message
    }
}

/// What [`Store::begin`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Acquire {
    /// Continue, then [`finish`](Store::finish) or [`abort`](Store::abort).
    Acquired(KeyHold),
    /// Another request with this key and body is in progress, at most until then.
    InProgress { until: Timestamp },
    /// It was accepted before, as this message.
    Replay(MessageId),
    /// The key belongs to another body.
    KeyReused,
}

impl Store {
    /// Takes a key for a request that would become the message `fresh`.
    pub async fn begin(
        &self,
        request: IdempotentRequest<'_>,
        fresh: &MessageId,
        now: Timestamp,
    ) -> Result<Acquire, StoreError> {
        let key = Key::replay(request.account, &hash(request.key.as_bytes()));
        let mine = Replay {
            body: posthaste_offload::run(request.body.len(), || hash(request.body)).await,
            message: fresh.clone(),
            at: now,
            lease: Some(now.plus(LONGEST_REQUEST)),
        };
        let remembered = request.remembered;
        let expires = Some(now.plus(remembered));
        // Most keys are new: one call.
        if self.put_new(&key, &mine, expires).await? == Put::Stored {
            return Ok(Acquire::Acquired(KeyHold {
                key,
                replay: mine,
                remembered,
            }));
        }
        let mut taken = None;
        let replay = self
            .modify(&key, expires, |old: Option<&Replay>| {
                let next = next(old, &mine, (now, remembered));
                taken = next.as_ref().err().map(|taken| (**taken).clone());
                Ok::<_, StoreError>(next.map_or(RowChange::Keep, RowChange::Put))
            })
            .await?;
        Ok(taken.unwrap_or_else(|| {
            Acquire::Acquired(KeyHold {
                key,
                replay: replay.unwrap_or(mine),
                remembered,
            })
        }))
    }

    /// Records that the mail of this request was accepted.
    ///
    /// # Errors
    /// When the table fails; the request may then be repeated once the lease has expired.
    pub async fn finish(&self, hold: &KeyHold) -> Result<(), StoreError> {
        let done = Replay {
            lease: None,
            ..hold.replay.clone()
        };
        let expires = done.at.plus(hold.remembered);
        self.put(&hold.key, &done, Some(expires)).await
    }

    /// Frees the key of a request that was refused and changed nothing.
    ///
    /// # Errors
    /// When the table fails; the key is then free once the lease has expired.
    pub async fn abort(&self, hold: &KeyHold) -> Result<(), StoreError> {
        self.unless_taken_over(hold, |_| RowChange::Delete).await
    }

    /// The request failed half-way: it may be repeated at once, under the same message id.
    ///
    /// # Errors
    /// When the table fails; it may then be repeated once the lease has expired.
    pub async fn release(&self, hold: &KeyHold) -> Result<(), StoreError> {
        let over = |old: &Replay| {
            RowChange::Put(Replay {
                lease: Some(old.at),
                ..old.clone()
            })
        };
        self.unless_taken_over(hold, over).await
    }

    async fn unless_taken_over(
        &self,
        hold: &KeyHold,
        change: impl Fn(&Replay) -> RowChange<Replay>,
    ) -> Result<(), StoreError> {
        let expires = Some(hold.replay.at.plus(hold.remembered));
        self.modify(&hold.key, expires, |old: Option<&Replay>| match old {
            Some(old) if *old == hold.replay => Ok(change(old)),
            Some(_) | None => Ok::<_, StoreError>(RowChange::Keep),
        })
        .await?;
        Ok(())
    }
}

/// The row that `mine` may write over `old`, or why it may not.
fn next(
    old: Option<&Replay>,
    mine: &Replay,
    (now, remembered): (Timestamp, i64),
) -> Result<Replay, Box<Acquire>> {
    // Counted from the first request; a later one that resumes keeps the row for longer.
    let Some(old) = old.filter(|old| now.since(old.at) < remembered) else {
        return Ok(mine.clone());
    };
    if old.body != mine.body {
        return Err(Box::new(Acquire::KeyReused));
    }
    match old.lease {
        None => Err(Box::new(Acquire::Replay(old.message.clone()))),
        Some(until) if until > now => Err(Box::new(Acquire::InProgress { until })),
        Some(_) => Ok(Replay {
            lease: mine.lease,
            ..old.clone()
        }),
    }
}

fn hash(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(bytes))
}
