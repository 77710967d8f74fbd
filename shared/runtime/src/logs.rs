//! Log lines: JSON for CloudWatch, plain text for a terminal.

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::Env;
use crate::json_log_layer::JsonLogLayer;
use crate::metrics::{Embedded, TARGET};

/// The SDK warns of every answer, also of those that are expected outcomes (a key that is taken).
const QUIET: &str = "aws_smithy_runtime=error,aws_smithy_runtime_api=error";

/// Levels: `debug`, or by crate name, `info,hyper=warn`. Unreadable text counts as `info`.
fn filter(vars: &Env) -> Targets {
    // Not Lambda's own AWS_LAMBDA_LOG_LEVEL: Lambda drops lines below that level, and metrics have
    // none.
    let level = vars.get("POSTHASTE_LOG");
    let all = |level: &str| format!("{QUIET},{level}").parse();
    let level = level.and_then(|level| all(&level).ok());
    level.unwrap_or_else(|| all("info").unwrap_or_default())
}

/// JSON lines, and the metrics, whatever the level of the rest. A second call is a no-op.
pub fn to_cloudwatch(vars: &Env) {
    let lines = JsonLogLayer {
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

/// Lines for a person, on standard error. A second call is a no-op.
pub fn to_terminal(vars: &Env) {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = lines
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .with_filter(filter(vars))
        .with_filter(filter_fn(|event| event.target() != TARGET));
    let _ = tracing_subscriber::registry().with(lines).try_init();
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn levels(text: &'static str) -> Targets {
        filter(&Env::new(move |name| {
            (name == "POSTHASTE_LOG").then(|| text.to_owned())
        }))
    }

    #[test]
    fn a_level_is_for_all_but_the_sdk_unless_it_is_named() {
        let debug = levels("debug");
        assert!(debug.would_enable("mail_send", &Level::DEBUG));
        assert!(!debug.would_enable("mail_send", &Level::TRACE));
        assert!(!debug.would_enable("aws_smithy_runtime::client", &Level::WARN));
        let named = levels("warn,aws_smithy_runtime=debug");
        assert!(!named.would_enable("mail_send", &Level::INFO));
        assert!(named.would_enable("aws_smithy_runtime::client", &Level::DEBUG));
    }

    #[test]
    fn what_is_no_level_is_info() {
        for text in ["", "mail_send=loud"] {
            let levels = levels(text);
            assert!(levels.would_enable("mail_send", &Level::INFO), "{text}");
            assert!(!levels.would_enable("mail_send", &Level::DEBUG), "{text}");
        }
    }
}
