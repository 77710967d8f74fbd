//! Log lines: JSON for CloudWatch, plain text for a terminal.

use posthaste_metrics::TARGET;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::json_log_layer::JsonLogLayer;
use crate::metrics::Embedded;
use crate::{ConfigError, Env};

/// The SDK warns of every answer, also of those that are expected outcomes (a key that is taken), and of each place
/// without a region or credentials that it looks at; the error of the call says what is missing.
const QUIET: &str = "aws_smithy_runtime=error,aws_smithy_runtime_api=error,aws_config=error";

/// Not Lambda's own `AWS_LAMBDA_LOG_LEVEL`: Lambda drops lines below that level, and metrics have
/// none.
const VARIABLE: &str = "POSTHASTE_LOG";

/// What programs in Rust read by custom; only a terminal follows it, and only without the variable above.
const CUSTOMARY: &str = "RUST_LOG";

/// Levels: `debug`, or by crate name, `info,hyper=warn`; those of the first variable that is set.
fn filter(vars: &Env, names: &[&str], default: &str) -> Result<Targets, ConfigError> {
    let given = names.iter().find_map(|name| Some((*name, vars.get(name)?)));
    let (name, levels) = given.unwrap_or((VARIABLE, default.to_owned()));
    let unreadable = || {
        let form = "it is a level (error, warn, info, debug, trace or off), or levels by crate, as \
            in info,hyper=warn";
        ConfigError::Unreadable(name.to_owned(), form.to_owned())
    };
    let levels: Vec<&str> = levels.split(',').map(str::trim).collect();
    if !levels.iter().all(|text| is_directive(text)) {
        return Err(unreadable());
    }
    let all = format!("{QUIET},{}", levels.join(","));
    all.parse().map_err(|_| unreadable())
}

/// Whether a text is a level, or a crate's name and one. `Targets` by itself takes any word for the
/// name of a crate, and no word for one without a name.
fn is_directive(text: &str) -> bool {
    let named = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':');
    let level = match text.split_once('=') {
        None => text,
        Some((name, level)) if !name.is_empty() && name.bytes().all(named) => level,
        Some(_) => return false,
    };
    !level.is_empty() && level.parse::<LevelFilter>().is_ok()
}

/// JSON lines, and the metrics, whatever the level of the rest. A second call is a no-op.
pub fn to_cloudwatch(vars: &Env) -> Result<(), ConfigError> {
    let lines = JsonLogLayer {
        writer: std::io::stdout,
    };
    let lines = lines
        .with_filter(filter(vars, &[VARIABLE], "info")?)
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
    Ok(())
}

/// Lines for a person, on standard error, of the level `default` where no variable names another. A second call is
/// a no-op.
pub fn to_terminal(vars: &Env, default: &str) -> Result<(), ConfigError> {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = lines
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        // Otherwise a line that cannot be written ends in a panic, because it is reported on the same
        // standard error.
        .log_internal_errors(false)
        .with_filter(filter(vars, &[VARIABLE, CUSTOMARY], default)?)
        .with_filter(filter_fn(|event| event.target() != TARGET));
    let _ = tracing_subscriber::registry().with(lines).try_init();
    Ok(())
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn read(text: &'static str) -> Result<Targets, ConfigError> {
        let vars = Env::new(move |name| (name == VARIABLE).then(|| text.to_owned()));
        filter(&vars, &[VARIABLE], "info")
    }

    fn levels(text: &'static str) -> Targets {
        read(text).unwrap()
    }

    #[test]
    fn the_own_variable_comes_before_the_customary_one_and_both_before_the_default() {
        for (own, customary, want) in [
            (None, None, Level::WARN),
            (None, Some("debug"), Level::DEBUG),
            (Some("error"), Some("debug"), Level::ERROR),
        ] {
            let vars = Env::new(move |name| {
                let value = if name == VARIABLE { own } else { customary };
                value.map(str::to_owned)
            });
            let levels = filter(&vars, &[VARIABLE, CUSTOMARY], "warn").unwrap();
            for level in [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG] {
                let is_shown = levels.would_enable("mail_send", &level);
                assert_eq!(is_shown, level <= want, "{own:?} {customary:?} {level}");
            }
        }
    }

    #[test]
    fn a_level_is_for_all_but_the_sdk_unless_it_is_named() {
        let debug = levels("debug");
        assert!(debug.would_enable("mail_send", &Level::DEBUG));
        assert!(!debug.would_enable("mail_send", &Level::TRACE));
        for noisy in ["aws_smithy_runtime::client", "aws_config::imds::region"] {
            assert!(!debug.would_enable(noisy, &Level::WARN), "{noisy}");
        }
        let named = levels("warn,aws_smithy_runtime=debug");
        assert!(!named.would_enable("mail_send", &Level::INFO));
        assert!(named.would_enable("aws_smithy_runtime::client", &Level::DEBUG));
    }

    #[test]
    fn without_a_level_it_is_info() {
        let levels = levels("");
        assert!(levels.would_enable("mail_send", &Level::INFO));
        assert!(!levels.would_enable("mail_send", &Level::DEBUG));
    }

    #[test]
    fn what_is_no_level_stops_the_start() {
        for text in [
            "loud",
            "mail_send=loud",
            "info,,",
            ",",
            "foo=bar=baz",
            "=x",
            "=info",
            "mail_send=",
            "info debug",
            " ",
        ] {
            let why = read(text).unwrap_err().to_string();
            assert!(why.contains("POSTHASTE_LOG"), "{text}: {why}");
            assert!(!why.contains('\n'), "{text}: {why}");
        }
        for text in ["OFF", "info, hyper=warn", "posthaste::serve=trace,warn"] {
            assert!(read(text).is_ok(), "{text}");
        }
    }
}
