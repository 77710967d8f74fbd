//! Log lines: JSON for CloudWatch, plain text for a terminal.

use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::Variables;
use crate::lines::Lines;
use crate::metrics::{Embedded, TARGET};

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

/// JSON lines, and the figures, whatever the level of the rest. A second call changes nothing.
pub fn to_cloudwatch(vars: &Variables) {
    let lines = Lines {
        writer: std::io::stdout,
    };
    let lines = lines
        .with_filter(filter(vars))
        .with_filter(filter_fn(|event| event.target() != TARGET));
    let figures = Embedded {
        stack: vars
            .get("STACK_NAME")
            .unwrap_or_else(|| "posthaste".to_owned()),
        clock: crate::clock(),
        writer: std::io::stdout,
    };
    let figures = figures
        .with_filter(LevelFilter::INFO)
        .with_filter(filter_fn(|event| event.target() == TARGET));
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(figures)
        .try_init();
}

/// Lines for a person, on standard error. A second call changes nothing.
pub fn to_terminal(vars: &Variables) {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = lines
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .with_filter(filter(vars))
        .with_filter(filter_fn(|event| event.target() != TARGET));
    let _ = tracing_subscriber::registry().with(lines).try_init();
}
