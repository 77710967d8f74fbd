//! What the binary writes to its terminal. A full disk or a reader that has gone ends it in order.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde_json::json;

/// The exit code of a program that SIGPIPE ended, as a shell reports it. Rust's programs ignore that signal.
const BROKEN_PIPE: u8 = 141;

/// An answer that could not be written.
#[derive(Debug)]
pub(crate) struct Unsaid(io::Error);

impl fmt::Display for Unsaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer cannot be written: {}", self.0)
    }
}

impl std::error::Error for Unsaid {}

impl Unsaid {
    /// The exit code of the process. A reader that has gone has read enough, so nothing is said.
    pub(crate) fn end(&self) -> ExitCode {
        if self.0.kind() == io::ErrorKind::BrokenPipe {
            return ExitCode::from(BROKEN_PIPE);
        }
        complain(&self.to_string());
        ExitCode::FAILURE
    }
}

/// Writes to standard output.
pub(crate) fn say(text: &str) -> Result<(), Unsaid> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    written.map_err(Unsaid)
}

/// Whether errors are lines for people or JSON for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    Text,
    Json,
}

impl ErrorFormat {
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// Writes the one line of a failure; its exit code.
    pub(crate) fn fail(self, error: &str, code: u8) -> ExitCode {
        match self {
            Self::Text => complain(error),
            Self::Json => {
                let error = json!({"error": {"message": error, "exit_code": code}});
                // There is no place left to say that it cannot be said.
                let _ = writeln!(io::stderr(), "{error}");
            }
        }
        ExitCode::from(code)
    }
}

/// A line about the progress of a command.
pub(crate) fn show_progress(line: String) {
    // A command goes on whether or not it is watched.
    let _ = writeln!(io::stderr(), "{line}");
}

/// The one line a person reads when something failed.
pub(crate) fn complain(error: &str) {
    // There is no place left to say that it cannot be said.
    let _ = writeln!(io::stderr(), "posthaste: {error}");
}

/// Help, or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error, format: ErrorFormat) -> ExitCode {
    if format == ErrorFormat::Json && error.use_stderr() {
        let text = error.to_string();
        let what = text.lines().find(|line| !line.trim().is_empty());
        let what = what.unwrap_or_default().trim_start_matches("error: ");
        return format.fail(what, u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(cause) if !error.use_stderr() => Unsaid(cause).end(),
        Ok(()) | Err(_) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    }
}
