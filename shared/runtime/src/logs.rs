//! Log lines: JSON for CloudWatch, plain text for a terminal.

use tracing_subscriber::EnvFilter;

use crate::Variables;

/// The SDK warns of every answer that is an expected outcome to us (a key that is taken).
const DEFAULT: &str = "info,aws_smithy_runtime=error,aws_smithy_runtime_api=error";

fn filter(vars: &Variables) -> EnvFilter {
    // Lambda's own variable first, so that the level set in the template counts.
    let level = vars
        .get("AWS_LAMBDA_LOG_LEVEL")
        .or_else(|| vars.get("POSTHASTE_LOG"))
        .unwrap_or_else(|| DEFAULT.to_owned());
    EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new(DEFAULT))
}

/// JSON lines, without the time, which CloudWatch adds. A second call changes nothing.
pub fn to_cloudwatch(vars: &Variables) {
    let lines = tracing_subscriber::fmt().json().without_time();
    let _ = lines
        .with_env_filter(filter(vars))
        .with_target(false)
        .with_current_span(false)
        .flatten_event(true)
        .try_init();
}

/// Lines for a person, on standard error. A second call changes nothing.
pub fn to_terminal(vars: &Variables) {
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr);
    let _ = lines
        .with_env_filter(filter(vars))
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .try_init();
}
