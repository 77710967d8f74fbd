//! Process life: configuration, clock, entropy, logs, and the two Lambda entry points.
//!
//! The only crate that reads the environment, the time and the system's randomness; all of them
//! go on as arguments.

mod aws;
mod boot;
mod config;
mod lambda;
mod lines;
mod logs;
mod metrics;
#[cfg(test)]
mod page;
mod system;

pub use boot::Boot;
pub use config::{ConfigError, Variables};
pub use lambda::{Error, http, queue_worker, worker};
pub use logs::{to_cloudwatch, to_terminal};
pub use system::{clock, entropy, variables};
