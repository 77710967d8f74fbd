//! The result of a command, for people and for programs.

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
