//! Recipients' copies: the claim on handing one over, the outcome, its events.
//!
//! The row of a copy is written twice on the ordinary path: by the claim before the relay is
//! called, by the outcome after it ([`Store::record`]). DynamoDB bills the whole row for each
//! write, so it is small, and no number of attempts makes it grow. A claim is a lease: one that
//! expired without an outcome may be taken again, so nothing is lost; a live one prevents a
//! repeated job from sending twice.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use posthaste_model::{AccountId, Event, EventKind, MessageId, Timestamp, cut};
use serde::{Deserialize, Serialize};

use super::event_codec::{self, CopyId};
use super::kept::KeepTerm;
use crate::key::Key;
use crate::table::{
    PageQuery, Store, StoreError, StoredRow, UpdateBuilder, from_item, number, text,
};

/// Bytes of a subject that are stored for lookups. Senders may write a megabyte.
pub const LONGEST_SUBJECT: usize = 1024;

/// What is removed from a row that became too large, beside its events.
pub(super) const GROWN: [&str; 5] = [
    "last_deferred",
    "more_deferrals",
    "opens",
    "clicks",
    "subject",
];

/// The state of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyState {
    /// A process is handing it over, until the lease ends.
    #[default]
    Claimed,
    /// The relay deferred it.
    Deferred,
    /// Handed to a service that reports the outcome later.
    Handed,
    Delivered,
    Bounced,
    Dropped,
}

impl CopyState {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Deferred => "deferred",
            Self::Handed => "handed",
            Self::Delivered => "delivered",
            Self::Bounced => "bounced",
            Self::Dropped => "dropped",
        }
    }
}

/// One recipient's copy as stored in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    pub email: String,
    #[serde(default)]
    pub from: String,
    #[serde(default)]
    pub subject: String,
    #[serde(default)]
    pub state: CopyState,
    #[serde(default)]
    pub attempt: u32,
    #[serde(default)]
    pub lease: Timestamp,
    #[serde(default)]
    pub accepted_at: Timestamp,
    #[serde(default)]
    pub updated_at: Timestamp,
    /// What happened to the copy, oldest first, each a JSON text of [`Event`]. Of the deferrals the
    /// first and the last one: see [`Recipient::deferrals`].
    #[serde(default)]
    pub events: Vec<String>,
    /// How many events are in the row's list.
    #[serde(skip)]
    pub(crate) listed: usize,
    /// The last deferral that is not in the list; each replaces the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_deferred: Option<String>,
    /// How many deferrals there were that are not in the list.
    #[serde(default)]
    pub(crate) more_deferrals: u32,
    /// See [`Recipient::visits`].
    #[serde(default)]
    pub(crate) opens: BTreeSet<String>,
    #[serde(default)]
    pub(crate) clicks: BTreeSet<String>,
    /// For how long its composed mail is kept, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeepTerm>,
}

impl Recipient {
    /// With the events as they are reported, not as the row stores them.
    fn whole(self, copy: CopyId<'_>) -> Self {
        let last = self.last_deferred.as_deref();
        let events = event_codec::whole(copy, &self.email, &self.events, last);
        Self {
            listed: self.events.len(),
            events,
            ..self
        }
    }

    /// How often the copy was deferred.
    pub fn deferrals(&self) -> u32 {
        let listed = self
            .events()
            .iter()
            .filter(|e| e.kind == EventKind::Deferred)
            .count();
        let listed = u32::try_from(listed).unwrap_or(u32::MAX);
        // The last of the others is among those that are reported.
        listed.saturating_add(self.more_deferrals.saturating_sub(1))
    }

    /// The events that can be read.
    pub fn events(&self) -> Vec<Event> {
        let read = |text: &String| serde_json::from_str(text).ok();
        self.events.iter().filter_map(read).collect()
    }
}

/// What a claim records about the copy for later lookups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described<'a> {
    pub email: &'a str,
    pub from: &'a str,
    /// Of any length; [`LONGEST_SUBJECT`] bytes of it are stored.
    pub subject: &'a str,
    pub accepted_at: Timestamp,
}

/// Who claims, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// Names the process. Where only one process can exist (the local host), claims of another name
    /// are dead whatever their lease: see `single_process`.
    pub owner: &'a str,
    pub single_process: bool,
    pub now: Timestamp,
    /// Seconds until another process may try.
    pub lease: i64,
    /// Seconds until the row may be deleted, from now.
    pub retention: i64,
}

/// What a claim found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Claim {
    /// The claim succeeded: hand the copy over, then record the outcome.
    Won,
    /// Another process holds it; retry when the lease is over.
    Busy { until: Timestamp },
    /// It has an outcome for this attempt or a later one.
    Done,
}

/// Sets what a claim records, except how long it lasts.
pub(super) fn claimed(
    update: UpdateBuilder,
    attempt: u32,
    who: Claimant<'_>,
    what: &Described<'_>,
) -> UpdateBuilder {
    update
        .set("state", text(CopyState::Claimed.word()))
        .set("attempt", number(attempt))
        .set("owner", text(who.owner))
        .set("email", text(what.email))
        .set("from", text(what.from))
        .set("subject", text(cut(what.subject, LONGEST_SUBJECT)))
        .set("accepted_at", number(what.accepted_at.0))
        .set("updated_at", number(who.now.0))
        .set("exp", number(who.now.0 + who.retention))
        .set("v", number(1))
}

/// Why a claim was not won.
fn refused(
    error: SdkError<UpdateItemError>,
    attempt: u32,
    now: Timestamp,
) -> Result<Claim, StoreError> {
    let Some(UpdateItemError::ConditionalCheckFailedException(found)) = error.as_service_error()
    else {
        return Err(StoreError::from_sdk(error));
    };
    let Some(old) = found.item.clone() else {
        return Ok(Claim::Busy { until: now });
    };
    let old = from_item::<Recipient>(old)?.value;
    Ok(match old.state {
        CopyState::Claimed if old.attempt <= attempt => Claim::Busy { until: old.lease },
        CopyState::Claimed
        | CopyState::Deferred
        | CopyState::Handed
        | CopyState::Delivered
        | CopyState::Bounced
        | CopyState::Dropped => Claim::Done,
    })
}

impl Store {
    /// Claims attempt `attempt` of one copy.
    pub async fn claim(
        &self,
        copy: (&AccountId, &MessageId, u32),
        attempt: u32,
        who: Claimant<'_>,
        what: &Described<'_>,
    ) -> Result<Claim, StoreError> {
        self.claim_to_keep(copy, attempt, who, (what, None)).await
    }

    /// The same for a copy whose composed mail will be kept: its row says so first, so that an erasure
    /// finds what is stored of it wherever that is.
    pub async fn claim_to_keep(
        &self,
        copy: (&AccountId, &MessageId, u32),
        attempt: u32,
        who: Claimant<'_>,
        (what, keep): (&Described<'_>, Option<KeepTerm>),
    ) -> Result<Claim, StoreError> {
        // Free when there was no claim, when an earlier attempt was deferred, or when the claim on
        // this very attempt died: its lease expired, or its process did.
        let dead = if who.single_process {
            "(#lease < :now OR #owner <> :owner)"
        } else {
            "#lease < :now"
        };
        let free = format!(
            "attribute_not_exists(pk) OR (#state = :deferred AND #attempt < :attempt) \
             OR (#state = :claimed AND #attempt = :attempt AND {dead})"
        );
        let mut update = UpdateBuilder::default();
        if let Some(term) = keep {
            update = update.set("kept", term.attribute());
        }
        let update = claimed(update, attempt, who, what)
            .set("lease", number(who.now.0 + who.lease))
            .set_once("events", AttributeValue::L(Vec::new()))
            .condition(
                free,
                [
                    ("claimed", text(CopyState::Claimed.word())),
                    ("deferred", text(CopyState::Deferred.word())),
                    ("now", number(who.now.0)),
                ],
            );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        let call = self.update_call(&key, &update);
        let call = call
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let Err(error) = self.send(|| call.clone().send()).await else {
            return Ok(Claim::Won);
        };
        refused(error, attempt, who.now)
    }

    /// One copy.
    pub async fn recipient(
        &self,
        account: &AccountId,
        message: &MessageId,
        recipient: u32,
    ) -> Result<Option<Recipient>, StoreError> {
        let key = Key::recipient(account, message, recipient);
        let row = self.get::<Recipient>(&key).await?;
        Ok(row.map(|row| row.value.whole((account, message, recipient))))
    }

    /// Copies of an account, each with its message and number; those that have no row are missing.
    pub async fn copies(
        &self,
        account: &AccountId,
        which: &[(&MessageId, u32)],
    ) -> Result<Vec<(MessageId, u32, Recipient)>, StoreError> {
        let by_key: BTreeMap<Key, _> = which
            .iter()
            .map(|(message, n)| (Key::recipient(account, message, *n), (*message, *n)))
            .collect();
        let keys: Vec<Key> = by_key.keys().cloned().collect();
        let rows = self.get_many::<Recipient>(&keys).await?;
        let found = rows.into_iter().filter_map(|row| {
            let (message, n) = *by_key.get(&row.key)?;
            let copy = row.value.whole((account, message, n));
            Some((message.clone(), n, copy))
        });
        Ok(found.collect())
    }

    /// Every copy of a message that has been claimed so far, in order.
    pub async fn recipients(
        &self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<Vec<Recipient>, StoreError> {
        let all = self.numbered(account, message, &PageQuery::all()).await?;
        Ok(all.into_iter().map(|(_, copy)| copy).collect())
    }

    /// Some of them, each with its number.
    pub(super) async fn numbered(
        &self,
        account: &AccountId,
        message: &MessageId,
        page: &PageQuery,
    ) -> Result<Vec<(u32, Recipient)>, StoreError> {
        let pk = Key::message_pk(account, message);
        let rows = self.list::<Recipient>(&pk, "R#", page).await?;
        let whole = |row: StoredRow<Recipient>| {
            let number = row.key.recipient_number()?;
            Some((number, row.value.whole((account, message, number))))
        };
        Ok(rows.into_iter().filter_map(whole).collect())
    }
}
