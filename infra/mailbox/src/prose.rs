//! HTML as text, for mails that have no text of their own.

use mail_parser::decoders::html::html_to_text;

/// Tags after which a line ends. The converter knows only `br` and `p`; newsletters are tables.
const BLOCKS: [&str; 20] = [
    "address",
    "article",
    "blockquote",
    "div",
    "dd",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "section",
    "table",
    "td",
    "th",
    "tr",
];

/// The words of `html`, a line for each block, no two empty lines in a row.
pub(crate) fn from(html: &str) -> String {
    let text = html_to_text(&with_breaks(html));
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        let doubled = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !doubled {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

fn with_breaks(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    let mut parts = html.split('<');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let name = part.strip_prefix('/').unwrap_or(part);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric());
        let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        if BLOCKS.iter().any(|block| block.eq_ignore_ascii_case(name)) {
            out.push_str("<br>");
        }
        out.push('<');
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_lines_and_what_is_not_shown_is_left_out() {
        for (html, want) in [
            ("", ""),
            ("a<br>b", "a\nb"),
            ("<p>a</p><p>b</p>", "a\nb"),
            ("<h1>a</h1><div>b</div>c", "a\n\nb\nc"),
            ("<tr><td>a</td><TD>b</TD></tr>", "a\n\nb"),
            ("<head><style>x{}</style></head><b>a</b>b &amp; c", "ab & c"),
            ("<script>x</script>a < b", "a"),
        ] {
            assert_eq!(from(html), want, "{html}");
        }
    }
}
