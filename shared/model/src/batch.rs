//! Batches of scheduled mail: how far a hold reaches, and what happens to a part of a mail when
//! its second comes (SPEC, "States and transitions").
//!
//! Pure: `store` stores the rows, `delivery` acts on the answer.

use serde::{Deserialize, Serialize};

use crate::{DropReason, Timestamp};

/// Seconds before its time from which a message can no longer be cancelled or paused
/// (SPEC, "Limits": up to 10 minutes before send time).
pub const NOTICE: i64 = 600;

/// Seconds a paused message is held past its time (SPEC, "Limits": 72 hours).
pub const SHELF_LIFE: i64 = 72 * 3600;

/// Seconds a batch id is valid (API facts, "Batches": 10 days).
pub const BATCH_LIFE: i64 = 864_000;

/// How many batches of an account may be paused or cancelled at once (API facts, "Batches").
pub const MOST_HELD: usize = 100;

/// The holds that an owner may put on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchStatus {
    Pause,
    Cancel,
}

impl BatchStatus {
    /// The status as the API spells it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Cancel => "cancel",
        }
    }

    /// Reads the API's spelling.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "pause" => Some(Self::Pause),
            "cancel" => Some(Self::Cancel),
            _ => None,
        }
    }
}

/// A status together with the moment it was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub status: BatchStatus,
    /// Held are the messages that are added to the batch from this second on, and of those before
    /// it the ones whose time lies at least [`NOTICE`] later.
    pub since: Timestamp,
}

/// When a message was accepted, and the second it is to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageTimes {
    pub accepted: Timestamp,
    pub at: Timestamp,
}

impl Hold {
    /// Whether a message is held: the others were there before the hold, had less than ten minutes
    /// left when it was requested, and leave anyway.
    pub fn reaches(self, message: MessageTimes) -> bool {
        message.accepted >= self.since || message.at >= self.first_reached()
    }

    /// The first second at which messages are held that were there before.
    pub fn first_reached(self) -> Timestamp {
        self.since.plus(NOTICE)
    }

    /// The same hold with another status. What was held stays held: a cancel after a pause also
    /// discards messages that wait past their time.
    #[must_use]
    pub fn turned(self, status: BatchStatus) -> Self {
        Self { status, ..self }
    }
}

/// The progress of a part of scheduled mail. Every stage except `Waiting` is final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartStage {
    /// It has not left yet and can be cancelled or moved.
    #[default]
    Waiting,
    /// Its delivery began; from here on a repeated job finishes it, whatever the batch says.
    Gone,
    /// It is dropped when its job comes.
    Cancelled,
    /// It was paused for too long and dropped.
    Expired,
}

/// The state of a part when its job comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    /// When it is to leave.
    pub at: Timestamp,
    pub stage: PartStage,
    /// Seconds it was to leave before it was moved: a job that names one of them may still carry
    /// it.
    pub was: &'a [Timestamp],
}

/// Why a part is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Cancelled,
    Expired,
}

impl Reason {
    /// The `reason` of the dropped event (SPEC, "States": `Expired`).
    pub fn drop_reason(self) -> DropReason {
        match self {
            Self::Cancelled => DropReason::Cancelled,
            Self::Expired => DropReason::Expired,
        }
    }

    /// The stage of a part that was dropped for this reason.
    pub fn stage(self) -> PartStage {
        match self {
            Self::Cancelled => PartStage::Cancelled,
            Self::Expired => PartStage::Expired,
        }
    }
}

/// The fate of a part whose job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum PartFate {
    /// It leaves.
    Deliver,
    /// It is held, past its time, until the pause is removed or it expires.
    Hold,
    /// Every copy in it ends as dropped.
    Discard(Reason),
    /// It was moved to a later second: the job waits again.
    Move(Timestamp),
    /// Another job carries it.
    Ignore,
}

/// The fate of a part whose job, made for the second `job.at`, has come.
///
/// `plan` is `None` for a part without a row (or whose row expired); then only the hold on its
/// batch decides.
pub fn fate(
    plan: Option<Plan<'_>>,
    hold: Option<Hold>,
    job: MessageTimes,
    now: Timestamp,
) -> PartFate {
    let Some(plan) = plan else {
        return under(hold, job, now);
    };
    let due = job.at;
    let current = plan.at == due;
    if !current && !plan.was.contains(&due) {
        return PartFate::Ignore;
    }
    match plan.stage {
        PartStage::Cancelled => PartFate::Discard(Reason::Cancelled),
        PartStage::Expired => PartFate::Discard(Reason::Expired),
        PartStage::Gone if current => PartFate::Deliver,
        PartStage::Gone => PartFate::Ignore,
        PartStage::Waiting if current => under(hold, job, now),
        PartStage::Waiting => PartFate::Move(plan.at),
    }
}

/// The effect of its batch's hold on a waiting message.
pub fn under(hold: Option<Hold>, message: MessageTimes, now: Timestamp) -> PartFate {
    let Some(hold) = hold.filter(|hold| hold.reaches(message)) else {
        return PartFate::Deliver;
    };
    match hold.status {
        BatchStatus::Cancel => PartFate::Discard(Reason::Cancelled),
        BatchStatus::Pause if now >= expiry(message.at) => PartFate::Discard(Reason::Expired),
        BatchStatus::Pause => PartFate::Hold,
    }
}

/// The first second at which a paused message is older than its shelf life.
pub fn expiry(at: Timestamp) -> Timestamp {
    at.plus(SHELF_LIFE + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Timestamp = Timestamp(1_000_000);

    /// Accepted long before any hold.
    fn early(at: Timestamp) -> MessageTimes {
        let accepted = T.plus(-100_000);
        MessageTimes { accepted, at }
    }

    fn held(status: BatchStatus, since: i64) -> Option<Hold> {
        let since = T.plus(since);
        Some(Hold { status, since })
    }

    #[test]
    fn a_hold_reaches_what_leaves_ten_minutes_later_or_after() {
        use BatchStatus::{Cancel, Pause};
        use Reason::{Cancelled, Expired};
        // The message leaves at T; the hold was requested at T + `since`; its job comes at T +
        // `late`.
        for (hold, late, want) in [
            (None, 0, PartFate::Deliver),
            (None, 1_000_000, PartFate::Deliver),
            (held(Cancel, -600), 0, PartFate::Discard(Cancelled)),
            (held(Cancel, -601), 0, PartFate::Discard(Cancelled)),
            (held(Cancel, -600), 1_000_000, PartFate::Discard(Cancelled)),
            (held(Cancel, -599), 0, PartFate::Deliver),
            (held(Cancel, 0), 0, PartFate::Deliver),
            (held(Cancel, 1), 2, PartFate::Deliver),
            (held(Pause, -600), 0, PartFate::Hold),
            (held(Pause, -599), 0, PartFate::Deliver),
            (held(Pause, -600), SHELF_LIFE, PartFate::Hold),
            (
                held(Pause, -600),
                SHELF_LIFE + 1,
                PartFate::Discard(Expired),
            ),
            (held(Pause, -599), SHELF_LIFE + 1, PartFate::Deliver),
        ] {
            assert_eq!(
                fate(None, hold, early(T), T.plus(late)),
                want,
                "{hold:?} {late}"
            );
        }
    }

    #[test]
    fn a_hold_reaches_what_is_added_later_however_soon_it_leaves() {
        for (status, want) in [
            (BatchStatus::Pause, PartFate::Hold),
            (BatchStatus::Cancel, PartFate::Discard(Reason::Cancelled)),
        ] {
            let hold = held(status, 0);
            for (accepted, wait, want) in [
                (-1, 5, PartFate::Deliver),
                (-1, 600, want),
                (0, 0, want),
                (0, 5, want),
                (100, 0, want),
                (100, 1, want),
            ] {
                let message = MessageTimes {
                    accepted: T.plus(accepted),
                    at: T.plus(accepted.max(0) + wait),
                };
                let now = message.at;
                assert_eq!(under(hold, message, now), want, "{accepted} {wait}");
            }
        }
    }

    #[test]
    fn a_turned_hold_reaches_as_far_as_before() {
        let hold = held(BatchStatus::Pause, -600).unwrap();
        let turned = hold.turned(BatchStatus::Cancel);
        assert_eq!(turned.since, hold.since);
        let now = T.plus(5);
        assert_eq!(
            under(Some(turned), early(T), now),
            PartFate::Discard(Reason::Cancelled)
        );
    }

    #[test]
    fn only_the_job_of_the_present_plan_moves_a_piece() {
        use PartStage::{Cancelled, Expired, Gone, Waiting};
        let pause = held(BatchStatus::Pause, -700);
        let (now, old, other) = (T.plus(3), T.plus(-50), T.plus(-1));
        let drop = |reason| PartFate::Discard(reason);
        for (stage, due, hold, want) in [
            (Waiting, T, None, PartFate::Deliver),
            (Waiting, T, pause, PartFate::Hold),
            (Waiting, old, pause, PartFate::Move(T)),
            (Waiting, other, None, PartFate::Ignore),
            // Once begun, it is finished, even if the batch is held again.
            (Gone, T, pause, PartFate::Deliver),
            (Gone, old, None, PartFate::Ignore),
            (Gone, other, None, PartFate::Ignore),
            (Cancelled, T, None, drop(Reason::Cancelled)),
            (Cancelled, old, None, drop(Reason::Cancelled)),
            (Cancelled, other, None, PartFate::Ignore),
            (Expired, T, None, drop(Reason::Expired)),
            (Expired, other, None, PartFate::Ignore),
        ] {
            let was = &[old];
            let plan = Plan { at: T, stage, was };
            let fate = fate(Some(plan), hold, early(due), now);
            assert_eq!(fate, want, "{stage:?} {due:?}");
        }
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for status in [BatchStatus::Pause, BatchStatus::Cancel] {
            assert_eq!(BatchStatus::from_word(status.word()), Some(status));
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(json, format!("\"{}\"", status.word()));
        }
        for bad in ["", "Pause", "resume", "cancelled"] {
            assert_eq!(BatchStatus::from_word(bad), None, "{bad}");
        }
    }
}
