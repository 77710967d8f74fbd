//! Whether an account may act, and since when.

use posthaste_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Whether an account may act: disabled by its parent, suspended by the operator or the service, or
/// both. The two are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountStatus {
    #[default]
    Active,
    /// Disabled by its parent: it cannot send, and its keys are rejected.
    Disabled,
    /// Suspended by the operator or the service: the same, and its webhooks report it.
    Suspended,
    /// Both.
    DisabledAndSuspended,
}

impl AccountStatus {
    fn of(disabled: bool, suspended: bool) -> Self {
        match (disabled, suspended) {
            (false, false) => Self::Active,
            (true, false) => Self::Disabled,
            (false, true) => Self::Suspended,
            (true, true) => Self::DisabledAndSuspended,
        }
    }

    /// As the operator reads it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Suspended => "suspended",
            Self::DisabledAndSuspended => "disabled and suspended",
        }
    }

    /// Whether the parent disabled it.
    pub fn is_disabled(self) -> bool {
        matches!(self, Self::Disabled | Self::DisabledAndSuspended)
    }

    /// Whether the operator or the service suspended it.
    pub fn is_suspended(self) -> bool {
        matches!(self, Self::Suspended | Self::DisabledAndSuspended)
    }

    /// The same status with the parent's part changed.
    #[must_use]
    pub fn disabled(self, disabled: bool) -> Self {
        Self::of(disabled, self.is_suspended())
    }

    /// The same status with the operator's part changed.
    #[must_use]
    pub fn suspended(self, suspended: bool) -> Self {
        Self::of(self.is_disabled(), suspended)
    }
}

/// Who suspended an account, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionCause {
    #[default]
    Operator,
    /// The service: too many of its mails went to addresses that do not exist.
    Bounces,
    /// The service: too many recipients reported its mails as spam.
    Complaints,
}

/// When an account was last suspended, or that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspensionChange {
    /// Counts these changes from 1; a repeated report is recognized by its number.
    pub number: u64,
    pub at: Timestamp,
    /// Whether the change was reported to webhooks and to the owner's other systems.
    #[serde(rename = "told")]
    pub reported: bool,
    #[serde(default)]
    pub cause: SuspensionCause,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_takes_back_his_own_word_alone() {
        use AccountStatus::{Active, Disabled, DisabledAndSuspended, Suspended};
        for (before, disabled, after) in [
            (Active, true, Disabled),
            (Suspended, true, DisabledAndSuspended),
            (DisabledAndSuspended, false, Suspended),
            (Suspended, false, Suspended),
        ] {
            assert_eq!(before.disabled(disabled), after, "{before:?} {disabled}");
        }
        for (before, suspended, after) in [
            (Active, true, Suspended),
            (Disabled, true, DisabledAndSuspended),
            (DisabledAndSuspended, false, Disabled),
            (Disabled, false, Disabled),
        ] {
            assert_eq!(before.suspended(suspended), after, "{before:?} {suspended}");
        }
    }
}
