//! Scheduled mail on the page: when it leaves, and the buttons that change that.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use posthaste_model::{AccountId, MessageId, Timestamp};

use crate::copies::DeliveryStatus;
use crate::query::instant;
use crate::rows::{ListRow, rfc3339};

/// Whether some copies of a request still wait for their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingState {
    Scheduled,
    /// Its batch is paused.
    Paused,
    /// It is dropped at its time.
    Cancelled,
    /// It left, or was dropped for being too late.
    Over,
}

/// Copies of a request that leave together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingPart {
    pub leaves: Timestamp,
    pub state: WaitingState,
    /// Whether it is in a batch, which can be paused.
    pub has_batch: bool,
}

/// A change that the page asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleChange {
    /// Drops what has yet to leave.
    Cancel,
    /// Pauses the batch, with all of its mails.
    Pause,
    /// Lets a paused batch go on.
    Resume,
    /// Moves what has yet to leave; a time in the past means now.
    Move(Timestamp),
}

/// Reads and changes scheduled mail.
pub trait ScheduleControl: Send + Sync {
    /// The parts of a request; none when it was never scheduled.
    fn parts(&self, account: AccountId, message: MessageId)
    -> BoxFuture<'static, Vec<WaitingPart>>;

    /// Changes all parts that have yet to leave.
    ///
    /// # Errors
    /// A sentence about what is in the way; then nothing was changed.
    fn change(
        &self,
        account: AccountId,
        message: MessageId,
        change: ScheduleChange,
    ) -> BoxFuture<'static, Result<(), String>>;
}

/// The requests of rows that are scheduled, each with its parts.
pub(crate) type WaitingParts = BTreeMap<(AccountId, MessageId), Vec<WaitingPart>>;

/// Looks up what the page shows of scheduled mail among these rows.
pub(crate) async fn waiting_parts(
    control: Option<&Arc<dyn ScheduleControl>>,
    rows: impl IntoIterator<Item = &ListRow>,
) -> WaitingParts {
    let Some(control) = control else {
        return WaitingParts::default();
    };
    let scheduled = rows
        .into_iter()
        .filter(|row| row.status == DeliveryStatus::Scheduled);
    let mut wanted: Vec<_> = scheduled
        .filter_map(|row| row.copy.as_ref())
        .map(|copy| (copy.account.clone(), copy.message.clone()))
        .collect();
    wanted.sort();
    wanted.dedup();
    let found = wanted.into_iter().map(|(account, message)| async move {
        let parts = control.parts(account.clone(), message.clone()).await;
        ((account, message), parts)
    });
    join_all(found).await.into_iter().collect()
}

/// What a row of scheduled mail shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub word: &'static str,
    /// When it leaves, RFC 3339.
    pub at: String,
    pub can_change: bool,
    /// Whether its batch can be paused, and whether it is.
    pub can_pause: bool,
    pub can_resume: bool,
    /// For a field of a form: the time in UTC without a zone.
    pub field: String,
}

impl Wait {
    /// Of a row that is scheduled; `None` for any other.
    pub(crate) fn of(row: &ListRow, parts: &WaitingParts) -> Option<Self> {
        if row.status != DeliveryStatus::Scheduled {
            return None;
        }
        let copy = row.copy.as_ref()?;
        let known = parts.get(&(copy.account.clone(), copy.message.clone()));
        let known = known.map(Vec::as_slice).unwrap_or_default();
        // A moved mail has one time for all parts; else the part of this copy has its time.
        let own = known.iter().find(|part| Some(part.leaves) == row.leaves);
        let part = own.or_else(|| known.first());
        let state = part.map_or(WaitingState::Over, |part| part.state);
        let leaves = part.map(|part| part.leaves).or(row.leaves)?;
        let at = rfc3339(leaves.millis());
        let is_waiting = matches!(state, WaitingState::Scheduled | WaitingState::Paused);
        Some(Self {
            word: match state {
                WaitingState::Scheduled => "scheduled",
                WaitingState::Paused => "paused",
                WaitingState::Cancelled => "cancelled",
                WaitingState::Over => "queued",
            },
            field: at.trim_end_matches('Z').to_owned(),
            at,
            can_change: is_waiting,
            can_pause: state == WaitingState::Scheduled && part.is_some_and(|part| part.has_batch),
            can_resume: state == WaitingState::Paused,
        })
    }
}

/// The change that a form of the page asks for.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(crate) fn read_change(action: &str, at: &str) -> Result<ScheduleChange, &'static str> {
    match action {
        "cancel" => Ok(ScheduleChange::Cancel),
        "pause" => Ok(ScheduleChange::Pause),
        "resume" => Ok(ScheduleChange::Resume),
        "now" => Ok(ScheduleChange::Move(Timestamp(0))),
        "move" => {
            let at = instant(at).ok_or("The time is not one: write it as 2026-11-30T12:00.")?;
            Ok(ScheduleChange::Move(at.seconds()))
        }
        _ => Err("The form asks for nothing that is known."),
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::Verp;

    use super::*;
    use crate::{StoredEnvelope, Summary};

    fn row(status: DeliveryStatus, leaves: i64) -> ListRow {
        ListRow {
            summary: Summary::default(),
            envelope: StoredEnvelope::default(),
            is_recorded: false,
            copy: Some(Verp {
                account: AccountId::from_bytes([1; 10]),
                message: MessageId::from_bytes([2; 16]),
                recipient: 0,
            }),
            request: None,
            status,
            reason: String::new(),
            leaves: Some(Timestamp(leaves)),
        }
    }

    fn parts(parts: &[(i64, WaitingState, bool)]) -> WaitingParts {
        let parts = parts.iter().map(|(at, state, has_batch)| WaitingPart {
            leaves: Timestamp(*at),
            state: *state,
            has_batch: *has_batch,
        });
        let key = (
            AccountId::from_bytes([1; 10]),
            MessageId::from_bytes([2; 16]),
        );
        WaitingParts::from([(key, parts.collect())])
    }

    #[test]
    fn a_row_shows_its_own_part_or_the_time_it_was_moved_to() {
        use WaitingState::{Cancelled, Over, Paused, Scheduled};
        for (known, word, at, buttons) in [
            (
                vec![(50, Scheduled, false), (60, Cancelled, false)],
                "cancelled",
                60,
                [false; 3],
            ),
            (
                vec![(90, Scheduled, false)],
                "scheduled",
                90,
                [true, false, false],
            ),
            (
                vec![(60, Scheduled, true)],
                "scheduled",
                60,
                [true, true, false],
            ),
            (vec![(60, Paused, true)], "paused", 60, [true, false, true]),
            (vec![(60, Over, true)], "queued", 60, [false; 3]),
            (vec![], "queued", 60, [false; 3]),
        ] {
            let wait = Wait::of(&row(DeliveryStatus::Scheduled, 60), &parts(&known)).unwrap();
            assert_eq!(wait.word, word, "{known:?}");
            assert_eq!(wait.at, rfc3339(Timestamp(at).millis()), "{known:?}");
            let shown = [wait.can_change, wait.can_pause, wait.can_resume];
            assert_eq!(shown, buttons, "{known:?}");
        }
        assert_eq!(
            Wait::of(&row(DeliveryStatus::Dropped, 60), &parts(&[])),
            None
        );
    }

    #[test]
    fn only_known_changes_are_read() {
        assert_eq!(read_change("cancel", ""), Ok(ScheduleChange::Cancel));
        assert_eq!(
            read_change("move", "2026-11-27T12:00"),
            Ok(ScheduleChange::Move(Timestamp(1_795_780_800)))
        );
        assert!(read_change("move", "soon").is_err());
        assert!(read_change("", "").is_err());
    }
}
