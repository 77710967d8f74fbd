//! Refusals by chance on the submission ports, so that a program can be tested with a server that refuses it now and
//! then. Triggers are named, and answered, as Mailpit's are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_model::Entropy;
use serde::Serialize;

/// The step of an SMTP session that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChaosStep {
    /// MAIL FROM.
    Sender,
    /// RCPT TO.
    Recipient,
    /// AUTH.
    Authentication,
}

/// How often a step is refused, and with which code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Trigger {
    pub error_code: u16,
    /// In percent.
    pub probability: u8,
}

/// The trigger of each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Triggers {
    pub sender: Trigger,
    pub recipient: Trigger,
    pub authentication: Trigger,
}

impl Default for Triggers {
    /// No step is refused.
    fn default() -> Self {
        let never = |error_code| Trigger {
            error_code,
            probability: 0,
        };
        Self {
            sender: never(451),
            recipient: never(451),
            authentication: never(535),
        }
    }
}

/// The triggers of a host. Clones share them.
#[derive(Clone)]
pub struct Chaos {
    triggers: Arc<Mutex<Triggers>>,
    entropy: Entropy,
}

impl Chaos {
    /// No step is refused until the REST calls say so.
    pub fn new(entropy: Entropy) -> Self {
        Self {
            triggers: Arc::default(),
            entropy,
        }
    }

    /// The code that this step is refused with, if chance has it refused this time: 400 to 599.
    pub fn code(&self, step: ChaosStep) -> Option<u16> {
        let triggers = self.triggers();
        let trigger = match step {
            ChaosStep::Sender => triggers.sender,
            ChaosStep::Recipient => triggers.recipient,
            ChaosStep::Authentication => triggers.authentication,
        };
        let strikes = match trigger.probability {
            0 => false,
            probability => self.entropy.below(100) < u64::from(probability),
        };
        strikes.then_some(trigger.error_code)
    }

    pub(crate) fn triggers(&self) -> Triggers {
        *self.lock()
    }

    pub(crate) fn set(&self, triggers: Triggers) {
        *self.lock() = triggers;
    }

    fn lock(&self) -> MutexGuard<'_, Triggers> {
        self.triggers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_refused_as_often_as_its_probability_says() {
        let chaos = Chaos::new(Entropy::seeded(7));
        let set = |probability| {
            let trigger = Trigger {
                error_code: 452,
                probability,
            };
            chaos.triggers.lock().unwrap().recipient = trigger;
        };
        for (probability, low, high) in [(0, 0, 0), (25, 200, 300), (100, 1_000, 1_000)] {
            set(probability);
            let codes: Vec<_> = (0..1_000)
                .filter_map(|_| chaos.code(ChaosStep::Recipient))
                .collect();
            assert!((low..=high).contains(&codes.len()), "{}", codes.len());
            assert!(codes.iter().all(|code| *code == 452));
            assert_eq!(chaos.code(ChaosStep::Sender), None);
        }
    }
}
