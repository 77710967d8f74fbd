//! The input of the rule, and its entry point.

use posthaste_runtime::Error;
use serde::Deserialize;
use serde_json::Value;

use crate::{App, Swept, sweep};

/// Which partitions of every minute a call sweeps: those whose number leaves `part` when divided
/// by `of`.
///
/// One call for all of them is enough up to some thousand rows a second; beyond that the rule gets
/// several targets, each with its own `{"part": 0, "of": 4}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Share {
    pub part: u16,
    pub of: u16,
}

impl Share {
    /// Everything.
    pub const ALL: Self = Self { part: 0, of: 1 };

    /// Reads the input of the rule's target; the rule's own event selects everything.
    ///
    /// # Errors
    /// When it names a part that is not one.
    pub fn from_event(event: &Value) -> Result<Self, Error> {
        if event.get("part").is_none() {
            return Ok(Self::ALL);
        }
        let share = Self::deserialize(event)?;
        if share.part < share.of {
            Ok(share)
        } else {
            Err(format!("there is no part {} of {}", share.part, share.of).into())
        }
    }

    pub(crate) fn holds(self, shard: u16) -> bool {
        shard % self.of.max(1) == self.part
    }
}

/// Handles one call of the rule.
///
/// # Errors
/// If a row could not be moved. All others were moved, and Lambda's own retry, or the next call,
/// moves the rest.
pub async fn handle(app: &App, event: Value) -> Result<Swept, Error> {
    let swept = sweep(app, Share::from_event(&event)?).await?;
    match swept.failed {
        0 => Ok(swept),
        failed => Err(format!("{failed} reads of due rows failed").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_rules_own_event_means_everything() {
        let event = json!({"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}});
        assert_eq!(Share::from_event(&event).unwrap(), Share::ALL);
    }

    #[test]
    fn the_parts_of_a_share_make_a_whole() {
        for of in [1, 3, 4] {
            let parts = (0..of).map(|part| Share::from_event(&json!({"part": part, "of": of})));
            let parts: Vec<_> = parts.map(Result::unwrap).collect();
            for shard in 0..16 {
                let holding = parts.iter().filter(|share| share.holds(shard)).count();
                assert_eq!(holding, 1, "shard {shard} of {of}");
            }
        }
    }

    #[test]
    fn a_part_that_is_not_one_is_refused() {
        for bad in [
            json!({"part": 4, "of": 4}),
            json!({"part": 0, "of": 0}),
            json!({"part": -1, "of": 4}),
            json!({"part": 0}),
            json!({"part": "0", "of": 4}),
        ] {
            assert!(Share::from_event(&bad).is_err(), "{bad}");
        }
    }
}
