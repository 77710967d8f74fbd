//! How the attempts at a copy end, and what its row stores of them.
//!
//! An outage lasts for hundreds of attempts. Of their deferrals the row stores the first one (with
//! `processed`, in the list of its events), the last one, and how many there were: a later attempt
//! overwrites the one before, and the row stays as large as after the second.

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{Event, EventKind, Timestamp, cut};

use crate::event_codec::{self, CopyId};
use crate::messages::{LONGEST_SUBJECT, filled};
use crate::table::{is_conflict, number, text};
use crate::{Claimant, CopyState, Described, Key, Store, StoreError};

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

/// What is written of an outcome beside the state.
struct OutcomeDetail {
    set: &'static str,
    /// Attributes to remove, each after a comma.
    remove: &'static str,
    names: &'static [&'static str],
    values: Vec<(&'static str, AttributeValue)>,
}

impl OutcomeDetail {
    /// Adds the events to those that the row has.
    fn added(
        copy: CopyId<'_>,
        attempt: u32,
        outcome: &AttemptOutcome<'_>,
    ) -> Result<Self, StoreError> {
        if let Some(deferred) = outcome.repeated_deferral(attempt) {
            return Ok(Self {
                set: "last_deferred = :event, \
                      more_deferrals = if_not_exists(more_deferrals, :zero) + :one",
                remove: "",
                names: &[],
                values: vec![
                    (":event", text(event_codec::later(copy, deferred)?)),
                    (":zero", number(0)),
                    (":one", number(1)),
                ],
            });
        }
        let events = match outcome.events {
            // The first attempt was recorded before any later one could be claimed.
            [only] if attempt > 0 => AttributeValue::L(vec![text(event_codec::later(copy, only)?)]),
            events => event_codec::list(copy, events)?,
        };
        Ok(Self {
            set: "#events = list_append(if_not_exists(#events, :none), :events)",
            remove: "",
            names: &["events"],
            values: vec![
                (":events", events),
                (":none", AttributeValue::L(Vec::new())),
            ],
        })
    }

    /// Replaces all events that the row has.
    fn alone(copy: CopyId<'_>, outcome: &AttemptOutcome<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            set: "#events = :events",
            remove: ", last_deferred, more_deferrals, opens, clicks, #subject",
            names: &["events", "subject"],
            values: vec![(":events", event_codec::list(copy, outcome.events)?)],
        })
    }
}

impl Store {
    /// Records how attempt `attempt` of one copy ended, unless a later attempt was recorded before.
    /// A final state that was recorded first (see [`Store::record_feedback`]) stays. Recording the
    /// same outcome twice is a no-op.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn record(
        &self,
        copy: CopyId<'_>,
        attempt: u32,
        outcome: &AttemptOutcome<'_>,
    ) -> Result<bool, StoreError> {
        let kept = OutcomeDetail::added(copy, attempt, outcome)?;
        match self.write_outcome(copy, attempt, outcome, kept).await {
            // Releases before this one let a row grow with each attempt: those events are removed.
            Err(StoreError::Validation(_)) => {
                let kept = OutcomeDetail::alone(copy, outcome)?;
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
        kept: OutcomeDetail,
    ) -> Result<bool, StoreError> {
        let (set, remove) = (kept.set, kept.remove);
        let mut update = self
            .update_copy(copy)
            .update_expression(format!(
                "SET #state = if_not_exists(#after, :state), updated_at = :now, {set} \
                 REMOVE #lease, #owner{remove}"
            ))
            .condition_expression("#state = :claimed AND #attempt = :attempt");
        for (name, value) in kept.values {
            update = update.expression_attribute_values(name, value);
        }
        let values = [
            (":claimed", text(CopyState::Claimed.word())),
            (":state", text(outcome.state.word())),
            (":attempt", number(attempt)),
            (":now", number(outcome.now.0)),
        ];
        let names = [&["state", "after", "attempt", "lease", "owner"], kept.names].concat();
        match filled(update, &names, values).send().await {
            Ok(_) => Ok(true),
            Err(e) if is_conflict(&e) => Ok(false),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
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
        let put = self
            .client
            .put_item()
            .table_name(&*self.table)
            .item("pk", text(Key::message_pk(copy.0, copy.1)))
            .item("sk", text(Key::recipient(copy.0, copy.1, copy.2).sk))
            .item("v", number(1))
            .item("state", text(CopyState::Dropped.word()))
            .item("attempt", number(attempt))
            .item("email", text(cut(what.email, LONGEST_SUBJECT)))
            .item("accepted_at", number(what.accepted_at.0))
            .item("updated_at", number(who.now.0))
            .item("exp", number(who.now.0 + who.retention))
            .item("events", event_codec::list(copy, &[event])?)
            .condition_expression(
                "attribute_not_exists(pk) OR #state = :deferred \
                 OR (#state = :claimed AND (#owner = :owner OR #lease < :now))",
            )
            .expression_attribute_names("#state", "state")
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_names("#lease", "lease")
            .expression_attribute_values(":deferred", text(CopyState::Deferred.word()))
            .expression_attribute_values(":claimed", text(CopyState::Claimed.word()))
            .expression_attribute_values(":owner", text(who.owner))
            .expression_attribute_values(":now", number(who.now.0));
        match put.send().await {
            Ok(_) => Ok(true),
            Err(e) if is_conflict(&e) => Ok(false),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }
}
