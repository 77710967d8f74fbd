//! How the attempts at a copy end, and what its row stores of them.
//!
//! An outage lasts for hundreds of attempts. Of their deferrals the row stores the first one (with
//! `processed`, in the list of its events), the last one, and how many there were: a later attempt
//! overwrites the one before, and the row stays as large as after the second.

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{Event, EventKind, Timestamp, cut};

use super::event_codec::{self, CopyId};
use super::messages::{Claimant, CopyState, Described, GROWN, LONGEST_SUBJECT, claimed};
use crate::key::Key;
use crate::table::{Expression, Store, StoreError, UpdateBuilder, is_conflict, number, text};

/// How one attempt ended.
#[derive(Clone, Debug)]
pub struct AttemptOutcome<'a> {
    pub state: CopyState,
    pub now: Timestamp,
    pub events: &'a [Event],
}

impl AttemptOutcome<'_> {
    /// The one event of a deferral that is not the first: the first attempt reports `processed`
    /// too.
    fn repeated_deferral(&self, attempt: u32) -> Option<&Event> {
        match self.events {
            [only] if attempt > 0 && only.kind == EventKind::Deferred => Some(only),
            _ => None,
        }
    }
}

/// The update that adds the events of an outcome to those that the row has.
fn added(
    copy: CopyId<'_>,
    attempt: u32,
    outcome: &AttemptOutcome<'_>,
) -> Result<UpdateBuilder, StoreError> {
    let update = UpdateBuilder::default();
    if let Some(deferred) = outcome.repeated_deferral(attempt) {
        let event = text(event_codec::later(copy, deferred)?);
        return Ok(update.set("last_deferred", event).add("more_deferrals", 1));
    }
    let events = match outcome.events {
        // The first attempt was recorded before any later one could be claimed.
        [only] if attempt > 0 => AttributeValue::L(vec![text(event_codec::later(copy, only)?)]),
        events => event_codec::list(copy, events)?,
    };
    Ok(update.append("events", events))
}

/// The update that replaces all events that the row has.
fn alone(copy: CopyId<'_>, outcome: &AttemptOutcome<'_>) -> Result<UpdateBuilder, StoreError> {
    let events = event_codec::list(copy, outcome.events)?;
    Ok(UpdateBuilder::default().set("events", events).remove(GROWN))
}

impl Store {
    /// Records how attempt `attempt` of one copy ended, unless a later attempt was recorded before.
    /// A final state that was recorded first (see [`Store::record_feedback`]) stays. Recording the
    /// same outcome twice is a no-op.
    pub async fn record(
        &self,
        copy: CopyId<'_>,
        attempt: u32,
        outcome: &AttemptOutcome<'_>,
    ) -> Result<bool, StoreError> {
        let kept = added(copy, attempt, outcome)?;
        match self.write_outcome(copy, attempt, outcome, kept).await {
            // Releases before this one let a row grow with each attempt: those events are removed.
            Err(StoreError::Validation(_)) => {
                let kept = alone(copy, outcome)?;
                self.write_outcome(copy, attempt, outcome, kept).await
            }
            done => done,
        }
    }

    async fn write_outcome(
        &self,
        copy: CopyId<'_>,
        attempt: u32,
        outcome: &AttemptOutcome<'_>,
        kept: UpdateBuilder,
    ) -> Result<bool, StoreError> {
        let state = text(outcome.state.word());
        let update = kept
            .set_to("state", "if_not_exists(#after, :state)", state)
            .set("updated_at", number(outcome.now.0))
            .remove(["lease", "owner"])
            .condition(
                "#state = :claimed AND #attempt = :attempt",
                [
                    ("claimed", text(CopyState::Claimed.word())),
                    ("attempt", number(attempt)),
                ],
            );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        self.update(&key, &update).await
    }

    /// Gives back a claim whose copy the relay did not look at: the same attempt may be claimed again
    /// at once. Returns whether the claim was still held.
    pub async fn release_claim(
        &self,
        copy: CopyId<'_>,
        attempt: u32,
        owner: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let update = UpdateBuilder::default()
            .set("lease", number(0))
            .set("updated_at", number(now.0))
            .condition(
                "#state = :claimed AND #attempt = :attempt AND #owner = :owner",
                [
                    ("claimed", text(CopyState::Claimed.word())),
                    ("attempt", number(attempt)),
                    ("owner", text(owner)),
                ],
            );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        self.update(&key, &update).await
    }

    /// Records in one write that a copy waits for the relay, with the events that report it. Its
    /// attempt is unclaimed afterwards, so that a later job of the same attempt may claim it.
    ///
    /// `is_held` says whether the caller holds the claim. Returns whether that was written: not
    /// where it was before, another process holds the copy, or it has ended.
    pub async fn begin_waiting(
        &self,
        copy: CopyId<'_>,
        attempt: u32,
        (who, what, is_held): (Claimant<'_>, &Described<'_>, bool),
        events: &[Event],
    ) -> Result<bool, StoreError> {
        let outcome = AttemptOutcome {
            state: CopyState::Claimed,
            now: who.now,
            events,
        };
        let update = claimed(added(copy, attempt, &outcome)?, attempt, who, what);
        let update = update.set("lease", number(0)).set("waits", number(attempt));
        let held = ("claimed", text(CopyState::Claimed.word()));
        let update = if is_held {
            update.condition(
                "#state = :claimed AND #attempt = :attempt AND #owner = :owner \
                 AND (attribute_not_exists(#waits) OR #waits <> :attempt)",
                [held],
            )
        } else {
            update.condition(
                "attribute_not_exists(pk) OR (#state = :deferred AND #attempt < :attempt) \
                 OR (#state = :claimed AND #attempt = :attempt AND #lease < :now \
                     AND (attribute_not_exists(#waits) OR #waits <> :attempt))",
                [
                    held,
                    ("deferred", text(CopyState::Deferred.word())),
                    ("now", number(who.now.0)),
                ],
            )
        };
        let key = Key::recipient(copy.0, copy.1, copy.2);
        self.update(&key, &update).await
    }

    /// Ends a copy as dropped that the table cannot hold as it is: with a row of nothing except its
    /// address and its last event, below 4 KB. Returns whether that was done: not where the copy
    /// has ended, or another process holds it.
    ///
    /// # Errors
    /// When the table fails, or rejects this row too: then the mail is not the cause.
    pub async fn drop_unrecordable(
        &self,
        copy: CopyId<'_>,
        attempt: u32,
        (who, what): (Claimant<'_>, &Described<'_>),
        dropped: &Event,
    ) -> Result<bool, StoreError> {
        let mut event = dropped.clone();
        event.custom_args.clear();
        event.category = None;
        event.template_id = None;
        event.smtp_id = None;
        let free = Expression::new(
            "attribute_not_exists(pk) OR #state = :deferred \
             OR (#state = :claimed AND (#owner = :owner OR #lease < :now))",
            [
                ("deferred", text(CopyState::Deferred.word())),
                ("claimed", text(CopyState::Claimed.word())),
                ("owner", text(who.owner)),
                ("now", number(who.now.0)),
            ],
        );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        let put = self
            .client
            .put_item()
            .table_name(&*self.table)
            .item("pk", text(key.pk))
            .item("sk", text(key.sk))
            .item("v", number(1))
            .item("state", text(CopyState::Dropped.word()))
            .item("attempt", number(attempt))
            .item("email", text(cut(what.email, LONGEST_SUBJECT)))
            .item("accepted_at", number(what.accepted_at.0))
            .item("updated_at", number(who.now.0))
            .item("exp", number(who.now.0 + who.retention))
            .item("events", event_codec::list(copy, &[event])?)
            .set_condition_expression(free.text())
            .set_expression_attribute_names(free.names())
            .set_expression_attribute_values(free.values());
        match self.send(|| put.clone().send()).await {
            Ok(_) => Ok(true),
            Err(e) if is_conflict(&e) => Ok(false),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }
}
