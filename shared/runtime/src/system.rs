//! The real clock, randomness and environment.

use std::env::VarError;
use std::time::{SystemTime, UNIX_EPOCH};

use posthaste_model::{Clock, Entropy, Millis};

use crate::Env;

/// The system's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the clock"
)]
pub fn clock() -> Clock {
    Clock::new(|| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    })
}

/// The operating system's random bytes.
pub fn entropy() -> Entropy {
    Entropy::new(|bytes| {
        // A system without randomness cannot create keys or ids; there is no sensible fallback.
        #[expect(clippy::expect_used, reason = "no id or key may ever be predictable")]
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    })
}

/// The process's environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub fn variables() -> Env {
    Env::new(|name| match std::env::var(name) {
        Ok(text) => Some(text),
        Err(VarError::NotPresent) => None,
        // It is set, and the reader says that it cannot be read.
        Err(VarError::NotUnicode(bytes)) => Some(bytes.to_string_lossy().into_owned()),
    })
}
