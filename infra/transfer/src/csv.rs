//! The CSV beside each file of JSON lines, which has the text as it is: no mark before what looks like a formula.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use posthaste_model::csv_cell;
use serde_json::Value;

use crate::folder::{AccountFolder, Lines};
use crate::part::AccountPart;

/// Writes the CSV files beside those of JSON lines.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn write_all(folder: &AccountFolder) -> io::Result<()> {
    for part in AccountPart::ALL {
        let lines = folder.file(part);
        if lines.is_file() {
            convert(&lines, &lines.with_extension("csv"), part.columns())?;
        }
    }
    Ok(())
}

/// Writes the items of a file of JSON lines as CSV with these columns.
///
/// # Errors
/// When a file cannot be read or written.
fn convert(lines: &Path, csv: &Path, columns: &[&str]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(true).write(true).mode(0o600);
    let mut out = BufWriter::new(options.open(csv)?);
    out.write_all(columns.join(",").as_bytes())?;
    out.write_all(b"\r\n")?;
    for item in Lines::open(lines)? {
        let item = item?;
        let Ok(item) = item.value() else { continue };
        let cells = columns.iter().map(|column| cell(item.get(column)));
        out.write_all(cells.collect::<Vec<_>>().join(",").as_bytes())?;
        out.write_all(b"\r\n")?;
    }
    out.flush()
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => csv_cell(text),
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => csv_cell(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_text_or_number_is_json() {
        for (value, want) in [
            (json!(["a", 1]), "\"[\"\"a\"\",1]\""),
            (json!("=1+1"), "\"'=1+1\""),
            (json!(null), ""),
            (json!(-5), "-5"),
        ] {
            assert_eq!(cell(Some(&value)), want);
        }
    }

    #[test]
    fn lines_become_rows() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, csv) = (folder.path().join("a.jsonl"), folder.path().join("a.csv"));
        std::fs::write(&lines, "{\"b\":2,\"a\":\"x,y\"}\n{\"a\":true}\n").unwrap();
        convert(&lines, &csv, &["a", "b"]).unwrap();
        let text = std::fs::read_to_string(csv).unwrap();
        assert_eq!(text, "a,b\r\n\"x,y\",2\r\ntrue,\r\n");
    }
}
