//! Process life: configuration, clock, entropy, logs, and the two Lambda entry points.
//!
//! The only crate that reads the environment, the time and the system's randomness; all of them are
//! passed on as arguments.

mod aws;
mod aws_names;
mod config;
mod gateway_path;
mod held;
mod json_log_layer;
mod lambda;
mod logs;
mod metrics;
mod opened;
mod platform;
mod system;
#[cfg(test)]
mod test_writer;
mod work_error;

pub use config::{ConfigError, Env};
pub use lambda::{Error, http, queue_worker, worker};
pub use logs::{to_cloudwatch, to_terminal};
pub use platform::{LocalServices, Platform, Process};
pub use system::{clock, entropy, variables};
pub use work_error::WorkError;
