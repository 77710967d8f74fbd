//! The result of a command, for people and for programs, or why it failed.

use posthaste_mailer::SesError;
use posthaste_queue::QueueError;
use posthaste_store::StoreError;
use serde_json::Value;

/// An answer in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// For people: lines, without a line end after the last one.
    pub text: String,
    /// For programs (`--json`).
    pub json: Value,
}

impl Report {
    /// An answer in both forms.
    pub(crate) fn new(text: impl Into<String>, json: Value) -> Self {
        Self {
            text: text.into(),
            json,
        }
    }

    /// A table with a head, its columns as wide as they must be.
    pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
        let width = |i: usize| {
            let cells = rows.iter().filter_map(|row| row.get(i));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.max(head.get(i).map_or(0, |title| title.chars().count()))
        };
        let widths: Vec<_> = (0..N).map(width).collect();
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().zip(&widths);
            let padded: Vec<_> = padded
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        let mut lines = vec![line(head.to_vec())];
        lines.extend(
            rows.iter()
                .map(|row| line(row.iter().map(String::as_str).collect())),
        );
        lines.join("\n")
    }

    /// The answer in the form asked for.
    pub fn print(&self, json: bool) -> String {
        if json {
            self.json.to_string()
        } else {
            self.text.clone()
        }
    }
}

/// Why a command failed: one line for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// What was given is not what the command takes.
    #[error("{0}")]
    Usage(String),
    /// Nothing of this name is there.
    #[error("{0}")]
    NotFound(String),
    /// It cannot be done in the present state.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Ses(#[from] SesError),
    #[error("the notice of it was not sent, run it again: {0}")]
    NoticeNotSent(String),
    #[error("not everything was erased, run it again: {0}")]
    Unerased(String),
}

impl CommandError {
    /// The exit code: 1 when table, queue or SES failed, 2 for a wrong command line, 3 when nothing of
    /// the name is there, 4 when it cannot be done in the present state.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Store(_)
            | Self::Queue(_)
            | Self::Ses(_)
            | Self::NoticeNotSent(_)
            | Self::Unerased(_) => 1,
            Self::Usage(_) => 2,
            Self::NotFound(_) => 3,
            Self::Refused(_) => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let rows = [["a", "é"], ["long", ""]].map(|row| row.map(str::to_owned));
        let text = Report::table(["ID", "NAME"], &rows);
        assert_eq!(text, "ID    NAME\na     é\nlong");
    }
}
