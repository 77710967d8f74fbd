//! `send_at`: a time within the scheduling horizon.

use posthaste_model::{Timestamp, due};

use super::{JsonPath, ValidationErrors};

/// The current time and the scheduling horizon.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendAt {
    pub(super) now: Timestamp,
    /// In seconds.
    pub(super) horizon: i64,
}

impl SendAt {
    /// A time in the past is valid: the mail is sent at once.
    pub(super) fn check(
        self,
        given: Option<i64>,
        at: &JsonPath<'_>,
        found: &mut ValidationErrors,
    ) -> Option<Timestamp> {
        let send_at = given.map(Timestamp);
        if due(send_at, self.now, self.horizon).is_err() {
            let hours = self.horizon / 3600;
            found.push_error(
                &at.key("send_at"),
                format!("Scheduling more than {hours} hours in advance is forbidden."),
            );
        }
        send_at
    }
}
