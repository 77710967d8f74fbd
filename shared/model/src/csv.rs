//! Texts in files that spreadsheets open.

/// A text as a cell of CSV (RFC 4180): in quotes where it has what CSV or a program that reads it uses, with blanks kept.
///
/// A spreadsheet runs a cell that begins like a formula, and what is in one comes from strangers: an apostrophe before
/// it makes it a text (OWASP, "CSV Injection").
///
/// ```
/// assert_eq!(posthaste_model::csv_cell("plain"), "plain");
/// assert_eq!(posthaste_model::csv_cell("=1+1"), "\"'=1+1\"");
/// ```
pub fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let is_plain = !text.contains(['"', ',', ';', '\t', '\r', '\n', '\'']) && text.trim() == text;
    if is_plain && !is_formula {
        return text.to_owned();
    }
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_is_no_formula() {
        for (text, want) in [
            ("", ""),
            ("plain text", "plain text"),
            ("a=1", "a=1"),
            ("a,b", "\"a,b\""),
            ("a;b", "\"a;b\""),
            (" blank", "\" blank\""),
            ("it's", "\"it's\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""),
        ] {
            assert_eq!(csv_cell(text), want, "{text:?}");
        }
    }
}
