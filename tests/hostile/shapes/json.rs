//! JSON that is deep, wide, or does not end. `KEY` stands for a key that the reader looks at.

use super::{Shape, count, fill, made, run};

/// JSON of every shape.
pub(crate) fn json() -> Vec<Shape> {
    vec![
        run("lists in lists", "", "[", ""),
        run("objects in objects", "", "{\"KEY\":", ""),
        run("lists in lists of a key", "{\"KEY\":", "[", ""),
        run("objects in lists of a key", "{\"KEY\":", "[{\"a\":", ""),
        made("a depth that just fits", |size| {
            let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
            format!(
                "{{\"KEY\":[{}0]}}",
                fill(&format!("{deep},"), size.saturating_sub(32))
            )
        }),
        run("a key again and again", "{", "\"KEY\":\"\",", "\"a\":0}"),
        run("lists of a key", "{", "\"KEY\":[[]],", "\"a\":0}"),
        run("objects of a key", "{\"KEY\":[", "{},", "{}]}"),
        run("texts of a key", "{\"KEY\":[", "\"a\",", "\"a\"]}"),
        run("numbers of a key", "{\"KEY\":[", "1,", "1]}"),
        run("nothing of a key", "{\"KEY\":[", "null,", "null]}"),
        run("a long number", "{\"KEY\":", "1", "}"),
        run("a long fraction", "{\"KEY\":1.", "0", "e9}"),
        run("escapes of a text", "{\"KEY\":\"", "\\u00e9\\n", "\"}"),
        run("a text that does not end", "{\"KEY\":\"", "\\\\", ""),
        run("blanks", "", " ", "{}"),
        run("a long key", "{\"", "a", "\":1}"),
        made("keys of a key", |size| {
            let keys = count(size.saturating_sub(64), |n| format!("\"k{n}\":\"v\","));
            format!("{{\"KEY\":{{{keys}\"k\":\"v\"}}}}")
        }),
        made("keys", |size| {
            let keys = count(size.saturating_sub(64), |n| format!("\"k{n}\":\"v\","));
            format!("{{{keys}\"k\":\"v\"}}")
        }),
        made("overlapping keys of a key", |size| {
            let keys = count(size.saturating_sub(64), |n| {
                format!("\"{}\":\"a\",", "a".repeat(n % 500 + 1))
            });
            format!("{{\"KEY\":{{{keys}\"k\":\"v\"}}}}")
        }),
    ]
}
